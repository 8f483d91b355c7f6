package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"feedex/lab"
	"feedex/lab/experiment"
)

func newLabScale() *cobra.Command {
	var f labFlags
	var e experiment.Scaling
	var series string
	e.Every = time.Hour
	c := &cobra.Command{
		Use:   "scale",
		Short: "What a node pays as the network grows",
		Long: `Run networks of 161 to 10,000 nodes, once with as many feeds as give each 46 subscribers and once with the
same feeds for all, or in one of these ways. Time and memory, which differ from run to run, go to stderr. The largest
take hours.`,
		Example: "  feedex lab scale --nodes 161,1000 --hours 2\n  feedex lab scale --series feeds --nodes 10000 " +
			"--hours 1",
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := f.set(c)
			if err != nil {
				return err
			}
			e.Seed, e.Traces, e.Length = lab.Seed(f.seed), set, f.length
			e.Series = experiment.Series(series)
			f.nodes = slices.Max(e.Sizes)
			return f.run(c, e.Run)
		},
	}
	f.add(c, 24)
	e.Sizes, e.Each, e.Reach, e.Relayed = []int{161, 1000, 4000, 10000}, 20, 3, 96
	c.Flags().Var(countsValue{&e.Sizes, 2}, "nodes", "how many nodes, a network each in every series")
	c.Flags().StringVar(&series, "series", "",
		"run only the networks in which these stay the same: subscribers of a feed, or feeds for all (default both)")
	_ = c.RegisterFlagCompletionFunc("series",
		cobra.FixedCompletions([]string{string(experiment.SameSubscribers), string(experiment.SameFeeds)},
			cobra.ShellCompDirectiveNoFileComp))
	c.Flags().Var(countValue{&e.Each, 1}, "feeds", "how many feeds a node follows")
	c.Flags().Var(countValue{&e.Reach, 1}, "reach", "over how many hops interests count, 1 to 8")
	c.Flags().Var(countValue{&e.Relayed, 1}, "relayed",
		"how many feeds a node passes on for others' sake, 10,000 at most; it is four for each that it follows where "+
			"that is more")
	c.Flags().Var((*hoursValue)(&e.Every), "interval", "hours between polls")
	f.addNoEncoding(c, &e.NoEncoding)
	return c
}
