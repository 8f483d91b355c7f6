package main

import (
	"strings"
	"testing"

	"feedex/archive"
)

// What is kept of a feed at most has a column where any feed has a limit of its own.
func TestPrintBoundsOfFeeds(t *testing.T) {
	st := archiveStats{File: "feedex.db", ByFeed: []archive.FeedStats{
		{URL: "https://example.com/a", Entries: 1200, KeepBytes: 20 << 20, KeepAge: 90 * 24 * 3600, KeepCount: 1000},
		{URL: "https://example.com/b", Entries: 1},
	}}
	const head = `
archive  feedex.db
entries  0 of 0 feeds; 0 unconfirmed, 0 filled in, 0 hidden
on disk  0 B, of which 0 B hold nothing

`
	wantText(t, head+`FEED                   TITLE  ENTRIES  SIZE  UNCONFIRMED  FILLED IN  HIDDEN  OLDEST  NEWEST  KEEPS
https://example.com/a         1,200    0 B   0            0          0       -       -       20.0 MiB, 90d, 1,000 entries
https://example.com/b         1        0 B   0            0          0       -       -       -
`, func(w *strings.Builder) error { return printStats(w, &st, 0) })
	st.ByFeed = st.ByFeed[1:]
	wantText(t, head+`FEED                   TITLE  ENTRIES  SIZE  UNCONFIRMED  FILLED IN  HIDDEN  OLDEST  NEWEST
https://example.com/b         1        0 B   0            0          0       -       -
`, func(w *strings.Builder) error { return printStats(w, &st, 0) })
}
