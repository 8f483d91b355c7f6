package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"feedex/lab"
	"feedex/lab/experiment"
)

func newLabPolling() *cobra.Command {
	var f labFlags
	var p experiment.Polling
	var shared bool
	sizes := []int{1, 2, 4, 8, 16}
	c := &cobra.Command{
		Use:   "polling",
		Short: "Polling policies against each other, without a network",
		Long: `Poll every feed of the traces by each policy: those of this program, those of Miniflux, FreshRSS, NewsBlur,
CommaFeed and newsboat, and the rule of the FeedEx paper to the letter. Tables of how late entries are
read, how many requests it takes and how many entries are missed, after Table 1 and Figures 2 to 4 of
Urbansky and others, "An Optimized Web Feed Aggregation Approach for Generic Feed Types".

With --shared, three of them in networks of 1 to 16 nodes instead, which share what they poll.`,
		Example: "  feedex lab polling --seed 1\n  feedex lab polling --least 5 --hours 240 --svg figures\n  feedex " +
			"lab polling --shared",
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := f.set(c)
			if err != nil {
				return err
			}
			p.Seed, p.Traces = lab.Seed(f.seed), set
			if p.Length = set.To.Sub(set.From); c.Flags().Changed("hours") {
				p.Length = f.length
			}
			if c.Flags().Changed("nodes") && !shared {
				return usageOf(c, fmt.Errorf("%w: %v nodes that poll each by itself; want --shared, or no --nodes",
					experiment.ErrSetting, c.Flag("nodes").Value))
			}
			if shared {
				s := experiment.SharedPolling{Seed: p.Seed, Traces: set, Sizes: sizes}
				if c.Flags().Changed("hours") {
					s.Length = f.length
				}
				return f.run(c, s.Run)
			}
			return f.run(c, p.Run)
		},
	}
	f.add(c, 840)
	c.Flags().Float64Var(&p.Least, "least", 0, "leave out feeds that publish fewer entries a day")
	c.Flags().BoolVar(&shared, "shared", false, "have networks of nodes share what they poll, for 240 hours")
	c.Flags().Var(countsValue{&sizes, 1}, "nodes", "how many nodes share, a network each, with --shared")
	c.MarkFlagsMutuallyExclusive("shared", "least")
	return c
}
