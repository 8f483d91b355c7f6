package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/daemon"
	"feedex/node"
	"feedex/settings"
)

func newNode() *cobra.Command {
	c := &cobra.Command{
		Use:        "node",
		SuggestFor: []string{"start", "run"},
		Short:      "Run a node",
		Long: `Run a node until it is interrupted. It polls the feeds it follows, exchanges their entries with its
neighbors, and keeps everything in its data directory; 'feedex subscribe' adds feeds while it runs.
A second interrupt ends it at once, which loses nothing that was shown or acknowledged.

Open http://127.0.0.1:7791/ in a browser to see what it does, to read and search, and to follow feeds. Where the
reader address is not a loopback address, and for who comes by a web server in front of it, that wants a password, see
'feedex password --help'.

Point a feed reader at http://127.0.0.1:7791/feed/ followed by a feed's URL to read a feed as Atom: the latest 200
entries that the node has, and by its prev-archive links all the others. /feeds/ followed by a feed's number and
.atom, .rss or .json is the same, /all.atom all feeds in one. Or let the reader use that address as its HTTP proxy,
with http:// in front of the feeds' addresses. http://127.0.0.1:7791/archive?q= followed by words, as 'feedex query'
takes them, searches all feeds; feed, title, since, until, limit (up to 200), order=relevance and format=json or
format=atom may follow. Feeds whose URL is a secret are left out there, unless feed names them. In the JSON summary
and content are HTML as published, scripts and all, as 'feedex query --json' has them: who shows them in a browser
sanitizes them. In Atom they are sanitized.`,
		Example: `  feedex node --tracker http://tracker.example.net:7788/ --subscribe https://example.com/feed.xml
  feedex node --data /srv/feedex --listen :7790 --peer node.example.net:7790 --poll 1h`,
	}
	return program(c, settings.Node, runNode)
}

// program is a command that runs with the settings of a role until it is interrupted.
func program(c *cobra.Command, role settings.Role,
	run func(ctx context.Context, s *settings.Settings, log *slog.Logger) error) *cobra.Command {
	c.Args, c.Annotations = noArgs, map[string]string{helpEnd: settings.Precedence(role)}
	settings.Bind(c.Flags(), role)
	for flag, words := range map[string][]string{
		"log-level": {"debug", "info", "warn", "error"}, "log-format": {"text", "json"},
	} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := settings.Load(c.Flags(), role)
		if err != nil {
			return err
		}
		least, format := s.Log()
		log := newLogger(c.ErrOrStderr(), least, format)
		defer context.AfterFunc(c.Context(), tellSystemdStopping)()
		if err := run(c.Context(), s, log); err != nil {
			return err
		}
		log.Info(c.Name() + " stopped")
		return nil
	}
	return c
}

func runNode(ctx context.Context, s *settings.Settings, log *slog.Logger) error {
	cfg, err := s.Node()
	if err != nil {
		return err
	}
	cfg.Log = log
	cfg.Ready = func(at daemon.Addresses) {
		log.Info("node serves", "listen", at.Listen, "reader", readerURL(at.Reader), "data", cfg.Data)
		switch use := cfg.UsesDHT(); {
		case use == control.DHTAsk:
			log.Info("may the node find neighbors by BitTorrent's DHT, which tells whoever looks there that this " +
				"address runs feedex? It does not until you answer, here or in a browser: " +
				"feedex dht on, or feedex dht off")
		case use == control.DHTOff && len(cfg.Node.Trackers)+len(cfg.Node.Peers) == 0:
			log.Info("node reads alone until it is given a tracker or a peer, see 'feedex node --help'")
		}
		tellSystemd(log, fmt.Sprintf("serving nodes at %s, feed readers at %s", at.Listen, at.Reader))
	}
	cfg.Open = openDatabase
	turned, stop := watch(log)
	defer stop()
	cfg.Turned = turned
	if err = daemon.Run(ctx, cfg); errors.Is(err, node.ErrConfig) || errors.Is(err, daemon.ErrPasswordFile) {
		return settings.UsageError{Err: err}
	}
	return err
}

// readerURL is where a browser on this machine finds what listens at addr.
func readerURL(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip, ipErr := netip.ParseAddr(host); err == nil && ipErr == nil && ip.IsUnspecified() {
		addr = net.JoinHostPort("127.0.0.1", port)
	}
	return "http://" + addr + "/"
}
