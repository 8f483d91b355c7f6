package main

import (
	"github.com/spf13/cobra"

	"feedex/lab"
	"feedex/lab/experiment"
)

func newLabFreeriders() *cobra.Command {
	var f labFlags
	var p experiment.FreeRiders
	p.Every = virtual(4)
	c := &cobra.Command{
		Use:   "freeriders",
		Short: "What those get who take without giving",
		Long: `Run networks in which some of the nodes are free riders, echoers (who offer what others have), rejoiners
(who come back every hour on another port, or at another address) or liars (who claim every feed), over a
range of the deficit bound, and with each rule that is against them switched off in turn. Tables of what
came of it for the honest and for the others.`,
		Example: "  feedex lab freeriders --seed 1\n  feedex lab freeriders --nodes 161 --feeds 20 --of 70 --hours 96",
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := f.set(c)
			if err != nil {
				return err
			}
			p.Seed, p.Traces, p.Nodes, p.Length = lab.Seed(f.seed), set, f.nodes, f.length
			return f.run(c, p.Run)
		},
	}
	f.add(c, 24)
	f.addNodes(c, 40, 10)
	p.Each, p.Feeds = 15, 30
	c.Flags().Var(countValue{&p.Each, 1}, "feeds", "how many feeds a node follows")
	c.Flags().Var(countValue{&p.Feeds, 1}, "of", "out of how many feeds")
	c.Flags().Var((*hoursValue)(&p.Every), "interval", "hours between polls")
	return c
}
