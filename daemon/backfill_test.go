package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// A pastOwner plays a network that has entries of a feed, one a minute, and a publisher with an archive.
type pastOwner struct {
	fakeOwner
	minutes  int
	begun    time.Time
	withheld string // the id of an entry that nobody gives
	stored   map[string]bool
	queries  []feed.Filter
	hops     []int // of each
	limit    int   // of an answer
	cut      []string
}

func (o *pastOwner) remote(i int) Remote {
	return Remote{ID: fmt.Sprint(i), Feed: exampleFeed, Published: o.begun.Add(time.Duration(i) * time.Minute), Seen: o.begun.AddDate(1, 0, 0), Holders: make([]protocol.NodeID, 1)}
}

func (o *pastOwner) Query(_ context.Context, q Query, each func(QueryPart) error) error {
	o.queries, o.hops = append(o.queries, q.Filter), append(o.hops, q.Hops)
	end := &QueryEnd{Network: true, Asked: 2, Cut: o.cut}
	for i := o.minutes - 1; i >= 0; i-- {
		r := o.remote(i)
		f := q.Filter
		if f.Feed != r.Feed || r.Published.Before(f.Since) || !f.Until.IsZero() && !r.Published.Before(f.Until) {
			continue
		}
		if len(end.Found) == o.limit {
			end.Cut = append(slices.Clone(o.cut), "limit")
			break
		}
		end.Found = append(end.Found, r)
	}
	return each(QueryPart{End: end})
}

func (o *pastOwner) Pull(_ context.Context, list []Remote) (p Pulled, err error) {
	for _, r := range list {
		switch {
		case o.stored[r.ID]:
		case r.ID == o.withheld:
			p.Missing = append(p.Missing, r.ID)
		default:
			o.stored[r.ID] = true
			p.Stored = append(p.Stored, r.ID)
		}
	}
	return p, o.err
}

func newPast(minutes, limit int) *pastOwner {
	return &pastOwner{minutes: minutes, limit: limit, begun: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), stored: make(map[string]bool)}
}

func TestBackfillGoesBackRangeByRange(t *testing.T) {
	o := newPast(1000, 200)
	o.withheld = "17"
	o.feeds = []node.FeedStatus{{URL: exampleFeed, Gap: &node.GapStatus{Missing: 3}}}
	var steps []Backfilled
	got, err := Backfill{Feed: exampleFeed, Network: true, Pause: time.Nanosecond}.Run(t.Context(), o, func(b Backfilled) { steps = append(steps, b) })
	if err != nil || got.Network != 999 || len(got.Missing) != 1 || got.Missing[0].ID != "17" || got.Gap == nil || got.Cut != nil {
		t.Fatalf("got %+v, %v", got, err)
	}
	if len(steps) != 6 || len(o.queries) != 6 || !got.Back.Equal(o.begun) {
		t.Errorf("%d steps, %d queries, back to %v", len(steps), len(o.queries), got.Back)
	}
	again, err := Backfill{Feed: exampleFeed, Network: true, Pause: time.Nanosecond}.Run(t.Context(), o, func(Backfilled) {})
	if err != nil || again.Network != 0 {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	o = newPast(1000, 200)
	part, err := Backfill{Feed: exampleFeed, Network: true, Since: o.begun.Add(900 * time.Minute), Pause: time.Nanosecond}.Run(t.Context(), o, func(Backfilled) {})
	if err != nil || part.Network != 100 || len(o.queries) != 1 {
		t.Errorf("since minute 900: %+v, %v", part, err)
	}
}

// However many entries are of one second, it ends.
func TestBackfillEnds(t *testing.T) {
	o := newPast(1, 1)
	o.cut = []string{"limit", "time"}
	got, err := Backfill{Feed: exampleFeed, Network: true, Pause: time.Nanosecond}.Run(t.Context(), o, func(Backfilled) {})
	if err != nil || got.Network != 1 || !slices.Equal(got.Cut, []string{"time"}) || len(o.queries) > 3 {
		t.Errorf("%d queries, %+v, %v", len(o.queries), got, err)
	}
	o.err = errors.New("no more")
	if _, err := (Backfill{Feed: exampleFeed, Network: true}).Run(t.Context(), o, func(Backfilled) {}); err == nil {
		t.Error("an error was passed over")
	}
}

func TestBackfillReadsThePublishersArchive(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2025, 1, n, 0, 0, 0, 0, time.UTC) }
	pages := map[feed.URL]ArchivePage{
		exampleFeed:                {Listed: 2, Newest: day(30), Oldest: day(29), Older: "http://example.com/2"},
		"http://example.com/2":     {Listed: 5, Stored: 5, Newest: day(28), Oldest: day(20), Older: "http://example.com/1"},
		"http://example.com/1":     {Listed: 7, Stored: 6, Newest: day(19), Oldest: day(1)},
		"http://example.com/loop":  {Older: "http://example.com/loop2"},
		"http://example.com/loop2": {Older: "http://example.com/loop"},
		"http://example.com/end":   {Listed: 1, Stored: 1, Older: "http://example.com/none"},
	}
	for name, tt := range map[string]struct {
		feed    feed.URL
		since   time.Time
		pages   int
		stored  int
		problem string
	}{
		"whole":       {exampleFeed, time.Time{}, 3, 11, ""},
		"since":       {exampleFeed, day(20), 3, 11, ""}, // the last shows that there is no more
		"since later": {exampleFeed, day(29), 2, 5, ""},
		"in a circle": {"http://example.com/loop", time.Time{}, 2, 0, "leads back to http://example.com/loop"},
		"broken":      {"http://example.com/end", time.Time{}, 1, 1, "HTTP status 404"},
	} {
		o := &fakeOwner{pages: pages}
		got, err := Backfill{Feed: tt.feed, Since: tt.since, Publisher: true, Pause: time.Nanosecond}.Run(t.Context(), o, func(Backfilled) {})
		if err != nil || got.Pages != tt.pages || got.Publisher != tt.stored || (tt.problem == "") != (got.PublisherProblem == "") || !strings.Contains(got.PublisherProblem, tt.problem) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
