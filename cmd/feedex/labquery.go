package main

import (
	"fmt"
	"slices"

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
single one; and once more in the end, when some of the nodes flood theirs with queries. Shows what share is found, for
how many messages and how soon, and how near the other subscribers are.

Simplified, so that thousands of nodes fit on one machine: feeds publish nothing, and what is looked for is put straight
into archives. So neighbors are chosen by what they follow, not by what they brought, and accounts have no bound, as
nobody can earn anything; all else is as in a node. Every feed has 46 subscribers, or as many as there are with few nodes.
A thousand nodes take a minute, ten thousand nine minutes and 5 GB.`,
		Example: "  feedex lab query --nodes 161 --trials 30\n  feedex lab query --nodes 161,1000,4000 --svg figures",
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := f.set(c)
			if err != nil {
				return err
			}
			if !(e.Flooders >= 0) {
				return usageOf(c, fmt.Errorf("%w: %v of the nodes flood; want 0 to 0.9",
					experiment.ErrSetting, e.Flooders))
			}
			if e.Flooders == 0 {
				e.Flooders = -1 // no such network
			}
			e.Seed, e.Traces, e.Settle = lab.Seed(f.seed), set, f.length
			f.nodes = slices.Max(e.Sizes)
			return f.run(c, e.Run)
		},
	}
	f.add(c, 0.35)
	c.Flags().Lookup("hours").Usage = "how many hours of virtual time pass before the first query"
	e.Sizes, e.Each, e.Trials = []int{161, 1000}, 20, 10
	c.Flags().Var(countsValue{&e.Sizes, 2}, "nodes", "how many nodes, a network each")
	c.Flags().Var(countValue{&e.Each, 1}, "feeds", "how many feeds a node follows")
	c.Flags().Var(countValue{&e.Trials, 1}, "trials", "how many searches each kind of query is tried on")
	c.Flags().Float64Var(&e.Flooders, "flooders", 0.03, "share of the nodes that flood in the end; 0 for none")
	return c
}
