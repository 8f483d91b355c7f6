package sqlite

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"feedex/archive"
)

// A feedRow is a feed with what is counted of it.
type feedRow struct {
	archive.FeedStats
	kept bool // to ourselves
}

// contentsPage is how many entries FeedStats counts in one statement.
const contentsPage = 10_000

// FeedStats implements archive.Contents. It goes through some half a million entries in a second.
func (r *Reader) FeedStats(ctx context.Context) ([]archive.FeedStats, error) {
	feeds, err := r.feedRows(ctx)
	if err != nil {
		return nil, r.failed(ctx, "read", err)
	}
	for before := int64(math.MaxInt64); ; {
		next, err := r.countPage(ctx, feeds, before)
		if err != nil {
			return nil, r.failed(ctx, "read", err)
		}
		if next == before {
			break
		}
		before = next
	}
	list := make([]archive.FeedStats, 0, len(feeds))
	for _, f := range feeds {
		list = append(list, f.FeedStats)
	}
	slices.SortFunc(list, func(a, b archive.FeedStats) int { return strings.Compare(string(a.URL), string(b.URL)) })
	return list, nil
}

func (r *Reader) feedRows(ctx context.Context) (map[int64]*feedRow, error) {
	rows, err := r.db.QueryContext(ctx, `SELECT id, url, title, subscribed, `+isConfidential+
		`, keep_bytes, keep_age, keep_count, apart FROM feeds f`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	feeds := make(map[int64]*feedRow)
	for rows.Next() {
		var id int64
		f := new(feedRow)
		if err := scan(rows, &id, &f.URL, &f.Title, &f.Subscribed, &f.kept, &f.KeepBytes, &f.KeepAge, &f.KeepCount,
			&f.Apart); err != nil {
			return nil, err
		}
		f.URL, _ = apartOf(f.URL)
		feeds[id] = f
	}
	return feeds, rows.Err()
}

// countPage counts the newest entries before a seq, and returns the lowest of theirs; before at the end.
func (r *Reader) countPage(ctx context.Context, feeds map[int64]*feedRow, before int64) (lowest int64, err error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT e.seq, e.feed, e.time, `+isConfirmed+`, e.seq IN (SELECT seq FROM hidden), e.size
		FROM entries e WHERE e.seq < ? ORDER BY e.seq DESC LIMIT ?`, before, contentsPage)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	lowest = before
	for rows.Next() {
		var seq, id, unix, bytes int64
		var confirmed, hidden bool
		if err := scan(rows, &seq, &id, &unix, &confirmed, &hidden, &bytes); err != nil {
			return 0, err
		}
		if seq >= lowest {
			return 0, errOrder
		}
		lowest = seq
		if f := feeds[id]; f != nil { // else it came while we counted
			f.count(seq, time.Unix(unix, 0).UTC(), bytes, confirmed, hidden)
		}
	}
	return lowest, rows.Err()
}

func (f *feedRow) count(seq int64, at time.Time, bytes int64, confirmed, hidden bool) {
	f.Entries++
	f.Bytes += bytes
	if !confirmed {
		f.Unconfirmed++
	}
	if seq < 0 {
		f.Filled++
	}
	if hidden || f.kept {
		f.Hidden++
	}
	if f.Oldest.IsZero() || at.Before(f.Oldest) {
		f.Oldest = at
	}
	if at.After(f.Newest) {
		f.Newest = at
	}
}
