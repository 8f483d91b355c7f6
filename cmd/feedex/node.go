package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
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

Point a feed reader at http://127.0.0.1:7791/feed/ followed by a feed's URL to read all of a feed that
the node has.`,
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
		log.Info("node serves", "listen", at.Listen, "reader", at.Reader, "data", cfg.Data)
		tellSystemd(log, fmt.Sprintf("serving nodes at %s, feed readers at %s", at.Listen, at.Reader))
	}
	defer context.AfterFunc(c.Context(), tellSystemdStopping)()
	err = daemon.Run(c.Context(), cfg)
	if errors.Is(err, node.ErrConfig) {
		return s.outOfRange(err)
	}
	return err
}

// node is what the settings mean to the daemon.
func (s *settings) node() (daemon.Config, error) {
	data, err := s.dataOr("feedex")
	if err != nil {
		return daemon.Config{}, err
	}
	_, port, _ := net.SplitHostPort(string(s.Listen)) // the rule has checked it
	if n, _ := strconv.Atoi(port); n > 0 && n < protocol.LowestPort {
		return daemon.Config{}, usageError{fmt.Errorf("listen for neighbors at %s: no node calls ports below %d; choose another address with --listen",
			s.Listen, protocol.LowestPort)}
	}
	policy, err := s.policy()
	if err != nil {
		return daemon.Config{}, s.outOfRange(err)
	}
	if s.DeficitBound < 0 || s.DeficitBound > 1000 {
		return daemon.Config{}, s.outOfRange(fmt.Errorf("setting out of range: deficit_bound is %d, want 1 to 1000, or 0 for no bound", s.DeficitBound))
	}
	return daemon.Config{
		Data:           data,
		Listen:         string(s.Listen),
		Reader:         string(s.Reader),
		ReaderHosts:    s.readerHosts(),
		TrustedProxies: prefixes(s.TrustedProxy),
		Subscribe:      feedURLs(s.Subscribe),
		Node: node.Config{
			Trackers:       texts(s.Tracker),
			Peers:          texts(s.Peer),
			AllowLocal:     s.AllowPrivate,
			PrivateHosts:   texts(s.PrivateHost),
			MaxNeighbors:   s.MaxNeighbors,
			MinNeighbors:   min(s.MinNeighbors, s.MaxNeighbors),
			MaxSubsetHops:  s.MaxSubsetHops,
			AdvertInterval: duration(s.AdvertInterval),
			SeenDIDs:       s.SeenDIDs,
			Incentive:      s.incentive(),
			Policy:         policy,
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

// incentive is what a neighbor may owe. In the file 0 is no bound; machines of the owner's own network are
// not held to one.
func (s *settings) incentive() incentive.Config {
	c := incentive.Config{Bound: s.DeficitBound, TrustLocal: s.AllowPrivate}
	if c.Bound == 0 {
		c.Bound = -1
	}
	return c
}

// policy is when feeds are polled. The error says what is out of range.
func (s *settings) policy() (polling.Policy, error) {
	p := &s.Polling
	if s.Poll != "" || p.Policy == "fixed" {
		fixed := polling.Fixed{Every: duration(cmp.Or(s.Poll, p.Interval))}
		return fixed, fixed.Validate()
	}
	adaptive := polling.FeedEx{
		TargetFreshness: p.TargetFreshness, Min: duration(p.Min), Max: duration(p.Max), Start: duration(p.Start),
	}
	if p.Start == defaultSettings().Polling.Start {
		adaptive.Start = 0 // which moves with the bounds
	}
	return adaptive, adaptive.Validate()
}

// outOfRange makes an error about a setting a usage error that says where the config file sets it.
func (s *settings) outOfRange(err error) error {
	data, readErr := os.ReadFile(s.Config)
	if readErr != nil {
		return usageError{err}
	}
	for _, place := range []struct {
		says string
		key  toml.Key
	}{
		{"max_neighbors", toml.Key{"max_neighbors"}},
		{"min_neighbors", toml.Key{"min_neighbors"}},
		{"max_subset_hops", toml.Key{"max_subset_hops"}},
		{"advert_interval", toml.Key{"advert_interval"}},
		{"seen_dids", toml.Key{"seen_dids"}},
		{"deficit_bound", toml.Key{"deficit_bound"}},
		{"target freshness", toml.Key{"polling", "target_freshness"}},
		{"shortest interval", toml.Key{"polling", "min"}},
		{"longest interval", toml.Key{"polling", "max"}},
		{"first interval", toml.Key{"polling", "start"}},
		{"interval", toml.Key{"polling", "interval"}},
	} {
		if strings.Contains(err.Error(), ": "+place.says+" is ") {
			line, column := position(data, place.key)
			return usageError{fmt.Errorf("%s:%d:%d: %w", s.Config, line, column, err)}
		}
	}
	return usageError{err}
}

// completeSettings offers completions for the values of flags.
func completeSettings(c *cobra.Command) {
	for flag, words := range map[string][]string{
		"log-level": {"debug", "info", "warn", "error"}, "log-format": {"text", "json"},
	} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	_ = c.MarkFlagDirname("data")
}
