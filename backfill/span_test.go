package backfill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const exampleFeed = feed.URL("http://example.com/feed")

// A fakeNode answers from its fields.
type fakeNode struct {
	PastSource
	feeds []node.FeedStatus
	pages map[feed.URL]control.ArchiveDocument
	err   error
}

func (n *fakeNode) Feeds(context.Context) ([]node.FeedStatus, error) { return n.feeds, n.err }
func (n *fakeNode) FetchArchive(_ context.Context, u, page feed.URL) (control.ArchiveDocument, error) {
	p, ok := n.pages[cmp.Or(page, u)]
	if !ok {
		return p, errors.New("HTTP status 404")
	}
	return p, n.err
}

// A pastNode plays a network that has entries of a feed, one a minute, and a publisher with an archive.
type pastNode struct {
	fakeNode
	minutes  int
	begun    time.Time
	withheld string // the id of an entry that nobody gives
	stored   map[string]bool
	queries  []feed.Filter
	hops     []int // of each
	limit    int   // of an answer
	cut      []string
	waits    []time.Duration // of each query
	late     int             // so many queries that come next nobody answers in time
	slow     int             // how many entries others can look up in time, 0 for any number
	half     int             // so many after these one of two neighbors, which has every other entry
	plain    bool            // nobody tells since when an answer is complete
}

func (o *pastNode) remote(i int) control.Remote {
	return control.Remote{ID: fmt.Sprint(i), Feed: exampleFeed, Published: o.begun.Add(time.Duration(i) * time.Minute),
		Seen: o.begun.AddDate(1, 0, 0), Holders: make([]protocol.NodeID, 1)}
}

func (o *pastNode) Query(_ context.Context, q control.QueryRequest, each func(control.QueryPart) error) error {
	o.queries, o.hops = append(o.queries, q.Filter), append(o.hops, q.Hops)
	end := &control.QueryEnd{Network: true, Asked: 2, Answers: 2, Cut: o.cut}
	o.waits = append(o.waits, q.Wait)
	step := 1
	switch {
	case o.late > 0:
		o.late--
		end.Answers, end.Cut = 0, []string{"time"}
		return each(control.QueryPart{End: end})
	case o.slow > 0 && q.Filter.Limit > o.slow:
		end.Cut = []string{"time"}
		return each(control.QueryPart{End: end})
	case o.half > 0:
		o.half--
		end.Answers, end.Cut, step = 1, []string{"time"}, 2
	}
	for i := o.minutes - 1; i >= 0; i -= step {
		r := o.remote(i)
		f := q.Filter
		if f.Feed != r.Feed || r.Published.Before(f.Since) || !f.Until.IsZero() && !r.Published.Before(f.Until) {
			continue
		}
		if len(end.Found) == min(o.limit, q.Filter.Limit) {
			end.Cut = append(slices.Clone(end.Cut), "limit")
			if !o.plain && f.Dated {
				end.CompleteSince = r.Published.Add(time.Second)
			}
			break
		}
		end.Found = append(end.Found, r)
	}
	return each(control.QueryPart{End: end})
}

func (o *pastNode) Pull(_ context.Context, list []control.Remote) (p control.PullReport, err error) {
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

func newPast(minutes, limit int) *pastNode {
	return &pastNode{minutes: minutes, limit: limit, begun: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
		stored: make(map[string]bool)}
}

func TestBackfillGoesBackRangeByRange(t *testing.T) {
	for _, tt := range []struct {
		plain          bool
		queries, steps int
	}{
		{false, 6, 6},
		{true, 5*2 + 1, 6},
	} {
		testBackfillGoesBack(t, tt.plain, tt.queries, tt.steps)
	}
}

// A long past takes hardly more queries than answers are needed to list it.
func testBackfillGoesBack(t *testing.T, plain bool, queries, rounds int) {
	t.Helper()
	o := newPast(1050, 200)
	o.plain = plain
	o.withheld = "17"
	o.feeds = []node.FeedStatus{{URL: exampleFeed, Gap: &archive.Gap{Missing: 3}}}
	var steps []Report
	got, err := Span{Feed: exampleFeed, Network: true, Pause: time.Nanosecond}.Run(t.Context(), o,
		func(b Report) { steps = append(steps, b) })
	if err != nil || got.Network != 1049 || len(got.Missing) != 1 || got.Missing[0].ID != "17" || got.Gap == nil ||
		got.Cut != nil {
		t.Fatalf("got %+v, %v", got, err)
	}
	if len(steps) != rounds || len(o.queries) != queries || !got.Back.Equal(o.begun) {
		t.Errorf("%d steps, %d queries, back to %v", len(steps), len(o.queries), got.Back)
	}
	again, err := Span{Feed: exampleFeed, Network: true, Pause: time.Nanosecond}.Run(t.Context(), o,
		func(Report) {})
	if err != nil || again.Network != 0 {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	o = newPast(1000, 200)
	part, err := Span{Feed: exampleFeed, Network: true, Since: o.begun.Add(900 * time.Minute),
		Pause: time.Nanosecond}.Run(t.Context(), o, func(Report) {})
	if err != nil || part.Network != 100 || len(o.queries) != 1 {
		t.Errorf("since minute 900: %+v, %v", part, err)
	}
}

// A neighbor that does not answer in time is asked again, with longer waits, and only so often. Entries that one answer
// lacks are found by the next.
func TestBackfillAsksAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		late, half int
		slow       int
		stored     int
		again      int
		waits      []time.Duration // of the first queries, in seconds
		then       int             // queries with the usual wait
		unanswered bool
		cut        []string
	}{
		"all in time": {stored: 500, then: 3},
		// 50, then 100 at most
		"all late once":   {late: 1, stored: 500, again: 1, waits: []time.Duration{10, 20}, then: 5},
		"some late twice": {half: 2, stored: 500, again: 2, waits: []time.Duration{10, 20, 40}, then: 2},
		"late, some late": {late: 1, half: 1, stored: 500, again: 2, waits: []time.Duration{10, 20, 40}, then: 5},
		"slow archives":   {slow: 30, stored: 500, again: 2, waits: []time.Duration{10, 20, 40}, then: 20},
		"too slow": {slow: 1, again: 2, waits: []time.Duration{10, 20, 40}, unanswered: true,
			cut: []string{"time"}},
		"some always late": {half: 1000, stored: 250, again: 4, waits: []time.Duration{10, 20, 40, 10, 20, 40},
			cut: []string{"time"}},
		"all always late": {late: 1000, again: 2, waits: []time.Duration{10, 20, 40}, unanswered: true,
			cut: []string{"time"}},
	} {
		o := newPast(500, 200)
		o.late, o.half, o.slow = tt.late, tt.half, tt.slow
		got, err := Span{Feed: exampleFeed, Network: true, Pause: time.Nanosecond}.Run(t.Context(), o,
			func(Report) {})
		for i := range tt.waits {
			tt.waits[i] *= time.Second
		}
		tt.waits = append(tt.waits, slices.Repeat([]time.Duration{backfillWait}, tt.then)...)
		if err != nil || got.Network != tt.stored || len(o.stored) != tt.stored || got.Again != tt.again ||
			got.Unanswered != tt.unanswered || !slices.Equal(got.Cut, tt.cut) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if !slices.Equal(o.waits, tt.waits) {
			t.Errorf("%s: waited %v, want %v", name, o.waits, tt.waits)
		}
		if (got.Problem == noneAnswered) != tt.unanswered || got.Asked != 2 {
			t.Errorf("%s: asked %d, problem %q", name, got.Asked, got.Problem)
		}
	}
}

// However often somebody is late, few of the queries are repetitions. Between two there is a pause that grows.
func TestBackfillAsksAgainWithinBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newPast(8000, 200)
		o.half = 1 << 20
		begun := time.Now()
		got, err := Span{Feed: exampleFeed, Network: true}.Run(t.Context(), o, func(Report) {})
		if err != nil || got.Again != maxAgain || len(o.queries) > 2*40+maxAgain ||
			!slices.Equal(got.Cut, []string{"time"}) {
			t.Errorf("%d queries, %+v, %v", len(o.queries), got, err)
		}
		if took, least := time.Since(begun), maxAgain/2*3*backfillPause; took < least {
			t.Errorf("it took %v, want pauses of %v at least", took, least)
		}
	})
}

// Neighbors that do not answer in the middle are no end.
func TestABackfillThatNobodyAnswersAnyMore(t *testing.T) {
	o := newPast(500, 200)
	got, err := Span{Feed: exampleFeed, Network: true, Pause: time.Nanosecond}.Run(t.Context(), o,
		func(Report) { o.late = maxTries })
	if err != nil || !got.Unanswered || got.Network != 200 ||
		!got.Back.Equal(o.begun.Add(299*time.Minute+time.Second)) {
		t.Errorf("%+v, %v", got, err)
	}
}

// However many entries are of one second, it ends.
func TestBackfillEnds(t *testing.T) {
	o := newPast(1, 1)
	o.cut = []string{"limit", "time"}
	got, err := Span{Feed: exampleFeed, Network: true, Pause: time.Nanosecond}.Run(t.Context(), o,
		func(Report) {})
	if err != nil || got.Network != 1 || !slices.Equal(got.Cut, []string{"time", "limit"}) ||
		len(o.queries) > 3*maxTries {
		t.Errorf("%d queries, %+v, %v", len(o.queries), got, err)
	}
	o.err = errors.New("no more")
	if _, err := (Span{Feed: exampleFeed, Network: true}).Run(t.Context(), o, func(Report) {}); err == nil {
		t.Error("an error was passed over")
	}
}

func TestBackfillReadsThePublishersArchive(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2025, 1, n, 0, 0, 0, 0, time.UTC) }
	pages := map[feed.URL]control.ArchiveDocument{
		exampleFeed: {Listed: 2, Newest: day(30), Oldest: day(29), PrevArchive: "http://example.com/2"},
		"http://example.com/2": {Listed: 5, Stored: 5, Newest: day(28), Oldest: day(20),
			PrevArchive: "http://example.com/1"},
		"http://example.com/1":     {Listed: 7, Stored: 6, Newest: day(19), Oldest: day(1)},
		"http://example.com/loop":  {PrevArchive: "http://example.com/loop2"},
		"http://example.com/loop2": {PrevArchive: "http://example.com/loop"},
		"http://example.com/end":   {Listed: 1, Stored: 1, PrevArchive: "http://example.com/none"},
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
		o := &fakeNode{pages: pages}
		got, err := Span{Feed: tt.feed, Since: tt.since, Publisher: true, Pause: time.Nanosecond}.Run(t.Context(),
			o, func(Report) {})
		if err != nil || got.Pages != tt.pages || got.Publisher != tt.stored ||
			(tt.problem == "") != (got.PublisherProblem == "") || !strings.Contains(got.PublisherProblem, tt.problem) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
