package main

import (
	"context"
	"log/slog"

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
	}
	return program(c, settings.Tracker, runTracker)
}

func runTracker(ctx context.Context, s *settings.Settings, log *slog.Logger) error {
	cfg, err := s.Tracker()
	if err != nil {
		return err
	}
	cfg.Log = log
	cfg.Ready = func(addr string) {
		log.Info("tracker serves", "listen", addr, "data", cfg.Data)
		tellSystemd(log, "serving nodes at "+addr)
	}
	return trackerhost.Run(ctx, cfg)
}
