package main

import (
	"context"

	"github.com/spf13/cobra"

	"feedex/settings"
	"feedex/tracker/trackerhost"
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
	c.Annotations = map[string]string{helpEnd: settings.Precedence(settings.Tracker)}
	settings.Bind(c.Flags(), settings.Tracker)
	completeSettings(c)
	return c
}

func runTracker(c *cobra.Command, _ []string) error {
	s, err := settings.Load(c.Flags(), settings.Tracker)
	if err != nil {
		return err
	}
	cfg, err := s.Tracker()
	if err != nil {
		return err
	}
	least, format := s.Log()
	log := newLogger(c.ErrOrStderr(), least, format)
	cfg.Log = log
	cfg.Ready = func(addr string) {
		log.Info("tracker serves", "listen", addr, "data", cfg.Data)
		tellSystemd(log, "serving nodes at "+addr)
	}
	defer context.AfterFunc(c.Context(), tellSystemdStopping)()
	err = trackerhost.Run(c.Context(), cfg)
	if err == nil {
		log.Info("tracker stopped")
	}
	return err
}
