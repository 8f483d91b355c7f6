package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/spf13/cobra"

	"feedex/daemon"
	"feedex/incentive"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

func newNode() *cobra.Command {
	s := defaultSettings()
	c := &cobra.Command{
		Use:   "node",
		Short: "Run a node",
		Long: `Run a node until it is interrupted. It polls the feeds it follows, exchanges their entries with its
neighbors, and keeps everything in its data directory; 'feedex subscribe' adds feeds while it runs.
A second interrupt ends it at once, which loses nothing that was shown or acknowledged.

Open http://127.0.0.1:7791/ in a browser to see what it does, to read and search, and to follow feeds. Where the
reader address is not a loopback address, and for who comes by a web server in front of it, that wants a password, see
'feedex password --help'.

Point a feed reader at http://127.0.0.1:7791/feed/ followed by a feed's URL to read a feed as Atom: the latest
200 entries that the node has, and by its prev-archive links all the others. /feeds/ followed by a feed's number
and .atom, .rss or .json is the same, /all.atom all feeds in one. Or let the reader use that address as its HTTP
proxy, with http:// in front of the feeds' addresses. http://127.0.0.1:7791/archive?q= followed by words, as 'feedex query' takes them, searches all
feeds; feed, title, since, until, limit (up to 200), order=relevance and format=json or format=atom may
follow. Feeds whose URL is a secret are left out there, unless feed names them. In the JSON summary and content are
HTML as published, scripts and all, as 'feedex query --json' has them: who shows them in a browser sanitizes them. In
Atom they are sanitized.`,
		Example: `  feedex node --tracker http://tracker.example.net:7788/ --subscribe https://example.com/feed.xml
  feedex node --data /srv/feedex --listen :7790 --peer node.example.net:7790 --poll 1h`,
		Args: noArgs,
		RunE: runNode,
	}
	c.Annotations = map[string]string{helpEnd: precedence(bindNode, true)}
	bindNode(c.Flags(), &s)
	completeSettings(c)
	return c
}

func runNode(c *cobra.Command, _ []string) error {
	s, err := load(c.Flags(), bindNode, defaultSettings())
	if err != nil {
		return err
	}
	cfg, err := s.node()
	if err != nil {
		return err
	}
	log := newLogger(c.ErrOrStderr(), s.LogLevel, s.LogFormat)
	cfg.Log = log
	cfg.Ready = func(at daemon.Addresses) {
		log.Info("node serves", "listen", at.Listen, "reader", readerURL(at.Reader), "data", cfg.Data)
		if len(s.Tracker)+len(s.Peer) == 0 {
			log.Info("node reads alone until it is given a tracker or a peer, see 'feedex node --help'")
		}
		tellSystemd(log, fmt.Sprintf("serving nodes at %s, feed readers at %s", at.Listen, at.Reader))
	}
	defer context.AfterFunc(c.Context(), tellSystemdStopping)()
	cfg.Open = openDatabase
	err = daemon.Run(c.Context(), cfg)
	switch {
	case errors.Is(err, node.ErrConfig):
		return usageError{err}
	case err == nil:
		log.Info("node stopped")
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

// node is what the settings mean to the daemon.
func (s *settings) node() (daemon.Config, error) {
	data, err := s.dataOr(nodeData)
	if err != nil {
		return daemon.Config{}, err
	}
	_, port, _ := net.SplitHostPort(string(s.Listen)) // the rule has checked it
	if n, _ := strconv.Atoi(port); n > 0 && n < protocol.LowestPort {
		return daemon.Config{},
			usageError{fmt.Errorf("listen for neighbors at %s: no node calls ports below %d; choose another address "+
				"with --listen",
				s.Listen, protocol.LowestPort)}
	}
	if err := s.checkRanges(); err != nil {
		return daemon.Config{}, s.outOfRange(err)
	}
	plain, others := wishes(s.Subscribe)
	return daemon.Config{
		Data:           data,
		Listen:         string(s.Listen),
		Reader:         string(s.Reader),
		ReaderHosts:    s.readerHosts(),
		PushTo:         texts(s.ReaderPush),
		Proxy:          daemon.ReaderProxy(s.ReaderProxy),
		ProxyPass:      s.ReaderPass,
		TrustedProxies: prefixes(s.TrustedProxy),
		Subscribe:      plain,
		Wishes:         others,
		About:          string(s.About),
		Retention:      s.retention(),
		Reserve:        daemon.ReserveBytes,
		Node: node.Config{
			Trackers:       texts(s.Tracker),
			Peers:          texts(s.Peer),
			AllowLocal:     s.AllowPrivate,
			PrivateHosts:   texts(s.PrivateHost),
			MaxNeighbors:   s.MaxNeighbors,
			MinNeighbors:   min(s.MinNeighbors, s.MaxNeighbors),
			MaxSubsetHops:  s.MaxSubsetHops,
			AdvertInterval: duration(s.AdvertInterval),
			CoverFeeds:     s.CoverFeeds,
			SeenDIDs:       s.SeenDIDs,
			Backfill:       reach(s.Backfill),
			QueryNetwork:   node.QueryNetwork(s.Query.Network),
			Incentive:      s.incentive(),
			Policy:         s.policy(),
			Polling:        s.polling(),
		},
	}, nil
}

// readerHosts are the names under which feed readers reach the node. One that it listens at is among them.
func (s *settings) readerHosts() []string {
	names := texts(s.ReaderHost)
	if name, _, _ := net.SplitHostPort(string(s.Reader)); name != "" && !isAddr(name) {
		names = append(names, name)
	}
	return names
}

// incentive is what a neighbor may owe, and what is given away. In the file 0 is no bound, and no gifts; machines of
// the owner's own network are not held to one.
func (s *settings) incentive() incentive.Config {
	c := incentive.Config{Bound: s.DeficitBound, TrustLocal: s.AllowPrivate, Gifts: int64(s.GiveTotal),
		Gift: int64(s.GiveAddress)}
	if c.Bound == 0 {
		c.Bound = -1
	}
	if s.GiveTotal == 0 {
		c.Gifts = -1
	}
	if s.GiveAddress == 0 {
		c.Gift = -1
	}
	return c
}

// policy is when feeds are polled that have no policy of their own.
func (s *settings) policy() polling.Policy {
	if s.Poll != "" {
		return polling.Fixed{Every: duration(s.Poll)}
	}
	p, err := s.polling().Policy(string(s.Polling.Policy))
	if err != nil {
		return nil // the settings were checked before
	}
	return p
}

// polling is what all policies go by.
func (s *settings) polling() polling.Settings {
	p := &s.Polling
	set := polling.Settings{
		Range: polling.Range{Min: duration(p.Min), Max: duration(p.Max)}, Every: duration(p.Interval),
		TargetFreshness: p.TargetFreshness, TargetDelay: duration(p.TargetDelay), Start: duration(p.Start),
	}
	if p.Start == defaultSettings().Polling.Start {
		set.Start = 0 // which moves with the bounds
	}
	return set
}

// completeSettings offers completions for the values of flags.
func completeSettings(c *cobra.Command) {
	for flag, words := range map[string][]string{
		"log-level": {"debug", "info", "warn", "error"}, "log-format": {"text", "json"},
	} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
}
