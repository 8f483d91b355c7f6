package main

import (
	"time"

	"github.com/spf13/cobra"

	"feedex/lab"
	"feedex/lab/experiment"
)

func newLabScale() *cobra.Command {
	var f labFlags
	var e experiment.Scaling
	e.Every = time.Hour
	c := &cobra.Command{
		Use:   "scale",
		Short: "What a node pays as the network grows",
		Long: `Run networks of 161 to 10,000 nodes, or of --nodes alone, once with as many feeds as give each 46 subscribers
and once with the same feeds for all. Time and memory, which differ from run to run, go to stderr.`,
		Example: "  feedex lab scale --nodes 1000 --hours 6",
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := f.set()
			if err != nil {
				return err
			}
			e.Seed, e.Traces, e.Length = lab.Seed(f.seed), set, f.length
			if c.Flags().Changed("nodes") {
				e.Sizes = []int{f.nodes}
			}
			return f.run(c, e.Run)
		},
	}
	f.add(c, 161, 24)
	c.Flags().Lookup("nodes").Usage = "how many nodes, in place of 161, 1,000, 4,000 and 10,000"
	c.Flags().Lookup("nodes").DefValue = "0"
	c.Flags().IntVar(&e.Each, "feeds", 20, "how many feeds a node follows")
	c.Flags().Var((*hoursValue)(&e.Every), "interval", "hours between polls")
	return c
}
