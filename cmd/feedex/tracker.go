package main

import (
	"context"

	"github.com/spf13/cobra"

	"feedex/daemon"
)

func newTracker() *cobra.Command {
	c := &cobra.Command{
		Use:   "tracker",
		Short: "Run a tracker, by which nodes find each other",
		Long: `Run a tracker until it is interrupted. It keeps a list of the nodes that lately asked it and that it could
call back, and gives each asker some of the others at random. It learns neither feeds nor entries.
The list survives a restart. A status page is at /, Prometheus metrics are at /metrics.`,
		Example: "  feedex tracker --listen :7788 --data /srv/tracker",
		Args:    noArgs,
		RunE:    runTracker,
	}
	c.Annotations = map[string]string{helpEnd: precedence(bindTracker, false)}
	s := trackerDefaults()
	bindTracker(c.Flags(), &s)
	completeSettings(c)
	return c
}

// trackerDefaults are the settings of a tracker whose owner chose none.
func trackerDefaults() settings {
	s := defaultSettings()
	s.Listen = ":7788"
	return s
}

func runTracker(c *cobra.Command, _ []string) error {
	s, err := load(c.Flags(), bindTracker, trackerDefaults())
	if err != nil {
		return err
	}
	data, err := s.dataOr(trackerData)
	if err != nil {
		return err
	}
	log := newLogger(c.ErrOrStderr(), s.LogLevel, s.LogFormat)
	defer context.AfterFunc(c.Context(), tellSystemdStopping)()
	err = daemon.RunTracker(c.Context(), daemon.TrackerConfig{
		Data:           data,
		Listen:         string(s.Listen),
		AllowLocal:     s.AllowPrivate,
		TrustedProxies: prefixes(s.TrustedProxy),
		Log:            log,
		Ready: func(addr string) {
			log.Info("tracker serves", "listen", addr, "data", data)
			tellSystemd(log, "serving nodes at "+addr)
		},
	})
	if err == nil {
		log.Info("tracker stopped")
	}
	return err
}
