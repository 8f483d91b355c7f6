package sqlite

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"feedex/feed"
)

// A FeedStats counts what an archive holds of one feed.
type FeedStats struct {
	URL         feed.URL  `json:"url"`
	Title       string    `json:"title,omitempty"`
	Subscribed  bool      `json:"subscribed"`
	Entries     int64     `json:"entries"`
	Bytes       int64     `json:"bytes"`       // of their texts
	Unconfirmed int64     `json:"unconfirmed"` // of which there is one neighbor's or an export's word
	Filled      int64     `json:"filled"`      // that were filled in from elsewhere
	Hidden      int64     `json:"hidden"`      // not served to others
	Oldest      time.Time `json:"oldest,omitzero"`
	Newest      time.Time `json:"newest,omitzero"`

	// What is kept of it at most; 0 is no limit of its own.
	KeepBytes int64 `json:"keep_bytes,omitempty"` // of texts
	KeepAge   int64 `json:"keep_age,omitempty"`   // seconds
	KeepCount int64 `json:"keep_count,omitempty"` // entries

	// Apart says that these are the entries of a feed that is followed discreetly as others know them.
	Apart bool `json:"apart,omitempty"`

	kept bool // to ourselves
}

// contentsPage is how many entries FeedStats counts in one statement.
const contentsPage = 10_000

// FeedStats counts what the archive holds of each feed, ordered by URL. It goes through all entries, some half a
// million in a second, and holds no snapshot meanwhile.
func (r *Reader) FeedStats(ctx context.Context) ([]FeedStats, error) {
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
	list := make([]FeedStats, 0, len(feeds))
	for _, f := range feeds {
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b FeedStats) int { return strings.Compare(string(a.URL), string(b.URL)) })
	return list, nil
}

func (r *Reader) feedRows(ctx context.Context) (map[int64]*FeedStats, error) {
	rows, err := r.db.QueryContext(ctx, `SELECT id, url, title, subscribed, `+isConfidential+
		`, keep_bytes, keep_age, keep_count, apart FROM feeds f`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	feeds := make(map[int64]*FeedStats)
	for rows.Next() {
		var id int64
		f := new(FeedStats)
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
func (r *Reader) countPage(ctx context.Context, feeds map[int64]*FeedStats, before int64) (lowest int64, err error) {
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

func (f *FeedStats) count(seq int64, at time.Time, bytes int64, confirmed, hidden bool) {
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
