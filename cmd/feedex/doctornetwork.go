package main

import (
	"io"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/reach"
)

func newDoctorNetwork() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "network",
		Short: "Say whether and how others reach the running node",
		Long: `Say whether other nodes can dial the running node, what its router does about it, and what you could do. A node
that nobody can dial takes part as others do, over connections that it keeps open; one that can be dialled hosts
some of those. With --json it prints the facts.`,
		Example: "  feedex doctor network",
		Args:    noArgs,
	}
	withClient(c, func(c *cobra.Command, _ []string, client *control.Client) error {
		r, err := client.Status(c.Context())
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(c.OutOrStdout(), r.Reach)
		}
		return printDiagnoses(c.OutOrStdout(), r.Reach.Diagnose())
	})
	jsonFlag(c.Flags(), &asJSON)
	return c
}

// printDiagnoses writes diagnoses for people, a line each, and what to do about it below.
func printDiagnoses(out io.Writer, list []reach.Diagnosis) error {
	for _, f := range list {
		text := printable(f.Fact) + "\n"
		if f.Advice != "" {
			text += "  " + printable(f.Advice) + "\n"
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	return nil
}
