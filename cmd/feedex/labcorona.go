package main

import (
	"time"

	"github.com/spf13/cobra"

	"feedex/lab"
	"feedex/lab/experiment"
)

func newLabCorona() *cobra.Command {
	var f labFlags
	var e experiment.Corona
	e.Every = 30 * time.Minute
	c := &cobra.Command{
		Use:   "corona",
		Short: "The setting of Corona's simulations: legacy RSS against feedex",
		Long: `Run networks in the setting of the Corona paper (section 5.1), smaller: channels that change as often as those
of its survey, subscriptions by Zipf's law with the exponent 0.5, polls every 30 minutes. Shows how late updates
are detected by legacy RSS, where every subscriber polls alone, by feedex with the same polls, and how many
fewer polls feedex needs to be as late as legacy RSS. The full size, 1,024 nodes with 100,000 channels and
5,000,000 subscriptions, is beyond an ordinary machine; the time and memory of the run, which differ from run
to run, go to stderr. The last of the examples takes some two minutes of processor time.`,
		Example: `  feedex lab corona --seed 1
  feedex lab corona --nodes 64 --channels 50 --subscriptions 1000
  feedex lab corona --nodes 1024 --channels 2000 --hours .5 --equal-load --no-encoding`,
		RunE: func(c *cobra.Command, _ []string) error {
			e.Seed, e.Nodes, e.Length = lab.Seed(f.seed), f.nodes, f.length
			if f.traces != "" || f.made > 0 {
				set, err := f.set(c)
				if err != nil {
					return err
				}
				e.Traces = set
			}
			return f.run(c, e.Run)
		},
	}
	f.add(c, 6)
	f.addNodes(c, 128, 2)
	c.Flags().Lookup("hours").Usage = "how many hours of updates count; a run takes two intervals longer"
	c.Flags().Lookup("traces").Usage = "folder with the traces of feeds that channels publish as, in place of the " +
		"paper's survey"
	e.Channels = 100
	c.Flags().Var(countValue{&e.Channels, 1}, "channels", "how many channels there are")
	c.Flags().Var(countValue{&e.Subscriptions, 1}, "subscriptions",
		"how many subscriptions all nodes have (default 50 a channel)")
	c.Flags().Var((*hoursValue)(&e.Every), "interval", "hours between the polls of legacy RSS")
	e.Reach = 3
	c.Flags().Var(countValue{&e.Reach, 1}, "reach", "over how many hops interests count, 1 to 8")
	c.Flags().BoolVar(&e.EqualLoad, "equal-load", false,
		"leave out the networks that poll more rarely, which are most of the work")
	f.addNoEncoding(c, &e.NoEncoding)
	return c
}
