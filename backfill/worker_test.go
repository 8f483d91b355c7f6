package backfill

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/reading"
)

func TestGapsAreFilledFromTheNetwork(t *testing.T) {
	o := newPast(100, 200)
	gap := &archive.Gap{After: o.begun.Add(10 * time.Minute), Before: o.begun.Add(30 * time.Minute), Missing: 19}
	o.feeds = []node.FeedStatus{
		{URL: exampleFeed, Gap: gap},
		{URL: "http://example.com/whole"},
		{URL: "http://example.com/private", Gap: gap, Private: true},
		{URL: "http://example.com/discreet", Gap: gap, Discreet: true},
	}
	g, _ := newTestWorker(o, o.feeds, 1)
	now := o.begun
	for i, step := range []struct {
		after time.Duration
		asked int
	}{{0, 1}, {gapsEvery, 1}, {gapAgain, 2}} {
		now = now.Add(step.after)
		if err := g.fillGaps(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(o.hops, func(h int) bool { return h != 1 }) {
			t.Error("more than neighbors were asked")
		}
		if len(o.queries) != step.asked {
			t.Errorf("sweep %d: asked %d times, want %d", i+1, len(o.queries), step.asked)
		}
	}
	if len(o.stored) != 20 || o.stored["9"] || !o.stored["10"] || o.stored["30"] {
		t.Errorf("stored %v", o.stored)
	}
	o.feeds = nil
	if err := g.fillGaps(t.Context(), now); err != nil || len(g.tried) != 0 {
		t.Errorf("feeds that are gone are remembered: %v, %v", g.tried, err)
	}
}

// A feed that others cannot be asked about keeps nobody from asking about the next; while the node rests nobody is
// asked, and all are soon after.
func TestAGapThatCannotBeAskedAbout(t *testing.T) {
	for want, err := range map[int]error{1: reading.ErrRests, 2: errors.New("of this feed")} {
		o := newPast(100, 200)
		gap := &archive.Gap{After: o.begun, Before: o.begun.Add(time.Hour), Missing: 9}
		o.feeds = []node.FeedStatus{{URL: exampleFeed, Gap: gap}, {URL: "http://example.com/other", Gap: gap}}
		n := failingNode{o, err, 0}
		w, _ := newTestWorker(&n, o.feeds, 1)
		got := w.fillGaps(t.Context(), o.begun)
		if rests := want == 1; n.asked != want || (got != nil) != rests || (len(w.tried) == 0) != rests {
			t.Errorf("%v: asked %d times, %d are left alone, %v", err, n.asked, len(w.tried), got)
		}
	}
}

// A failingNode fails each query.
type failingNode struct {
	*pastNode
	err   error
	asked int
}

func (n *failingNode) Query(context.Context, control.QueryRequest, func(control.QueryPart) error) error {
	n.asked++
	return n.err
}

// Gaps that nobody could fill for long are asked about ever more rarely: the last of a gap may be a wrong guess.
func TestOldGapsAreAskedAboutRarely(t *testing.T) {
	o := newPast(100, 200)
	o.feeds = []node.FeedStatus{{URL: exampleFeed, Gap: &archive.Gap{After: o.begun.Add(-time.Minute),
		Before: o.begun, Missing: 19}}}
	g, _ := newTestWorker(o, o.feeds, 1)
	for age := gapsEvery; age < 28*24*time.Hour; age += gapsEvery {
		if err := g.fillGaps(t.Context(), o.begun.Add(age)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(o.queries); n < 10 || n > 20 {
		t.Errorf("asked %d times in four weeks, want 10 to 20", n)
	}
}

// The owner bounds how far the node asks by itself.
func TestHowFarGapsAreAskedAbout(t *testing.T) {
	for setting, want := range map[node.QueryNetwork]int{"": 1, node.AskNetwork: 1, node.AlwaysNetwork: 3,
		node.NeverNetwork: 0} {
		if got := hopsOf(setting); got != want {
			t.Errorf("%q: %d hops, want %d", setting, got, want)
		}
	}
}

// newTestWorker is a Worker for n that keeps what it does in what n tells of its feeds.
func newTestWorker(n PastSource, feeds []node.FeedStatus, hops int) (w *Worker, turns *[]feed.URL) {
	turns = new([]feed.URL)
	keep := func(_ context.Context, ev node.Backfilled) error {
		for i := range feeds {
			if feeds[i].URL == ev.Feed {
				feeds[i].Past = &ev.Past
			}
		}
		*turns = append(*turns, ev.Feed)
		return nil
	}
	w = NewWorker(n, Config{Keep: keep, Log: slog.New(slog.DiscardHandler)})
	w.hops, w.pause = hops, time.Nanosecond
	return w, turns
}

// That a feed has no past is told to nobody who did not ask for everything.
func TestNothingFilledInIsNoNews(t *testing.T) {
	for filled, want := range map[int]bool{0: false, 3: true} {
		var log strings.Builder
		w := NewWorker(nil, Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
		w.logPast("https://example.com/feed", &archive.Past{Stage: archive.PastDone, Filled: filled}, "")
		if told := log.Len() > 0; told != want {
			t.Errorf("%d filled in: told %q", filled, log.String())
		}
	}
}

// steps makes n steps, a minute apart, and returns the time after them.
func (w *Worker) steps(t *testing.T, now time.Time, n int) time.Time {
	t.Helper()
	for range n {
		if err := w.stepBack(t.Context(), now); err != nil {
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
		Past: &archive.Past{Stage: archive.PastPublisher, Page: "http://example.com/2"}}}
	p, turns := newTestWorker(o, o.feeds, 1)
	for i, want := range []archive.Past{
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

// An archive without an end, and of any size, is read by itself up to so many documents and so much text; who asks for
// it has more.
func TestThePastThatNobodyAskedForIsBounded(t *testing.T) {
	for bytes, want := range map[int64]int{1 << 10: maxPages, 8_600_000: 24} {
		o := newPast(0, 200)
		o.pages = make(map[feed.URL]control.ArchiveDocument)
		at := func(i int) feed.URL { return feed.URL(fmt.Sprintf("%s?%d", exampleFeed, i)) }
		for i := range maxPages + 2 {
			o.pages[at(i)] = control.ArchiveDocument{Listed: 9, Stored: 9, Bytes: bytes, PrevArchive: at(i + 1)}
		}
		o.pages[exampleFeed] = o.pages[at(0)]
		o.feeds = []node.FeedStatus{{URL: exampleFeed, Past: &archive.Past{Stage: archive.PastPublisher, Page: at(1)}}}
		p, turns := newTestWorker(o, o.feeds, 1)
		if p.steps(t, o.begun, maxPages+1); len(*turns) != want || o.feeds[0].Past.Stage != archive.PastNetwork {
			t.Errorf("of %d bytes %d documents were read, want %d: %+v", bytes, len(*turns), want, o.feeds[0].Past)
		}
		s := Span{Feed: exampleFeed, Publisher: true, Pause: time.Nanosecond}
		if got, err := s.Run(t.Context(), o, func(Report) {}); err != nil || got.Pages != maxPages ||
			got.PublisherProblem == "" {
			t.Errorf("who asks has %d documents of %d bytes, want %d: %q, %v", got.Pages, bytes, maxPages,
				got.PublisherProblem, err)
		}
	}
}

// A step is kept with where it began, as others may have gone on from there meanwhile; what could not be kept is done
// once more.
func TestAStepSaysWhereItBegan(t *testing.T) {
	const first, second feed.URL = "http://example.com/2", "http://example.com/1"
	o := newPast(0, 200)
	o.pages = map[feed.URL]control.ArchiveDocument{first: {Listed: 5, Stored: 5, PrevArchive: second}}
	from := archive.Past{Stage: archive.PastPublisher, Page: first, Steps: 1}
	past := from
	o.feeds = []node.FeedStatus{{URL: exampleFeed, Past: &past}}
	var kept []node.Backfilled
	full := errors.New("the disk is full")
	keep := func(_ context.Context, ev node.Backfilled) error {
		if kept = append(kept, ev); len(kept) == 1 {
			return full
		}
		return nil
	}
	w := NewWorker(o, Config{Keep: keep, Log: slog.New(slog.DiscardHandler)})
	if err := w.stepBack(t.Context(), o.begun); !errors.Is(err, full) {
		t.Fatal(err)
	}
	w.steps(t, o.begun, 1)
	want := archive.Past{Stage: archive.PastPublisher, Page: second, Steps: 2, Filled: 5}
	if len(kept) != 2 || kept[1] != (node.Backfilled{Feed: exampleFeed, From: from, Past: want}) {
		t.Errorf("kept is %+v", kept)
	}
}

// A publisher or network that cannot be asked is left alone for a while, and a publisher's archive that is broken is
// given up for the network's. The feeds take turns.
func TestThePastWaitsForThoseWhoHaveIt(t *testing.T) {
	o := newPast(10, 200)
	at := func(stage archive.PastStage, change func(f *node.FeedStatus)) node.FeedStatus {
		f := node.FeedStatus{URL: exampleFeed, Offered: 1, Past: &archive.Past{Stage: stage}}
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
		p, turns := newTestWorker(o, o.feeds, tt.hops)
		if p.steps(t, o.begun, 2); len(*turns) != 0 || len(o.queries) != 0 {
			t.Errorf("%s: %v, asked %v", name, *turns, o.queries)
		}
	}

	gone := archive.Past{Stage: archive.PastPublisher, Page: "http://example.com/gone"}
	o.feeds = []node.FeedStatus{{URL: "http://example.com/a", Past: &gone}, {URL: "http://example.com/b", Past: &gone}}
	p, turns := newTestWorker(o, o.feeds, 1)
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
	if err := p.stepBack(t.Context(), now); err == nil || *o.feeds[0].Past != before {
		t.Errorf("an error was passed over: %v, %+v", err, o.feeds[0].Past)
	}
}

// A laterNode has no publisher that can be asked now, but for one.
type laterNode struct {
	*pastNode
	open  feed.URL
	asked []feed.URL
}

func (n *laterNode) FetchArchive(_ context.Context, u, _ feed.URL) (control.ArchiveDocument, error) {
	if n.asked = append(n.asked, u); u == n.open {
		return control.ArchiveDocument{}, nil
	}
	return control.ArchiveDocument{}, fmt.Errorf("%w: the host rests", ErrLater)
}

// That nobody was asked for a publisher's archive is no attempt, and another feed has its turn. Who waits is told.
func TestAnArchiveThatCannotBeAskedForYet(t *testing.T) {
	n := &laterNode{pastNode: newPast(10, 200)}
	begun := archive.Past{Stage: archive.PastPublisher, Page: "http://example.com/2024"}
	one, two := begun, begun
	n.feeds = []node.FeedStatus{{URL: "http://example.com/a", Past: &one}, {URL: "http://example.com/b", Past: &two}}
	w, _ := newTestWorker(n, n.feeds, 1)
	for i := range 3 * pastTries {
		if err := w.stepBack(t.Context(), n.begun.Add(time.Duration(i)*pastAgain)); !errors.Is(err, ErrLater) {
			t.Fatal(err)
		}
	}
	for _, f := range n.feeds {
		if *f.Past != begun || !slices.Contains(n.asked, f.URL) {
			t.Errorf("%s is at %+v; turns %v", f.URL, f.Past, n.asked)
		}
	}
	n.asked, n.open, w.last = nil, "http://example.com/b", ""
	if err := w.stepBack(t.Context(), n.begun); err != nil || len(n.asked) != 2 {
		t.Errorf("where one can be asked: %v, asked %v", err, n.asked)
	}
	got, err := Span{Feed: "http://example.com/a", Publisher: true}.Run(t.Context(), n, func(Report) {})
	if err != nil || got.PublisherProblem == "" {
		t.Errorf("who waits is told %q, %v", got.PublisherProblem, err)
	}
}

// Silence is no end: neighbors are asked again, ever later, and go on where they were. All of it is kept, so that a
// restart changes nothing. At last what is lacking is given up, and stands there.
func TestThePastComesBackToThoseWhoDoNotAnswer(t *testing.T) {
	for _, silent := range []int{1, 3, pastReturns, pastReturns + 1} {
		o := newPast(300, 200)
		o.feeds = []node.FeedStatus{{URL: exampleFeed, Offered: 1, Past: &archive.Past{Stage: archive.PastNetwork}}}
		p, _ := newTestWorker(o, o.feeds, 1)
		now := p.steps(t, o.begun, 1)
		part, wait := *o.feeds[0].Past, pastAgain
		o.late = silent * maxTries
		for try := range silent {
			p, _ = newTestWorker(o, o.feeds, 1) // another process
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
		lack  func(o *pastNode)
		mend  func(o *pastNode)
		why   string
		first int // entries that came at first
		from  int // the minute where it begins again
	}{
		"hops": {lack: func(o *pastNode) { o.cut = []string{"hops"} }, mend: func(o *pastNode) { o.cut = nil },
			why: "hops", first: 1050},
		"limit": {lack: func(o *pastNode) { o.cut = []string{"limit"} }, mend: func(o *pastNode) { o.cut = nil },
			why: "limit", first: 1050},
		"refused": {lack: func(o *pastNode) { o.withheld = "17" }, mend: func(o *pastNode) { o.withheld = "" },
			why: "refused", first: 1049, from: 49},
		"late": {lack: func(o *pastNode) { o.half = maxTries }, mend: func(*pastNode) {}, why: "time", first: 850},
	} {
		for _, mended := range []bool{true, false} {
			o := newPast(1050, 200)
			o.feeds = []node.FeedStatus{{URL: exampleFeed, Offered: 1,
				Past: &archive.Past{Stage: archive.PastNetwork}}}
			tt.lack(o)
			p, _ := newTestWorker(o, o.feeds, 1)
			round := func(now time.Time) (got archive.Past) {
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

// A timedNode notes when it was asked about which feed.
type timedNode struct {
	*pastNode
	begun time.Time
	asked map[feed.URL]time.Duration
}

func (n timedNode) Query(ctx context.Context, q control.QueryRequest, each func(control.QueryPart) error) error {
	n.asked[q.Filter.Feed] = time.Since(n.begun)
	return n.pastNode.Query(ctx, q, each)
}

// One worker does what its owner lets it do: a step into the past every half a minute, a look for gaps every ten.
func TestAWorkerFillsPastsAndGaps(t *testing.T) {
	const old feed.URL = "http://example.com/old"
	for _, tt := range []struct {
		network node.QueryNetwork
		pasts   bool
		want    map[feed.URL]time.Duration
	}{
		{node.AskNetwork, true, map[feed.URL]time.Duration{old: pastEvery, exampleFeed: gapsEvery}},
		{node.AskNetwork, false, map[feed.URL]time.Duration{exampleFeed: gapsEvery}},
		{node.NeverNetwork, true, map[feed.URL]time.Duration{}},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := timedNode{newPast(100, 200), time.Now(), make(map[feed.URL]time.Duration)}
			o.feeds = []node.FeedStatus{
				{URL: exampleFeed, Gap: &archive.Gap{After: o.pastNode.begun, Missing: 60,
					Before: o.pastNode.begun.Add(time.Hour)}},
				{URL: old, Offered: 1, Past: &archive.Past{Stage: archive.PastNetwork}},
			}
			w, _ := newTestWorker(o, o.feeds, hopsOf(tt.network))
			w.config.Pasts = tt.pasts
			ctx, cancel := context.WithTimeout(t.Context(), gapsEvery+gapsEvery/2)
			defer cancel()
			if w.Run(ctx); !maps.Equal(o.asked, tt.want) {
				t.Errorf("%q, pasts %t: asked after %v, want %v", tt.network, tt.pasts, o.asked, tt.want)
			}
		})
	}
}
