package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/lab/experiment"
	"feedex/lab/trace"
)

// publishingSpan is of how many days the feeds of an archive are summed up, as the built-in traces are.
const publishingSpan = 35

// errTooYoung says that no day is whole.
var errTooYoung = hintedError{fmt.Errorf("the archive holds no entries of a whole day, UTC, in which the node polled"),
	"'feedex archive stats' counts what it holds; try again in a day or two"}

// printPublishing sums up what the feeds of an archive publish as the FeedEx paper does (§2), over the latest whole
// days, UTC, since the first entry arrived. An entry counts when its publisher dates it, or where that is before it
// could be read or not said, when it arrived.
func printPublishing(ctx context.Context, out io.Writer, entries archive.Contents, now time.Time) error {
	times := make(map[feed.URL][]int64)
	begun := now
	for e, err := range entries.Export(ctx, "") {
		if err != nil {
			return err
		}
		at := e.Entry.Published
		if at.IsZero() || at.After(e.Seen) {
			at = e.Seen
		}
		times[e.Entry.Feed] = append(times[e.Entry.Feed], at.Unix())
		if e.Seq > 0 && e.Seen.Before(begun) {
			begun = e.Seen
		}
	}
	const day = 24 * time.Hour
	to := now.UTC().Truncate(day)
	from := begun.UTC().Add(day - 1).Truncate(day)
	if first := to.Add(-publishingSpan * day); from.Before(first) {
		from = first
	}
	if !from.Before(to) {
		return errTooYoung
	}
	set := &trace.Set{From: from, To: to}
	for u, at := range times {
		slices.Sort(at)
		first, _ := slices.BinarySearch(at, from.Unix())
		end, _ := slices.BinarySearch(at, to.Unix())
		set.Feeds = append(set.Feeds, trace.Timeline{Name: string(u), Kind: "all", Window: 1, Times: at[first:end]})
	}
	slices.SortFunc(set.Feeds, func(a, b trace.Timeline) int { return cmp.Compare(a.Name, b.Name) })
	if len(set.Feeds) == 0 {
		return errTooYoung
	}
	r, err := experiment.Publishing{Traces: set}.Run(ctx, nil)
	if err != nil {
		return err
	}
	return r.Write(out)
}
