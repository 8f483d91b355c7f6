package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"feedex/lab"
	"feedex/lab/experiment"
)

func newLabPaper() *cobra.Command {
	var f labFlags
	var p experiment.Paper
	var links lab.Links
	failing, bound := 28, 10
	c := &cobra.Command{
		Use:   "paper",
		Short: "The evaluation of the FeedEx paper",
		Long: `Re-run the evaluation of the FeedEx paper (section 4) on the built-in traces: six networks of 189 nodes that
poll every 0.5 to 16 hours, of which 28 vanish at random times, over 22 hours of a Wednesday. Tables for its
Figures 4 to 6 and its Table 3, beside what it states, with bytes, requests at publishers, and what lag the
same number of polls allows at best. SLN is what a node's own polls bring, XCH what comes by any way.`,
		Example: "  feedex lab paper --seed 1\n  feedex lab paper --bound 0 --svg figures",
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := f.set(c)
			if err != nil {
				return err
			}
			p.Seed, p.Traces, p.Nodes, p.Length = lab.Seed(f.seed), set, f.nodes, f.length
			if bound > 1000 {
				return usageOf(c, fmt.Errorf("%w: a deficit bound of %d entries; want 1 to 1000, or 0 for none",
					experiment.ErrSetting, bound))
			}
			if links.Delay <= 0 {
				return usageOf(c, fmt.Errorf("%w: a latency of %v; want a time above zero",
					experiment.ErrSetting, links.Delay))
			}
			if c.Flags().Changed("latency") || c.Flags().Changed("loss") {
				p.Links = links
			}
			p.Bound = cmp.Or(bound, -1)
			if c.Flags().Changed("fail") {
				p.Failing = cmp.Or(failing, -1)
			}
			return f.run(c, p.Run)
		},
	}
	f.add(c, 22)
	f.addNodes(c, 189, 2)
	p.Each = 20
	c.Flags().Var(countValue{&failing, 0}, "fail",
		"how many of the nodes vanish for good; with other --nodes as large a share")
	c.Flags().Var(countValue{&p.Each, 1}, "feeds", "how many feeds a node follows")
	c.Flags().Var(countValue{&bound, 0}, "bound", "the deficit bound in entries, 0 for none")
	c.Flags().Var((*intervalsValue)(&p.Intervals), "intervals",
		"hours between polls, a network each, such as .5,1,2 (default .5 to 16, as far as they fit)")
	c.Flags().DurationVar(&links.Delay, "latency", 40*time.Millisecond,
		"how long messages take one way, the median of the links")
	c.Flags().Float64Var(&links.Loss, "loss", 0, "share of the messages that are lost")
	f.addNoEncoding(c, &p.NoEncoding)
	return c
}
