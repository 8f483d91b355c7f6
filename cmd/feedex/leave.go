package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"feedex/control"
)

func newLeave() *cobra.Command {
	c := &cobra.Command{
		Use:   "leave NAME",
		Short: "Take back a tracker, or a neighbor to have always",
		Long: `Have the running node ask a tracker no more, or seek a neighbor no more, that 'feedex join' or the dashboard
named. A link that there is remains, as one with any neighbor. NAME is as 'feedex status' shows it; what the settings
name is taken out there.`,
		Example: `  feedex leave http://tracker.example.net:7788/`,
		Args:    oneArg("tracker or neighbor, as 'feedex status' shows it"),
	}
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		return client.ForgetSource(c.Context(), args[0])
	})
	return c
}

// always has the node find neighbors by a tracker, or have a neighbor always, and tells what came of it at first.
func always(c *cobra.Command, client *control.Client, name string) error {
	s, err := client.NameSource(c.Context(), name)
	if err != nil {
		return err
	}
	what := "seeking"
	if s.Tracker {
		what = "asking"
	}
	fmt.Fprintf(c.OutOrStdout(), "%s %s from now on; to take it back: %s\n", what, printable(s.Name),
		toType(c, "leave", s.Name))
	switch {
	case s.Problem != "":
		fmt.Fprintf(c.ErrOrStderr(), "%s is of no use yet: %s\n", printable(s.Name), printable(s.Problem))
	case s.Asked.IsZero():
		fmt.Fprintf(c.ErrOrStderr(), "%s was not asked yet, see 'feedex status'\n", printable(s.Name))
	}
	return nil
}
