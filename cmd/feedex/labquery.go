package main

import (
	"github.com/spf13/cobra"

	"feedex/lab"
	"feedex/lab/experiment"
)

func newLabQuery() *cobra.Command {
	var f labFlags
	var e experiment.Queries
	c := &cobra.Command{
		Use:   "query",
		Short: "What queries of the network find and cost",
		Long: `Run networks whose nodes ask the network for old entries, one after the other: one to five hops far, with budgets of
16 to 256 messages, with and without naming the feed, for entries that 90% of the feed's subscribers hold down to a
single one. Shows what share is found, for how many messages and how soon. The first network is run once more with
nodes that flood theirs with queries.`,
		Example: "  feedex lab query --nodes 161\n  feedex lab query --nodes 161,1000 --trials 5",
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := f.set()
			if err != nil {
				return err
			}
			if e.Flooders == 0 {
				e.Flooders = -1 // no such network
			}
			e.Seed, e.Traces, e.Settle = lab.Seed(f.seed), set, f.length
			return f.run(c, e.Run)
		},
	}
	f.add(c, 0, 0.25)
	c.Flags().Lookup("hours").Usage = "how many hours of virtual time pass before the first query"
	c.Flags().IntSliceVar(&e.Sizes, "nodes", []int{161, 1000}, "how many nodes, a network each")
	c.Flags().IntVar(&e.Each, "feeds", 20, "how many feeds a node follows")
	c.Flags().IntVar(&e.Trials, "trials", 10, "how many queries of each kind")
	c.Flags().Float64Var(&e.Flooders, "flooders", 0.03, "share of the nodes that flood, in the last network; 0 for no such network")
	return c
}
