package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"feedex/daemon"
	"feedex/node"
)

func newNeighbors() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "neighbors",
		Short: "List the running node's neighbors",
		Long: `List the nodes with which the running node exchanges entries: how many feeds each carries and how many of
these are of use here, how many entries each brought first and was brought, and what last went wrong.`,
		Args: noArgs,
	}
	withClient(c, func(c *cobra.Command, args []string, client *daemon.Client) error {
		list, err := client.Neighbors(c.Context())
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(c.OutOrStdout(), listed(list))
		}
		if len(list) == 0 {
			fmt.Fprintln(c.ErrOrStderr(), "no neighbors yet: name a tracker with --tracker or a node with --peer when you start the node")
			return nil
		}
		return printNeighbors(c.OutOrStdout(), list, time.Now())
	})
	jsonFlag(c.Flags(), &asJSON)
	return c
}

// printNeighbors writes a table for people.
func printNeighbors(w io.Writer, list []node.NeighborStatus, now time.Time) error {
	t := newTable(w, "NEIGHBOR", "KIND", "LINKED", "HEARD", "RTT", "FEEDS", "OF USE", "BROUGHT", "GIVEN", "LAST ERROR")
	for i := range list {
		n := &list[i]
		rtt := "-"
		if n.RTT > 0 {
			rtt = n.RTT.Round(time.Millisecond / 10).String()
		}
		t.row(n.ID.String(), neighborKind(n), roughly(now.Sub(n.Since)), ago(n.Heard, now), rtt,
			fmt.Sprint(n.Feeds), fmt.Sprint(n.Overlap), fmt.Sprint(n.Delivered), fmt.Sprint(n.Forwarded),
			shorten(printable(n.LastError), 60))
	}
	return t.flush()
}

// neighborKind says how the link came about.
func neighborKind(n *node.NeighborStatus) string {
	switch {
	case n.Static:
		return "static"
	case n.Chosen:
		return "chosen"
	}
	return "accepted"
}
