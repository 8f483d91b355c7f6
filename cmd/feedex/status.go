package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/daemon"
	"feedex/feed"
	"feedex/internal/when"
	"feedex/node"
)

func newStatus() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Say how the running node is",
		Long: `Ask the node that runs on the data directory how it is: who it is to its neighbors, what it follows (and how
much of that alone, because no neighbor offers it), what it keeps, and what it did since it started. With --json
it prints the same and more as one object. While nothing can be stored it says why, and the exit code is 1.

A warning says that own polls are first to bring more than chance explains of what neighbors should bring: either they
keep entries from the node, or it polls far more often than they do. It tries other neighbors by itself.`,
		Args: noArgs,
	}
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		r, err := client.Status(c.Context())
		if err != nil {
			return err
		}
		if asJSON {
			err = printJSON(c.OutOrStdout(), r)
		} else {
			err = printStatus(c.OutOrStdout(), &r)
		}
		if err == nil && r.Storage != "" {
			err = errors.New("nothing is being kept")
		}
		return err
	})
	jsonFlag(c.Flags(), &asJSON)
	return c
}

// mostFeeds is how many feeds a line of the status names.
const mostFeeds = 5

// someFeeds names feeds in one line, and says how many are left out.
func someFeeds(list []feed.URL) string {
	var names []string
	for _, u := range list[:min(mostFeeds, len(list))] {
		names = append(names, printable(string(u)))
	}
	text := strings.Join(names, ", ")
	if more := len(list) - mostFeeds; more > 0 {
		text += fmt.Sprintf(" and %s more, see 'feedex status --json'", grouped(more))
	}
	return text
}

// printStatus writes a report for people, one fact a line.
func printStatus(out io.Writer, r *control.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }

	s := r.Status
	switch {
	case s == nil:
		line("node", "rests: what it follows and did is not known now")
	case s.Self.IsZero():
		line("node", "not known yet: fewer than three neighbors have told")
	default:
		line("node", "%s", s.Self)
	}
	if s != nil && !s.Key.IsZero() {
		line("key", "%s", s.Key)
	}
	line("running", "for %s, version %s", roughly(r.Uptime), printable(r.Version))
	line("data", "%s", printable(r.Data))
	nodes := "at " + r.Listen
	if r.Listen == daemon.ListenNone {
		nodes = "nowhere"
	}
	line("listening", "%s for nodes, at %s for feed readers", nodes, r.Reader)
	if s != nil {
		linesOfFeeds(line, r)
	}
	if r.DHT.Use != "" {
		line("dht", "%s", dhtLine(&r.DHT, time.Now()))
	}
	line("keeping", "%s of %s, %s", plural(r.Archive.Entries, "entry", "entries"),
		plural(r.Archive.Feeds, "feed", "feeds"), byteSize(r.Archive.Bytes)+free(&r.Archive))
	for i, text := range retentionLines(&r.Retention, time.Now()) {
		line([]string{"retention", "purged"}[i], "%s", text)
	}
	if s != nil {
		linesOfWork(line, s)
	}
	if r.Archive.Unindexed > 0 {
		line("indexing", "%s still to do", plural(r.Archive.Unindexed, "entry", "entries"))
	}
	if s != nil && s.Warning != "" {
		line("warning", "%s.", printable(s.Warning))
		line("", "%s", "Either neighbors keep entries from this node, or it polls far more often than they do. It "+
			"tries")
		line("", "%s", "other neighbors by itself, one an hour; to help, name one that you trust with --peer, or "+
			"another tracker.")
	}
	if r.Storage != "" {
		line("storage", "NOTHING IS BEING KEPT: %s", printable(r.Storage))
	}
	return w.Flush()
}

// linesOfFeeds says what a node follows, with whom, and what its owner is to decide.
func linesOfFeeds(line func(name, format string, args ...any), r *control.Report) {
	switch {
	case r.Undialled:
		line("dialled", "by nobody: neighbors call it over connections that it keeps open to them")
	case r.Hosted > 0:
		line("hosting", "%s that others cannot dial", plural(r.Hosted, "neighbor", "neighbors"))
	}
	following := plural(r.Feeds, "feed", "feeds")
	if r.Alone > 0 && r.Neighbors > 0 {
		following += fmt.Sprintf(", %s of them alone,", grouped(r.Alone))
	}
	line("following", "%s with %s", following, plural(r.Neighbors, "neighbor", "neighbors"))
	if len(r.Volunteered) > 0 {
		line("polling", "%s for neighbors: %s", plural(len(r.Volunteered), "feed", "feeds"), someFeeds(r.Volunteered))
	}
	if r.Ended > 0 {
		line("ended", "%s that publishers gave up, see 'feedex feeds'", plural(r.Ended, "feed", "feeds"))
	}
	if r.Pages > 0 {
		line("choose", "from the feeds of %s, see 'feedex feeds'", plural(r.Pages, "web page", "web pages"))
	}
	if r.Undecided > 0 {
		line("decide", "whether neighbors may know of %s, see 'feedex feeds'", plural(r.Undecided, "feed", "feeds"))
	}
	if !r.Offline.IsZero() {
		line("offline", "no publisher can be reached since %s: is this machine online?",
			r.Offline.Local().Format("2006-01-02 15:04"))
	}
	for _, source := range r.Sources {
		name, state := "peer", "of use"
		if source.Tracker {
			name = "tracker"
		}
		if source.Problem != "" {
			state = source.Problem
		} else if source.Asked.IsZero() {
			state = "not asked yet"
		}
		if slices.Contains(r.Named, source.Name) {
			state += " (named while it ran)"
		}
		line(name, "%s: %s", printable(source.Name), printable(state))
	}
}

// linesOfWork says what a node did since it started.
func linesOfWork(line func(name, format string, args ...any), r *node.Status) {
	c := &r.Counters
	received := fmt.Sprintf("%s by own polls, %s from neighbors first", plural(c.Polled-c.Backlog, "entry", "entries"),
		grouped(c.Delivered))
	if c.Backlog > 0 {
		received += fmt.Sprintf("; %s more when feeds were read for the first time", grouped(c.Backlog))
	}
	line("received", "%s", received)
	if r.Gaps > 0 {
		line("missing", "entries of %s that left the document between polls, see 'feedex feeds'",
			plural(r.Gaps, "feed", "feeds"))
	}
	if r.Pasts > 0 {
		line("past", "being filled in for %s, see 'feedex feeds'", plural(r.Pasts, "feed", "feeds"))
	}
	line("sent", "%s to neighbors", plural(c.Forwarded, "entry", "entries"))
	line("polls", "%s, %s not modified, %s failed", grouped(c.Polls+c.PollsFailed), grouped(c.NotModified),
		grouped(c.PollsFailed))
	line("offers", "%s made, %s of them known already; %s received", grouped(c.ChecksSent), grouped(c.ChecksSeen),
		grouped(c.ChecksAsked))
	line("checked", "%s from neighbors found at the publisher, %s forged, %s altered",
		plural(c.Confirmed, "entry", "entries"), grouped(c.Forged), grouped(c.Altered))
	if c.Unkept > 0 {
		line("refused", "%s of neighbors that had brought enough that no own poll has shown, see 'feedex neighbors'",
			plural(c.Unkept, "entry", "entries"))
	}
}

// dhtLine says how the node meets others by the DHT.
func dhtLine(r *control.DHTReport, now time.Time) string {
	switch {
	case r.Use == control.DHTAsk:
		return "off until you answer whether others may learn that this address runs feedex: feedex dht on|off"
	case r.Use == control.DHTOff:
		return "off"
	case r.Met.IsZero():
		return "on, not asked yet"
	}
	text := fmt.Sprintf("on, %s found %s ago", plural(r.Found, "address", "addresses"), roughly(now.Sub(r.Met)))
	if r.Problem != "" {
		text = "on, " + printable(r.Problem)
	}
	if !r.Announced.IsZero() {
		text += fmt.Sprintf("; told where this node is %s ago", roughly(now.Sub(r.Announced)))
	}
	return text
}

// free says how much of the archive holds nothing, "" where that is little.
func free(a *control.ArchiveReport) string {
	if a.Free < 1<<20 {
		return ""
	}
	return fmt.Sprintf(", of which %s are free", byteSize(a.Free))
}

// retentionLines say what an archive may hold, and what was purged last; none where it may hold everything.
func retentionLines(r *control.RetentionReport, now time.Time) (lines []string) {
	var bounds []string
	if r.Bytes > 0 {
		bounds = append(bounds, byteSize(r.Bytes))
	}
	if r.Age > 0 {
		bounds = append(bounds, "the last "+when.Text(r.Age))
	}
	if r.Count > 0 {
		bounds = append(bounds, "the latest "+plural(r.Count, "entry", "entries"))
	}
	what := "everything of feeds that were followed ever"
	if len(bounds) > 0 {
		what = strings.Join(bounds, ", ") + ", and what is starred"
	}
	if r.Relayed > 0 {
		what += "; of others " + byteSize(r.Relayed)
	}
	if r.Feeds > 0 {
		what += "; less of " + plural(r.Feeds, "feed", "feeds")
	}
	lines = append(lines, what)
	if l := &r.Last; !l.At.IsZero() {
		lines = append(lines, fmt.Sprintf("%s with %s of text, %s ago", plural(l.Entries, "entry", "entries"),
			byteSize(l.Bytes), roughly(now.Sub(l.At))))
	}
	return lines
}
