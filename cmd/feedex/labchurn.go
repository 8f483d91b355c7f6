package main

import (
	"time"

	"github.com/spf13/cobra"

	"feedex/lab"
	"feedex/lab/experiment"
)

func newLabChurn() *cobra.Command {
	var f labFlags
	var e experiment.Churn
	e.Every = 4 * time.Hour
	c := &cobra.Command{
		Use:   "churn",
		Short: "Nodes that come and go, and a network cut in two",
		Long: `Run networks whose nodes stay for four hours down to ten minutes on average before they leave, crash or lose
their machine, and return after half as long; and one network that is cut in two halves for a quarter of the
run. Shows which entries came, and how soon nodes find neighbors.`,
		Example: "  feedex lab churn --seed 1\n  feedex lab churn --stays 1,.25 --hours 6",
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := f.set(c)
			if err != nil {
				return err
			}
			e.Seed, e.Traces, e.Nodes, e.Length = lab.Seed(f.seed), set, f.nodes, f.length
			return f.run(c, e.Run)
		},
	}
	f.add(c, 12)
	f.addNodes(c, 100, 2)
	e.Each = 20
	c.Flags().Var(countValue{&e.Each, 1}, "feeds", "how many feeds a node follows")
	c.Flags().Var((*hoursValue)(&e.Every), "interval", "hours between polls")
	c.Flags().Var((*intervalsValue)(&e.Sessions), "stays",
		"mean hours that nodes stay, a network each (default 4,2,1,.5 and ten minutes)")
	return c
}
