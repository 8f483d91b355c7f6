package main

import (
	"github.com/spf13/cobra"

	"feedex/lab/experiment"
	"feedex/lab/trace"
)

func newLabInterests() *cobra.Command {
	var f labFlags
	var e experiment.Interests
	var people experiment.Company
	e.Every = virtual(4)
	c := &cobra.Command{
		Use:   "interests",
		Short: "What a network is worth to people with interests of their own",
		Long: `Run a network whose nodes follow what people do: most of their feeds hardly anybody else follows. Tables of how
late entries come by how many follow a feed, and of which share of a node's feeds its neighbors follow.

With --volunteer nodes poll feeds for others, and a table has which share of a node's feeds somebody else polls.
With --people no network is run: a table has who has company among so many, as a graph of who follows what.
Without --lists the lists are made up after 251 that their owners published. --lists takes a folder with lists.csv.gz
or lists.csv, a row a subscription in the columns list and feed.`,
		Example: "  feedex lab interests --nodes 60 --hours 12\n  feedex lab interests --lists subscriptions\n" +
			"  feedex lab interests --people 251,10000",
		RunE: f.on(func(c *cobra.Command, set *trace.Set) (err error) {
			e.Traces, e.Length, e.Nodes = set, f.length, f.nodes
			if e.Lists, err = f.people(); err != nil {
				return err
			}
			if e.Lists != nil && !c.Flags().Changed("nodes") {
				e.Nodes = len(e.Lists)
			}
			if people.Sizes != nil {
				people.Traces, people.Lists = e.Traces, e.Lists
				return f.runSeeds(c, &people.Seed, func() experiment.Run { return people.Run })
			}
			return f.runSeeds(c, &e.Seed, func() experiment.Run { return e.Run })
		}),
	}
	f.add(c, 24)
	f.addNodes(c, 251, 2)
	f.addSeeds(c, 1)
	f.addLists(c)
	c.Flags().Var(countsFlag(&people.Sizes, 2), "people",
		"how many people, each number by itself, in place of a network")
	c.Flags().Var(hoursFlag(&e.Every), "interval", "hours between polls")
	c.Flags().IntVar(&e.Volunteer, "volunteer", 0, "feeds that each node polls for others, up to 1000")
	f.addNoEncoding(c, &e.NoEncoding)
	for _, name := range []string{"nodes", "hours", "interval", "volunteer", "no-encoding"} {
		c.MarkFlagsMutuallyExclusive("people", name)
	}
	return c
}
