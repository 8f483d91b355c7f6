package daemon

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reader/websub/websubtest"
	"feedex/reading"
)

// What a neighbor has of a feed that nobody here follows is in the feed of a standing query that it fits, and in the
// archive, and what does not fit is in neither.
func TestAStandingQueryFindsWhatNeighborsHave(t *testing.T) {
	news := startFeed(t, "Walrus sighted", "Calm at sea")
	nodes := startTree(t, []int{-1, 0}, func(i int) Config {
		if i == 0 {
			return Config{standingPause: time.Millisecond}
		}
		return Config{Subscribe: []feed.URL{news.url}}
	})
	nodes[1].waitArrival(news.url)
	n := nodes[0]
	n.keep(t, reading.FilterWish{Name: "Walrus", Words: "walrus", Standing: true})
	for end := time.Now().Add(patience); ; breathe() {
		code, text := get(t, "http://"+n.at.Reader+"/filter/Walrus.atom")
		if code != http.StatusOK || strings.Contains(text, "Calm") || time.Now().After(end) {
			t.Fatalf("HTTP %d: %s", code, text)
		}
		if strings.Contains(text, "Walrus sighted") {
			break
		}
	}
	if records, err := n.client.Search(t.Context(), feed.Filter{Words: []string{"walrus"}}); err != nil ||
		len(records) != 1 {
		t.Errorf("in the archive is %+v, %v", records, err)
	}
	ask := func(standing bool) error {
		return n.client.StandFilter(t.Context(), control.FilterStanding{Name: "Walrus", Standing: standing})
	}
	if err := ask(false); err != nil {
		t.Error(err)
	}
	if _, text := get(t, "http://"+n.at.Reader+"/filter/Walrus.atom"); !strings.Contains(text, "Walrus sighted") {
		t.Error("what was found is gone with the question")
	}
	n.keep(t, reading.FilterWish{Name: "Site", Words: "feed:example.org walrus"})
	err := n.client.StandFilter(t.Context(), control.FilterStanding{Name: "Site", Standing: true})
	if err == nil || !strings.Contains(err.Error(), "leave feed: out") {
		t.Errorf("words that name a feed: %v", err)
	}
}

// What a standing query finds is pushed to who subscribed to the filter's feed, and comes in an answer of what is new
// since a version that had nothing of it.
func TestWhatAStandingQueryFindsIsPushed(t *testing.T) {
	news, early := startFeed(t, "Walrus sighted"), startFeed(t, "Walrus caught")
	x := websubtest.Start(t)
	nodes := startTree(t, []int{-1, 0}, func(i int) Config {
		if i == 0 {
			return Config{standingPause: time.Millisecond, Subscribe: []feed.URL{early.url},
				PushTo: []string{x.Listener.Addr().String()}}
		}
		return Config{Subscribe: []feed.URL{news.url}}
	})
	nodes[1].waitArrival(news.url)
	n := nodes[0]
	n.waitArrival(early.url)
	n.keep(t, reading.FilterWish{Name: "Walrus", Words: "walrus"})
	at := "http://" + n.at.Reader + "/filter/Walrus.atom"
	x.Subscribe(t, at)
	before, err := http.Get(at)
	if _, text := statusOf(t, before, err); !strings.Contains(text, "Walrus caught") ||
		strings.Contains(text, "Walrus sighted") {
		t.Fatalf("before anybody is asked the feed is %s", text)
	}
	err = n.client.StandFilter(t.Context(), control.FilterStanding{Name: "Walrus", Standing: true})
	if err != nil {
		t.Fatal(err)
	}
	for text := ""; !strings.Contains(text, "Walrus sighted"); {
		select {
		case p := <-x.Pushed:
			text = p.Text
		case <-time.After(patience):
			t.Fatal("what was found is not pushed")
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("A-IM", "feed")
	r.Header.Set("If-None-Match", before.Header.Get("ETag"))
	resp, err := http.DefaultClient.Do(r)
	if code, text := statusOf(t, resp, err); code != http.StatusOK && code != http.StatusIMUsed ||
		!strings.Contains(text, "Walrus sighted") {
		t.Errorf("who has the version of before is answered %d: %s", code, text)
	}
}

// standingFilters are the filters of a disk, as far as standing queries go.
type standingFilters struct {
	mu    sync.Mutex
	all   []reading.NamedFilter
	asked map[reading.FilterID]time.Time
	next  map[reading.FilterID]time.Time
	found map[reading.FilterID][]feed.EntryID
	feeds []archive.Feed // that the node follows
	said  map[reading.FilterID]string
}

func (d *disk) Asking(at time.Time, id reading.FilterID, next time.Time) {
	d.standing.mu.Lock()
	defer d.standing.mu.Unlock()
	d.standing.asked[id], d.standing.next[id] = at, next
}

func (d *disk) Feeds(context.Context) ([]archive.Feed, error) {
	d.standing.mu.Lock()
	defer d.standing.mu.Unlock()
	return d.standing.feeds, nil
}

func (d *disk) Found(_ time.Time, id reading.FilterID, entries []feed.EntryID, problem string) {
	d.standing.mu.Lock()
	defer d.standing.mu.Unlock()
	d.standing.found[id], d.standing.said[id] = entries, problem
}

func (d *disk) StandingDue(_ context.Context, now time.Time) (due reading.NamedFilter, _ time.Time, _ error) {
	s := &d.standing
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.all {
		if f.Standing && !s.next[f.ID].After(now) && (due.ID == 0 || s.next[f.ID].Before(s.next[due.ID])) {
			due = f
		}
	}
	return due, s.asked[due.ID], nil
}

// asking is a peer that counts the queries it gets, and answers with a list.
type asking struct {
	mu      sync.Mutex
	queries []protocol.Query
	answer  []protocol.Found
	heard   func()
}

func (a *asking) call(ctx context.Context, addr string, call protocol.Call) (protocol.Reply, error) {
	if q, is := call.(protocol.QueryFeed); is {
		a.mu.Lock()
		a.queries = append(a.queries, q.Query)
		heard, found := a.heard, slices.Clone(a.answer)
		for i := range found {
			found[i].Holders = slices.Clone(found[i].Holders) // the node keeps what it is answered
		}
		a.mu.Unlock()
		heard()
		return protocol.Answer{Found: found}, nil
	}
	return friendly(ctx, addr, call)
}

// asked are the queries so far.
func (a *asking) asked() []protocol.Query {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.queries)
}

// answers has it answer so from now on.
func (a *asking) answers(found ...protocol.Found) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = found
}

// have has the disk have these filters alone.
func (s *standingFilters) have(all ...reading.NamedFilter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = all
}

// runStanding is runLoop with a neighbor that is asked, and standing queries that run until stop is called.
func runStanding(t *testing.T, f func(t *testing.T, l *testLoop, a *asking, start func() (stop func()))) {
	a := &asking{heard: func() {}}
	runLoop(t, a.call, func(t *testing.T, l *testLoop) {
		s := &l.disk.standing
		s.asked, s.next = make(map[reading.FilterID]time.Time), make(map[reading.FilterID]time.Time)
		s.found, s.said = make(map[reading.FilterID][]feed.EntryID), make(map[reading.FilterID]string)
		l.follow()
		f(t, l, a, func() func() {
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { l.askStanding(ctx) })
			return func() { cancel(); running.Wait() }
		})
	})
}

// standingFilter is a filter that is one.
func standingFilter(id reading.FilterID, words string) reading.NamedFilter {
	w := reading.FilterWish{Name: fmt.Sprint(id), Words: words, Standing: true}
	return reading.NamedFilter{ID: id, FilterWish: w}
}

// Neighbors are asked for standing queries alone, one a minute and each every six hours or so, and when a query is due
// next is durable before they hear of it.
func TestWhenStandingQueriesAreAsked(t *testing.T) {
	runStanding(t, func(t *testing.T, l *testLoop, a *asking, start func() func()) {
		s := &l.disk.standing
		home := standingFilter(1, "home")
		home.Standing = false
		s.have(home)
		l.link(1)
		stop := start()
		l.pass(24 * time.Hour)
		if len(a.asked()) != 0 {
			t.Fatalf("neighbors were asked for %+v", a.asked())
		}
		a.mu.Lock()
		a.heard = func() {
			if f, _, _ := l.disk.StandingDue(t.Context(), time.Now()); len(a.asked()) == 3 && f.ID != 0 {
				t.Error("a query is still due as it is asked")
			}
		}
		a.mu.Unlock()
		s.have(home, standingFilter(2, "storm NOT brain"), standingFilter(3, "walrus"), standingFilter(4, "calm"))
		l.pass(standingPause)
		if len(a.asked()) != 1 || !slices.Equal(a.asked()[0].Filter.Words, []string{"storm"}) ||
			time.Since(a.asked()[0].Filter.Since) < standingBack-time.Hour {
			t.Fatalf("after a minute neighbors were asked for %+v", a.asked())
		}
		l.pass(5 * standingPause)
		if len(a.asked()) != 3 {
			t.Fatalf("neighbors were asked %d times for three queries", len(a.asked()))
		}
		stop()
		stop = start()
		l.pass(5 * time.Hour)
		if len(a.asked()) != 3 {
			t.Errorf("after a start neighbors were asked %d times", len(a.asked()))
		}
		l.pass(2 * time.Hour)
		if len(a.asked()) != 6 || time.Since(a.asked()[3].Filter.Since) > standingAgain+9*time.Hour {
			t.Errorf("after seven hours neighbors were asked for %+v", a.asked())
		}
		stop()
		l.pass(48 * time.Hour)
		defer start()()
		l.pass(standingPause)
		if len(a.asked()) != 7 {
			t.Errorf("after an absence neighbors were asked %d times at once", len(a.asked())-6)
		}
	})
}

// What a neighbor says fits is held against the words, and what it cannot give is none.
func TestAStandingQueryIsHeldAgainstItsWords(t *testing.T) {
	runStanding(t, func(t *testing.T, l *testLoop, a *asking, start func() func()) {
		s := &l.disk.standing
		s.have(standingFilter(1, "storm NOT brain"))
		defer start()()
		said := func(want string, found ...feed.EntryID) {
			t.Helper()
			s.mu.Lock()
			defer s.mu.Unlock()
			if !strings.Contains(s.said[1], want) || (want == "") != (s.said[1] == "") ||
				!slices.Equal(s.found[1], found) {
				t.Errorf("said is %q, found %v; want %q, %v", s.said[1], s.found[1], want, found)
			}
		}
		l.pass(standingPause)
		said("no neighbor to ask")
		l.link(1)
		var ids []feed.EntryID
		var answer []protocol.Found
		for _, title := range []string{"a storm", "a brain storm", "calm"} {
			e := feed.Entry{Feed: "http://example.com/elsewhere", ID: title, Title: title}
			r := archive.NewRecord(e, time.Now(), peerID(5))
			answer = append(answer, protocol.Found{ID: r.ID, Digest: r.Digest, Feed: e.Feed, Title: "storm",
				Seen: time.Now(), Holders: []protocol.NodeID{peerID(1)}})
			ids = append(ids, r.ID)
			l.inspect(func(h *host) { h.store.Keep([]archive.Record{r}) })
		}
		a.answers(answer...)
		l.pass(standingAlone + 2*standingPause)
		said("", ids[0])
		absent := answer[0]
		absent.ID[0]++
		a.answers(absent)
		l.pass(7 * time.Hour)
		said("nothing could be had", ids[0])
	})
}

// Of what neighbors answer the node downloads what it has not, which would tell them what it has of feeds of which they
// must not know. So nobody is asked while there is one that they could name.
func TestNoStandingQueriesBesideDiscreetFeeds(t *testing.T) {
	runStanding(t, func(t *testing.T, l *testLoop, a *asking, start func() func()) {
		s := &l.disk.standing
		s.have(standingFilter(1, "storm"))
		s.feeds = []archive.Feed{{URL: "https://example.org/open"}}
		l.link(1)
		defer start()()
		l.pass(2 * standingPause)
		if len(a.asked()) != 1 {
			t.Fatalf("neighbors were asked %d times, want once", len(a.asked()))
		}
		for _, f := range []archive.Feed{{Discreet: true}, {Private: true}, {Withheld: true}, {Leads: true}} {
			f.URL, f.Since = "https://example.org/news", time.Now() // and it is followed no more
			s.mu.Lock()
			s.feeds = append(s.feeds[:1], f)
			s.mu.Unlock()
			l.pass(7 * time.Hour)
			s.mu.Lock()
			said := s.said[1]
			s.mu.Unlock()
			if len(a.asked()) != 1 || !strings.Contains(said, "followed discreetly") {
				t.Errorf("%+v: neighbors were asked %d times, and it says %q", f, len(a.asked()), said)
			}
		}
		s.mu.Lock()
		s.feeds = append(s.feeds[:1], archive.Feed{URL: "https://example.org/tried", Private: true},
			archive.Feed{URL: "https://user:word@example.org/", Private: true, Subscribed: true})
		s.mu.Unlock()
		l.pass(7 * time.Hour)
		if len(a.asked()) < 2 {
			t.Errorf("beside feeds that nobody can name or that were never followed neighbors were asked %d times: %q",
				len(a.asked()), s.said[1])
		}
	})
}
