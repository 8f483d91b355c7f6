package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"feedex/archive"
	"feedex/daemon"
	"feedex/internal/when"
)

// archiveStats is the object that feedex archive stats --json prints.
type archiveStats struct {
	File string `json:"file"`
	archive.Stats
	ByFeed []archive.FeedStats `json:"by_feed"`
}

func newArchiveStats() *cobra.Command {
	var asJSON, publishing bool
	c := &cobra.Command{
		Use:   "stats",
		Short: "Count what the archive holds, feed by feed",
		Long: `Count what the archive holds, and of each feed how many entries there are, how large their texts are
and from when to when. Formats are those of the documents that own polls read, where they say it. Unconfirmed is an
entry of which there is one neighbor's or an export's word, filled in one that came from another archive, hidden one
that is served to nobody else.

--json prints an object with the members file, entries, feeds, unindexed, bytes, free and by_feed, a list of objects
with url, title, format, subscribed, entries, bytes, unconfirmed, filled, hidden, oldest and newest, and where less
is kept of the feed than of others keep_bytes, keep_age (seconds) and keep_count. The table has a column KEEPS where
that is so of any feed.

--publishing sums up in its place what the feeds publish: how rates go by rank, and at which hours and days entries
come, as 'feedex lab publishing' does of its traces.`,
		Args: noArgs,
	}
	jsonFlag(c.Flags(), &asJSON)
	c.Flags().BoolVar(&publishing, "publishing", false,
		"sum up when and how much the feeds publish, over 35 days at most")
	c.MarkFlagsMutuallyExclusive("json", "publishing")
	return onArchive(c, func(c *cobra.Command, data string, _ []string) error {
		st := archiveStats{File: daemon.DatabasePath(data)}
		err := readArchive(st.File, func(r archiveFile) (err error) {
			if publishing {
				return printPublishing(c.Context(), c.OutOrStdout(), r, time.Now())
			}
			if st.Stats, err = r.Stats(c.Context()); err == nil {
				st.ByFeed, err = r.FeedStats(c.Context())
			}
			return err
		})
		switch {
		case err != nil, publishing:
			return err
		case asJSON:
			return printJSON(c.OutOrStdout(), st)
		}
		return printStats(c.OutOrStdout(), &st, widthOf(c.OutOrStdout()))
	})
}

// printStats writes them for people.
func printStats(out io.Writer, st *archiveStats, width int) error {
	var sum archive.FeedStats
	for i := range st.ByFeed {
		f := &st.ByFeed[i]
		sum.Unconfirmed, sum.Filled, sum.Hidden = sum.Unconfirmed+f.Unconfirmed, sum.Filled+f.Filled,
			sum.Hidden+f.Hidden
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "archive\t%s\n", printable(st.File))
	fmt.Fprintf(w, "entries\t%s of %s; %s unconfirmed, %s filled in, %s hidden\n", grouped(st.Entries),
		plural(st.Feeds, "feed", "feeds"),
		grouped(sum.Unconfirmed), grouped(sum.Filled), grouped(sum.Hidden))
	if formats := formatsOf(st.ByFeed); formats != "" {
		fmt.Fprintf(w, "formats\t%s\n", formats)
	}
	fmt.Fprintf(w, "on disk\t%s, of which %s hold nothing\n", byteSize(st.Bytes), byteSize(st.Free))
	if st.Unindexed > 0 {
		fmt.Fprintf(w, "index\tlacks %s, which searches find all the same, but more slowly\n", counted(st.Unindexed))
	}
	if err := w.Flush(); err != nil || len(st.ByFeed) == 0 {
		return err
	}
	fmt.Fprintln(out)
	heading := []string{"FEED", "TITLE", "ENTRIES", "SIZE", "UNCONFIRMED", "FILLED IN", "HIDDEN", "OLDEST", "NEWEST"}
	bounded := slices.ContainsFunc(st.ByFeed, func(f archive.FeedStats) bool { return keeps(&f) != "" })
	if bounded {
		heading = append(heading, "KEEPS")
	}
	t := newTable(width, 2, heading...)
	for i := range st.ByFeed {
		f := &st.ByFeed[i]
		title := shorten(plainTitle(f.Title), 30)
		if f.Apart {
			title = "(as others know it)"
		}
		cells := []string{printable(string(f.URL)), title, grouped(f.Entries), byteSize(f.Bytes),
			grouped(f.Unconfirmed), grouped(f.Filled), grouped(f.Hidden), day(f.Oldest), day(f.Newest)}
		if bounded {
			cells = append(cells, cmp.Or(keeps(f), "-"))
		}
		t.row(cells...)
	}
	return t.write(out)
}

// formatsOf says how many feeds there are of each format, the commonest first.
func formatsOf(feeds []archive.FeedStats) string {
	counts := make(map[string]int)
	for i := range feeds {
		if f := feeds[i].Format; f != "" {
			counts[f]++
		}
	}
	formats := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	for i, f := range formats {
		formats[i] = fmt.Sprintf("%s: %s", f, grouped(counts[f]))
	}
	return strings.Join(formats, ", ")
}

// keeps is the limit to what is kept of a feed, "" where it has no limit of its own.
func keeps(f *archive.FeedStats) string {
	var bounds []string
	if f.KeepBytes > 0 {
		bounds = append(bounds, byteSize(f.KeepBytes))
	}
	if f.KeepAge > 0 {
		bounds = append(bounds, when.Text(time.Duration(f.KeepAge)*time.Second))
	}
	if f.KeepCount > 0 {
		bounds = append(bounds, counted(f.KeepCount))
	}
	return strings.Join(bounds, ", ")
}

// day is the day of t, "-" for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateOnly)
}
