package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/node"
	"feedex/protocol"
)

func newNeighbors() *cobra.Command {
	c := &cobra.Command{
		Use:   "neighbors",
		Short: "List the running node's neighbors",
		Long: `List the nodes with which the running node exchanges entries: how many feeds each carries, how many of
these are of use here, and how many of them at each hop count from 0 to 3; what it is worth as a neighbor, in
feeds: by what it claims, by what it really brought within the day, and all things considered; what it gave
and got and how much of what it may it owes, in entries; how much room on disk is taken by what its address
brought within a day and no own poll has shown; its standing, which misbehavior lowers; and what last went
wrong. (How much it may store is in the JSON, as its quota.)
On a narrow screen each neighbor takes two lines.`,
		Args: noArgs,
	}
	return listing(c, "no neighbors yet: 'feedex join' takes an invitation, a tracker, a site or a node's address",
		(*control.Client).Neighbors, printNeighbors)
}

// printNeighbors writes a table for people, in lines of a width, 0 for any.
func printNeighbors(w io.Writer, list []node.NeighborStatus, now time.Time, width int) error {
	t := newTable(width, 7, "NEIGHBOR", "KIND", "LINKED", "HEARD", "RTT", "FEEDS",
		"OF USE", "HOPS", "CLAIMS", "BRINGS", "WORTH", "GAVE", "GOT", "OWES", "STORED", "STANDING")
	for i := range list {
		n := &list[i]
		rtt := "-"
		if n.RTT > 0 {
			rtt = n.RTT.Round(time.Millisecond / 10).String()
		}
		t.row(neighborName(n.ID), neighborKind(n), roughly(now.Sub(n.Since)), ago(n.Heard, now), rtt,
			fmt.Sprint(n.Feeds), fmt.Sprint(n.Overlap), byHops(n.Nearest),
			usefulness(n.Claimed), usefulness(n.Observed), usefulness(n.Score),
			amount(n.Got), amount(n.Given), owed(n), byteSize(n.Unshown), fmt.Sprintf("%d%%", n.Standing))
		if n.LastError != "" {
			t.note("last error: " + printable(n.LastError))
		}
	}
	return t.write(w)
}

// neighborName writes a neighbor's id; of one that others cannot dial its address, and as much of its key as tells it
// from others there.
func neighborName(id protocol.NodeID) string {
	if !id.Hosted() {
		return id.String()
	}
	_, key, _ := strings.Cut(id.Name().String(), ":")
	return id.Addr().String() + " " + key[:8]
}

// byHops writes how many feeds are at hop counts 0, 1, 2 and 3.
func byHops(counts [4]int) string {
	return fmt.Sprintf("%d/%d/%d/%d", counts[0], counts[1], counts[2], counts[3])
}

// usefulness writes what a neighbor is worth, in feeds.
func usefulness(feeds float64) string { return strconv.FormatFloat(feeds, 'f', 1, 64) }

// amount writes an amount of an account, in entries.
func amount(entries float64) string {
	return strconv.FormatFloat(math.Round(10*entries)/10, 'f', -1, 64)
}

// owed says what a neighbor owes, of how much that it may.
func owed(n *node.NeighborStatus) string {
	if n.Bound < 0 {
		return amount(n.Deficit)
	}
	return amount(n.Deficit) + " of " + amount(n.Bound)
}

// neighborKind says how the link came about.
func neighborKind(n *node.NeighborStatus) string {
	switch {
	case n.Static:
		return "static"
	case n.ID.Hosted():
		return "hosted"
	case n.Chosen:
		return "chosen"
	}
	return "accepted"
}
