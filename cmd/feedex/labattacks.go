package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"feedex/lab"
	"feedex/lab/experiment"
)

func newLabAttacks() *cobra.Command {
	var f labFlags
	var p experiment.Attacks
	c := &cobra.Command{
		Use:   "attacks",
		Short: "Attacks, each against its pass mark",
		Long: `Attack networks of this program's nodes in every way that a simulator can show, and hold what comes of it
against a pass mark. The command fails if one of the attacks does not come up to its mark.`,
		Example: "  feedex lab attacks --seed 1\n  feedex lab attacks --rows 4,7 --nodes 100\n  feedex lab attacks " +
			"--rows 11 --trials 1000",
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := f.set(c)
			if err != nil {
				return err
			}
			p.Seed, p.Traces, p.Nodes, p.Length = lab.Seed(f.seed), set, f.nodes, f.length
			failed := 0
			err = f.run(c, func(ctx context.Context, progress experiment.Progress) (r *experiment.Report, err error) {
				r, failed, err = p.Run(ctx, progress)
				return r, err
			})
			if err == nil && failed > 0 {
				err = fmt.Errorf("%d of the attacks are beyond their mark", failed)
			}
			return err
		},
	}
	f.add(c, 16)
	f.addNodes(c, 40, 10)
	c.Flags().Var(countsValue{&p.Rows, 1}, "rows", "make only these of the attacks")
	p.Trials = 48
	c.Flags().Var(countValue{&p.Trials, 1}, "trials", "how many nodes an eclipse is tried on")
	return c
}
