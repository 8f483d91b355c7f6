package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"feedex/demo"
)

func newDemo() *cobra.Command {
	length := span("30s")
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show a whole network at work on this machine",
		Long: `Start a server with ten feeds that publish every few seconds, a tracker and six nodes, all on this machine's
loopback address and in temporary folders, and show live what they do. Each node polls far too rarely to see
entries in time by itself. The exit code is 1 if a node missed an entry. No Internet is needed.`,
		Example: "  feedex demo\n  feedex demo --for 1m",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			out := c.OutOrStdout()
			summary, err := demo.Run(c.Context(), demo.Config{For: duration(length), Out: out, Terminal: isTerminal(out)})
			if err == nil || errors.Is(err, demo.ErrMissed) {
				fmt.Fprintf(out, "\n%s", summary)
			}
			if errors.Is(err, context.Canceled) {
				return context.Canceled
			}
			return err
		},
	}
	c.Flags().Var(&length, "for", "how long it runs, a span of 10s or more")
	return c
}
