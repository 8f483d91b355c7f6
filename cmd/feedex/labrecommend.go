package main

import (
	"github.com/spf13/cobra"

	"feedex/lab"
	"feedex/lab/experiment"
	"feedex/lab/trace"
)

func newLabRecommend() *cobra.Command {
	var f labFlags
	var e experiment.Recommending
	c := &cobra.Command{
		Use:   "recommend",
		Short: "What suggestions of feeds by neighbors' adverts are worth",
		Long: `Hide a fifth of each subscription list, choose neighbors for each reader by the rest as nodes do, and compare what
their adverts suggest with what is hidden: by several ways to rank feeds, by popularity, by chance, and at best. With
--volunteer each node also advertises feeds that it polls for others and does not read.

Without --lists the lists are made up after 251 that their owners published; those have no hobbies in common, by which
real ones are alike. --lists takes a folder with lists.csv.gz or lists.csv, a row a subscription in the columns list and
feed.`,
		Example: "  feedex lab recommend --lists subscriptions\n" +
			"  feedex lab recommend --lists subscriptions --volunteer 200",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) (err error) {
			e.Seed, e.Seeds, e.Traces = lab.Seed(f.seed), f.seeds, set
			if e.Lists, err = f.people(); err != nil {
				return err
			}
			return f.run(c, e.Run)
		}),
	}
	f.add(c, 24)
	for _, name := range []string{"hours", "traces", "synthetic"} {
		_ = c.Flags().MarkHidden(name)
	}
	f.addLists(c)
	f.addSeeds(c, 5)
	c.Flags().IntVar(&e.Volunteer, "volunteer", 0, "feeds that each node polls for others, up to 1000")
	return c
}
