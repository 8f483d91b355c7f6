package daemon

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// newPastFillerOf is a pastFiller of o that keeps what it does in what o tells of its feeds.
func newPastFillerOf(o control.Owner, feeds []node.FeedStatus, hops int) (p *pastFiller, turns *[]feed.URL) {
	turns = new([]feed.URL)
	keep := func(_ context.Context, ev node.Backfilled) error {
		for i := range feeds {
			if feeds[i].URL == ev.Feed {
				status := node.PastStatus(ev.Past)
				feeds[i].Past = &status
			}
		}
		*turns = append(*turns, ev.Feed)
		return nil
	}
	p = newPastFiller(o, keep, func(feed.URL, archive.Past, string) {}, hops)
	p.pause = time.Nanosecond
	return p, turns
}

// steps makes n steps, a minute apart, and returns the time after them.
func (p *pastFiller) steps(t *testing.T, now time.Time, n int) time.Time {
	t.Helper()
	for range n {
		if err := p.step(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute)
	}
	return now
}

func TestThePastIsFilledInStepByStep(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2025, 1, n, 0, 0, 0, 0, time.UTC) }
	o := newPast(450, 200)
	o.pages = map[feed.URL]control.ArchiveDocument{
		"http://example.com/2": {Listed: 5, Stored: 5, Newest: day(28), Oldest: day(20),
			PrevArchive: "http://example.com/1"},
		"http://example.com/1": {Listed: 7, Stored: 6, Newest: day(19), Oldest: day(1),
			PrevArchive: "http://example.com/2"},
	}
	o.feeds = []node.FeedStatus{{URL: exampleFeed, Offered: 1,
		Past: &node.PastStatus{Stage: archive.PastPublisher, Page: "http://example.com/2"}}}
	p, turns := newPastFillerOf(o, o.feeds, 1)
	for i, want := range []node.PastStatus{
		{Stage: archive.PastPublisher, Page: "http://example.com/1", Steps: 1, Back: day(20), Filled: 5},
		{Stage: archive.PastNetwork, Filled: 11}, // it leads in a circle
		{Stage: archive.PastNetwork, Filled: 211, Steps: 1, Back: o.begun.Add(249*time.Minute + time.Second)},
		{Stage: archive.PastNetwork, Filled: 411, Steps: 2, Back: o.begun.Add(49*time.Minute + time.Second)},
		{Stage: archive.PastDone, Filled: 461, Steps: 3, Back: o.begun},
	} {
		p.steps(t, o.begun.Add(time.Duration(i)*pastAgain), 1)
		if got := o.feeds[0].Past; *got != want {
			t.Fatalf("step %d: %+v, want %+v", i+1, *got, want)
		}
	}
	p.steps(t, o.begun.Add(24*time.Hour), 1)
	if len(*turns) != 5 || len(o.stored) != 450 {
		t.Errorf("%d steps, %d entries of the network", len(*turns), len(o.stored))
	}
}

// A publisher or network that cannot be asked is left alone for a while, and a publisher's archive that is broken is
// given up for the network's. The feeds take turns.
func TestThePastWaitsForThoseWhoHaveIt(t *testing.T) {
	o := newPast(10, 200)
	at := func(stage archive.PastStage, change func(f *node.FeedStatus)) node.FeedStatus {
		f := node.FeedStatus{URL: exampleFeed, Offered: 1, Past: &node.PastStatus{Stage: stage}}
		change(&f)
		return f
	}
	for name, tt := range map[string]struct {
		feed node.FeedStatus
		hops int
	}{
		"private":              {at(archive.PastPublisher, func(f *node.FeedStatus) { f.Private = true }), 1},
		"discreet":             {at(archive.PastNetwork, func(f *node.FeedStatus) { f.Discreet = true }), 1},
		"nobody has it":        {at(archive.PastNetwork, func(f *node.FeedStatus) { f.Offered = 0 }), 1},
		"nobody may be asked":  {at(archive.PastNetwork, func(*node.FeedStatus) {}), 0},
		"not polled yet":       {at(archive.PastPoll, func(*node.FeedStatus) {}), 1},
		"there is no past":     {at("", func(f *node.FeedStatus) { f.Past = nil }), 1},
		"there is none of any": {},
	} {
		o.feeds = []node.FeedStatus{tt.feed}
		if tt.feed.URL == "" {
			o.feeds = nil
		}
		p, turns := newPastFillerOf(o, o.feeds, tt.hops)
		if p.steps(t, o.begun, 2); len(*turns) != 0 || len(o.queries) != 0 {
			t.Errorf("%s: %v, asked %v", name, *turns, o.queries)
		}
	}

	gone := node.PastStatus{Stage: archive.PastPublisher, Page: "http://example.com/gone"}
	o.feeds = []node.FeedStatus{{URL: "http://example.com/a", Past: &gone}, {URL: "http://example.com/b", Past: &gone}}
	p, turns := newPastFillerOf(o, o.feeds, 1)
	now := p.steps(t, o.begun, 5)
	if want := []feed.URL{"http://example.com/a", "http://example.com/b"}; !slices.Equal(*turns, want) {
		t.Errorf("turns %v, want each once", *turns)
	}
	for range pastTries {
		now = p.steps(t, now.Add(pastAgain), 2)
	}
	if a := o.feeds[0].Past; len(*turns) != 2*pastTries || a.Stage != archive.PastNetwork || a.Page != "" ||
		a.Tries != 0 || !a.Again.IsZero() {
		t.Errorf("after %d steps: %+v", len(*turns), a)
	}

	o.err = errors.New("no more")
	o.feeds[0].Offered = 1
	before := *o.feeds[0].Past
	if err := p.step(t.Context(), now); err == nil || *o.feeds[0].Past != before {
		t.Errorf("an error was passed over: %v, %+v", err, o.feeds[0].Past)
	}
}

// That nobody answers is no end: neighbors are asked again, ever later, and go on where they were. All of it is kept,
// so that a restart changes nothing. At last what is lacking is given up, and stands there.
func TestThePastComesBackToThoseWhoDoNotAnswer(t *testing.T) {
	for _, silent := range []int{1, 3, pastReturns, pastReturns + 1} {
		o := newPast(300, 200)
		o.feeds = []node.FeedStatus{{URL: exampleFeed, Offered: 1, Past: &node.PastStatus{Stage: archive.PastNetwork}}}
		p, _ := newPastFillerOf(o, o.feeds, 1)
		now := p.steps(t, o.begun, 1)
		part, wait := *o.feeds[0].Past, pastAgain
		o.late = silent * maxTries
		for try := range silent {
			p, _ = newPastFillerOf(o, o.feeds, 1) // another process
			begun := now
			now = p.steps(t, now, 3)
			got, asked := *o.feeds[0].Past, 1+(try+1)*maxTries
			if try == pastReturns {
				if got.Stage != archive.PastDone || got.Lack != "time" || !got.Left.Equal(part.Back) ||
					got.Filled != 200 {
					t.Errorf("given up: %+v", got)
				}
				break
			}
			if len(o.queries) != asked || got.Back != part.Back || got.Tries != try+1 ||
				!got.Again.Equal(begun.Add(wait)) {
				t.Fatalf("%d times nobody answered: %+v, asked %d times", try+1, got, len(o.queries))
			}
			if p.steps(t, got.Again.Add(-time.Minute), 1); len(o.queries) != asked {
				t.Fatalf("it comes back before %v", got.Again)
			}
			now, wait = got.Again, wait*pastGrowth
		}
		if silent > pastReturns {
			continue
		}
		p.steps(t, now, 1)
		if got := *o.feeds[0].Past; got.Stage != archive.PastDone || got.Filled != 300 || got.Lack != "" {
			t.Errorf("answered after %d times: %+v", silent, got)
		}
	}
}

// Where an answer is not whole, or not all of it is given, the past is not done: it begins again where something was
// lacking, until nothing is, or nothing comes any more.
func TestThePastComesBackForWhatIsLacking(t *testing.T) {
	for name, tt := range map[string]struct {
		lack  func(o *pastOwner)
		mend  func(o *pastOwner)
		why   string
		first int // entries that came at first
		from  int // the minute where it begins again
	}{
		"hops": {lack: func(o *pastOwner) { o.cut = []string{"hops"} }, mend: func(o *pastOwner) { o.cut = nil },
			why: "hops", first: 1050},
		"limit": {lack: func(o *pastOwner) { o.cut = []string{"limit"} }, mend: func(o *pastOwner) { o.cut = nil },
			why: "limit", first: 1050},
		"refused": {lack: func(o *pastOwner) { o.withheld = "17" }, mend: func(o *pastOwner) { o.withheld = "" },
			why: "refused", first: 1049, from: 49},
		"late": {lack: func(o *pastOwner) { o.half = maxTries }, mend: func(*pastOwner) {}, why: "time", first: 850},
	} {
		for _, mended := range []bool{true, false} {
			o := newPast(1050, 200)
			o.feeds = []node.FeedStatus{{URL: exampleFeed, Offered: 1,
				Past: &node.PastStatus{Stage: archive.PastNetwork}}}
			tt.lack(o)
			p, _ := newPastFillerOf(o, o.feeds, 1)
			round := func(now time.Time) (got node.PastStatus) {
				for range 100 {
					now = p.steps(t, now, 1)
					if got = *o.feeds[0].Past; got.Stage == archive.PastDone || !got.Again.IsZero() {
						break
					}
				}
				return got
			}
			got := round(o.begun)
			if got.Stage != archive.PastNetwork || got.Lack != tt.why || got.Tries != 1 || got.Filled != tt.first ||
				got.Again.IsZero() {
				t.Fatalf("%s: at the end of the first round %+v", name, got)
			}
			if from := o.begun.Add(time.Duration(tt.from)*time.Minute + time.Second); tt.from > 0 &&
				!got.Back.Equal(from) {
				t.Errorf("%s: begins again at %v, want %v", name, got.Back, from)
			}
			if mended {
				tt.mend(o)
			}
			rounds := 1
			for ; rounds < 100 && got.Stage == archive.PastNetwork; rounds++ {
				got = round(got.Again)
			}
			switch whole := mended || name == "late"; {
			case whole && (rounds != 2 || got.Lack != "" || got.Filled != 1050):
				t.Errorf("%s, mended: %+v after %d rounds", name, got, rounds)
			case !whole && (rounds != pastReturns+1 || got.Lack != tt.why || got.Filled != tt.first):
				t.Errorf("%s: %+v after %d rounds", name, got, rounds)
			}
		}
	}
}

// A node fills in the past of what it follows by itself: from the publisher's archive and then from a neighbor, over
// restarts, without its owner, and as no news.
func TestFollowingAFeedFillsInItsPast(t *testing.T) {
	u := startArchive(t, "")
	holder := startNode(t, Config{Subscribe: []feed.URL{u}, Node: node.Config{MinNeighbors: 1}})
	holder.waitArrival(u)
	old := feed.Entry{Feed: u, ID: "older than the archive", Title: "Walrus",
		Published: time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)}
	r := archive.NewRecord(old, old.Published, protocol.NodeID{})
	if _, err := holder.client.Import(t.Context(), []jsonl.Line{jsonl.NewLine(&r, false)}); err != nil {
		t.Fatal(err)
	}

	c := Config{Data: t.TempDir(), Subscribe: []feed.URL{u},
		Node:      node.Config{MinNeighbors: 1, Peers: []string{holder.at.Listen}, Backfill: 10 * 365 * 24 * time.Hour},
		pastPause: time.Millisecond}
	n := startNode(t, c)
	first := n.waitArrival(u)
	n.waitPast(u, func(p *node.PastStatus) bool { return p == nil || p.Filled > 0 })
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	n = startNode(t, c)
	n.waitPast(u, func(p *node.PastStatus) bool { return p == nil })
	records, err := n.client.Search(t.Context(), feed.Filter{Feed: u})
	if err != nil || len(first.Records) != 1 || len(records) != 4 {
		t.Fatalf("%d came first, %d in the end, %v", len(first.Records), len(records), err)
	}
	for _, r := range records {
		if news := r.ID == first.Records[0].ID; news != (r.Seq > 0) {
			t.Errorf("%s has seq %d", r.Entry.ID, r.Seq)
		}
	}
}

// What the owner has read of a publisher's archive the node does not read again by itself.
func TestABackfillIsNotRepeatedInTheBackground(t *testing.T) {
	u := startArchive(t, "")
	n := startNode(t, Config{Subscribe: []feed.URL{u}, Node: node.Config{Backfill: 10 * 365 * 24 * time.Hour},
		pastPause: time.Hour})
	n.waitArrival(u)
	n.waitPast(u, func(p *node.PastStatus) bool { return p != nil && p.Stage == archive.PastPublisher })
	ctx, cancel := context.WithCancel(t.Context())
	fill := Backfill{Feed: u, Publisher: true, Pause: time.Millisecond}
	if got, err := fill.Run(ctx, n.client, func(b BackfillReport) {
		if b.Pages == 2 {
			cancel()
		}
	}); err == nil {
		t.Fatalf("it was not broken off: %+v", got)
	}
	n.waitPast(u, func(p *node.PastStatus) bool {
		return p.Steps == 1 && p.Filled == 1 && strings.HasSuffix(string(p.Page), "/2024")
	})
	if got, err := fill.Run(t.Context(), n.client, func(BackfillReport) {}); err != nil || got.Pages != 3 ||
		got.Publisher != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	n.waitPast(u, func(p *node.PastStatus) bool {
		return p.Stage == archive.PastNetwork && p.Page == "" &&
			p.Filled == 2
	})
}

// Nor does it where the feed has not been polled yet: what was read counts, and the poll begins nothing anew.
func TestABackfillBeforeTheFirstPollIsNotRepeated(t *testing.T) {
	origin := strings.TrimSuffix(string(startArchive(t, "")), "/feed")
	var down atomic.Bool
	down.Store(true)
	reads := make(map[string]int)
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		mu.Lock()
		reads[r.URL.Path]++
		mu.Unlock()
		resp, err := http.Get(origin + r.URL.Path)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", "application/atom+xml")
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(srv.Close)
	u := feed.URL(srv.URL + "/feed")
	n := startNode(t, Config{Subscribe: []feed.URL{u}, Node: node.Config{Backfill: 10 * 365 * 24 * time.Hour},
		pastPause: time.Hour})
	n.waitPast(u, func(p *node.PastStatus) bool { return p != nil && p.Stage == archive.PastPoll })
	n.waitFeed(u, func(f *node.FeedStatus) bool { return f.LastError != "" })
	down.Store(false)
	if got, err := (Backfill{Feed: u, Publisher: true, Pause: time.Millisecond}).Run(t.Context(), n.client,
		func(BackfillReport) {}); err != nil || got.Pages != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	done := func(p *node.PastStatus) bool { return p.Stage == archive.PastNetwork && p.Page == "" && p.Steps == 0 }
	n.waitPast(u, done)
	mu.Lock()
	defer mu.Unlock()
	if len(reads) != 3 || reads["/2025"] != 1 || reads["/2024"] != 1 {
		t.Errorf("read %v", reads)
	}
}

// waitFeed waits until the feed is as is wanted.
func (n *testNode) waitFeed(u feed.URL, want func(*node.FeedStatus) bool) {
	n.t.Helper()
	var last node.FeedStatus
	for end := time.Now().Add(patience); time.Now().Before(end); breathe() {
		feeds, err := n.client.Feeds(n.t.Context())
		if err != nil {
			n.t.Fatal(err)
		}
		for i := range feeds {
			if last = feeds[i]; last.URL == u && want(&last) {
				return
			}
		}
	}
	n.t.Fatalf("the feed stays at %+v", last)
}

// waitPast waits until the past of the feed is as is wanted.
func (n *testNode) waitPast(u feed.URL, want func(*node.PastStatus) bool) {
	n.t.Helper()
	n.waitFeed(u, func(f *node.FeedStatus) bool { return want(f.Past) })
}
