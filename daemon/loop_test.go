package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"feedex/archive"
	"feedex/feed"
	"feedex/internal/logtest"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
	"feedex/transport"
)

// The loop runs in these tests without sockets and files, in a time that passes only while everybody
// waits.

// unreachable is a fetcher that reaches nobody.
type unreachable struct{}

func (unreachable) Fetch(_ context.Context, f node.Fetch) node.Fetched {
	return node.Fetched{Feed: f.Feed, Dialed: true, Err: errors.New("not reachable")}
}

// peers is the function that answers the node's calls: at each address the same.
type peers func(ctx context.Context, addr string, call protocol.Call) (protocol.Reply, error)

func (p peers) Call(ctx context.Context, addr, _ string, call protocol.Call) (transport.Result, error) {
	reply, err := p(ctx, addr, call)
	return transport.Result{Reply: reply}, err
}

// Reverse implements caller: none of them hosts anybody.
func (p peers) Reverse(context.Context, protocol.NodeID) (*transport.ReverseLink, error) {
	return nil, transport.ErrNotHosted
}

// friendly vouches for every call, becomes nobody's neighbor, and agrees to all else.
func friendly(_ context.Context, _ string, call protocol.Call) (protocol.Reply, error) {
	switch call.(type) {
	case protocol.Vouch:
		return protocol.Vouched(true), nil
	case protocol.ListMethods:
		return protocol.Methods{}, nil
	case protocol.Connect:
		return protocol.Subset{}, nil
	case protocol.WhoAmI:
		return peerID(99), nil
	}
	return protocol.OK{}, nil
}

// A testLoop is a host of which only the loop runs.
type testLoop struct {
	*host
	t    *testing.T
	disk *disk
	said logtest.Said
	pass func(time.Duration) // lets time pass until the loop waits again
}

// runLoop calls f with a loop that runs, in a bubble.
func runLoop(t *testing.T, p peers, f func(t *testing.T, l *testLoop)) {
	runLoopOn(t, newDisk, p, f)
}

// runLoopOn is runLoop on a disk that may have something on it.
func runLoopOn(t *testing.T, made func() *disk, p peers, f func(t *testing.T, l *testLoop)) {
	data := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		log, said := logtest.Overhear()
		c := Config{Log: log, Data: data, Node: node.Config{AllowLocal: true, Policy: polling.Fixed{Every: time.Hour}}}
		c.Node.Secret = make([]byte, 32)
		l := &testLoop{t: t, disk: made(), said: said}
		l.disk.work = func(d time.Duration) { time.Sleep(d) }
		l.pass = func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		l.host = newHost(c.withDefaults(), l.disk, janitor{disk: l.disk}, p, unreachable{})
		l.rng = rand.New(rand.NewPCG(1, 2))
		if !l.awaitClock(time.Now()) {
			if err := l.revive(); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { l.loop.run(ctx) })
		running.Go(func() { l.housekeep(ctx) })
		defer func() {
			cancel()
			running.Wait()
			l.workers.Wait()
		}()
		f(t, l)
	})
}

// inspect has f called in the loop, where it may look at what belongs to it.
func (l *testLoop) inspect(f func(*host)) {
	l.t.Helper()
	if _, err := look(l.t.Context(), l.host.loop, func(*node.Node) (bool, error) {
		f(l.host)
		return true,
			nil
	}); err != nil {
		l.t.Fatal(err)
	}
}

// held is how many calls wait for an answer of the core.
func (l *testLoop) held() (n int) {
	l.t.Helper()
	l.inspect(func(h *host) { n = len(h.asked) })
	return n
}

// follows reports whether the archive says that the node follows the example feed.
func (l *testLoop) follows() (yes bool) {
	l.t.Helper()
	l.inspect(func(h *host) {
		for _, f := range h.store.LoadFeeds() {
			yes = yes || f.URL == exampleFeed && f.Subscribed
		}
	})
	return yes
}

// knock makes a call that every node answers at once, and returns the fault.
func (l *testLoop) knock() *protocol.Fault {
	return l.serve(l.t.Context(), transport.Request{From: peerID(1), Call: protocol.WhoAmI{}}).Fault
}

func peerID(i int) protocol.NodeID {
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{11, byte(i), 0, 1}), 7790)
}

// connect is the call with which a peer asks to be a neighbor.
func connect(i int) transport.Request {
	return transport.Request{From: peerID(i), Session: "its token",
		Call: protocol.Connect{Subset: protocol.Subset{{Feed: exampleFeed}}}}
}

// follow subscribes to the example feed, and waits for its first poll.
func (l *testLoop) follow() {
	l.t.Helper()
	if err := l.Subscribe(l.t.Context(), following(exampleFeed)); err != nil {
		l.t.Fatal(err)
	}
	synctest.Wait()
}

// link makes n peers neighbors.
func (l *testLoop) link(n int) {
	l.t.Helper()
	for i := range n {
		if r := l.serve(l.t.Context(), connect(i+1)); r.Fault != nil {
			l.t.Fatal(r.Fault)
		}
	}
	if list, err := l.Neighbors(l.t.Context()); err != nil || len(list) != n {
		l.t.Fatalf("%d neighbors, %v; want %d", len(list), err, n)
	}
}

func TestIndexFailureConcernsNobodyElse(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		l.follow()
		l.link(1)
		l.pass(longestWait)
		before, _ := l.disk.indexed()
		l.disk.set(diskState{unindexed: 300, index: errors.New("index is broken")})
		for range 600 {
			if fault := l.knock(); fault != nil {
				t.Fatalf("a call is refused because the index is broken: %v", fault)
			}
			l.pass(time.Second)
		}
		var life uint64
		l.inspect(func(h *host) { life = h.life })
		if list, err := l.Neighbors(t.Context()); err != nil || len(list) != 1 || life != 1 {
			t.Errorf("%d neighbors of core %d, %v; want the first core with its neighbor", len(list), life, err)
		}
		steps, _ := l.disk.indexed()
		steps = steps[len(before):]
		for i := 2; i < len(steps); i++ {
			before, gap := steps[i-1].Sub(steps[i-2]), steps[i].Sub(steps[i-1])
			if gap < before || gap > longestWait {
				t.Errorf("tried again after %v, then after %v", before, gap)
			}
		}
		if len(steps) < 10 || len(steps) > 20 {
			t.Errorf("tried %d times in ten minutes", len(steps))
		}
		const broken, mended = "entries cannot be indexed; searches find them all the same, but take longer",
			"entries can be indexed again"
		if said := l.said.Count(); said[broken] != 1 || said[mended] != 0 {
			t.Errorf("the log says %v", said)
		}

		l.disk.set(diskState{unindexed: 300})
		l.pass(longestWait + time.Second)
		_, left := l.disk.indexed()
		if said := l.said.Count(); said[broken] != 0 || said[mended] != 1 || left != 0 {
			t.Errorf("mended, the log says %v and %d entries are not indexed", said, left)
		}
	})
}

func TestIndexingWhileIdle(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		l.pass(longestWait)
		const takes = 10 * time.Millisecond
		l.disk.set(diskState{unindexed: 10 * indexedAtOnce, stepTakes: takes})
		l.knock()
		l.pass(housekeepingIdle - time.Millisecond)
		if _, left := l.disk.indexed(); left != 10*indexedAtOnce {
			t.Error("indexed before there was time")
		}
		l.pass(time.Millisecond + 10*2*takes)
		if _, left := l.disk.indexed(); left != 0 {
			t.Errorf("%d entries are not indexed", left)
		}
	})
}

// However busy the loop is, entries are indexed beside it; where it has to wait for that, little time is spent on it.
func TestIndexingUnderLoad(t *testing.T) {
	const load = 2 * time.Minute
	for _, takes := range []time.Duration{time.Millisecond, 10 * time.Millisecond, time.Second} {
		for _, contended := range []bool{false, true} {
			t.Run(fmt.Sprintf("a step of %v, contended %v", takes, contended), func(t *testing.T) {
				runLoop(t, friendly, func(t *testing.T, l *testLoop) {
					l.disk.set(diskState{unindexed: 1_000_000, stepTakes: takes, contended: contended})
					for begun := time.Now(); time.Since(begun) < load; l.pass(10 * time.Millisecond) {
						l.knock()
					}
					steps, _ := l.disk.indexed()
					share := 2
					if contended {
						share = housekeepingShare
					}
					if busy := time.Duration(len(steps)) * takes; busy > load/time.Duration(share)+2*takes {
						t.Errorf("indexing took %v of %v", busy, load)
					}
					longest := takes + housekeepingShare*max(takes, shortestPause) + housekeepingIdle
					for i := 1; i < len(steps); i++ {
						if gap := steps[i].Sub(steps[i-1]); gap > longest {
							t.Errorf("nothing was indexed for %v", gap)
						}
					}
					if len(steps) < int(load/longest) {
						t.Errorf("%d steps in %v", len(steps), load)
					}
				})
			})
		}
	}
}

// Events that are stepped and committed together are bounded by their weight, so that a caller that sends much keeps
// nobody waiting for long: no batch holds more than that and one event.
func TestBatchesAreLight(t *testing.T) {
	put := func(entries, bytes int) arrival {
		list := make([]feed.Entry, entries)
		for i := range list {
			list[i] = feed.Entry{Feed: exampleFeed, ID: fmt.Sprint(i), Content: strings.Repeat("x", bytes)}
		}
		return arrival{event: node.Asked{Call: protocol.PutEntries{Bundle: protocol.NewBundle(exampleFeed, list)}}}
	}
	check := arrival{event: node.Asked{Call: protocol.CheckDID{}}}
	subset := make(protocol.Subset, protocol.MaxSubset)
	document := &feed.Document{Entries: make([]feed.Entry, 1000)}
	for name, c := range map[string]struct {
		arrival
		most int // of them in a batch
	}{
		"checks":             {check, maxBatch},
		"entries of 1 MiB":   {put(3, 1<<20), 1},
		"entries of 300 KiB": {put(1, 300<<10), 4},
		"a hundred entries":  {put(100, 10), 3},
		"one small entry":    {put(1, 100), 150},
		"large sets":         {arrival{event: node.Asked{Call: protocol.Connect{Subset: subset}}}, 1},
		"large adverts":      {arrival{event: node.Asked{Call: protocol.UpdateSubset{Changes: subset}}}, 1},
		"documents":          {arrival{event: node.Fetched{Document: document}}, 1},
		"questions":          {arrival{look: func(*node.Node) {}}, maxBatch},
	} {
		h := newHost(Config{}.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
		for range maxArrivals {
			h.events <- c.arrival
		}
		for len(h.events) > 0 {
			if got := len(h.drain([]arrival{<-h.events})); got > c.most || got < c.most/2 && len(h.events) > 0 {
				t.Errorf("%s: %d in a batch, want %d", name, got, c.most)
				break
			}
		}
	}
}

func TestPortions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.IntRange(0, 2*maxBatchWeight)).Draw(t, "weights")
		var all []int
		for part := range portions(list, func(n *int) int { return *n }) {
			sum := 0
			for _, n := range part[:len(part)-1] {
				sum += n
			}
			if sum >= maxBatchWeight || len(part) == 0 {
				t.Fatalf("a part of %v", part)
			}
			all = append(all, part...)
		}
		if !slices.Equal(all, list) {
			t.Fatalf("%v, cut to %v", list, all)
		}
	})
}

// A core that a failed commit threw away is made anew by the timer, also if nobody calls.
func TestRevivedByTheTimerAlone(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		full := errors.New("disk is full")
		l.disk.set(diskState{commit: full, index: full})
		if err := l.Subscribe(t.Context(), following(exampleFeed)); !errors.Is(err, full) {
			t.Fatalf("subscribing on a full disk: %v", err)
		}
		l.pass(10 * time.Minute)
		const refused, stored = "the node rests; nothing was acknowledged", "the node goes on"
		if said := l.said.Count(); said[refused] < 10 || said[refused] > 20 || said[stored] != 0 {
			t.Errorf("in ten minutes on a full disk the log says %v", said)
		}
		if fault := l.knock(); fault == nil || fault.Code != protocol.Unavailable {
			t.Errorf("a call is answered %v", fault)
		}

		l.disk.set(diskState{})
		l.pass(longestWait)
		if said := l.said.Count(); said[stored] != 1 {
			t.Errorf("after the disk was mended the log says %v", said)
		}
		if l.follows() {
			t.Error("what was refused is kept")
		}
		l.follow()
		if !l.follows() {
			t.Error("the new core believes in what was refused")
		}
	})
}

// slow is friendly, but takes vouchTakes for a vouch.
func slow(ctx context.Context, addr string, call protocol.Call) (protocol.Reply, error) {
	if _, is := call.(protocol.Vouch); is {
		select {
		case <-time.After(vouchTakes):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return friendly(ctx, addr, call)
}

const vouchTakes = 5 * time.Second

// A call that the core holds is refused when the core is thrown away, and its late end means nothing to
// the next core.
func TestHeldCallsEndWithTheCore(t *testing.T) {
	runLoop(t, slow, func(t *testing.T, l *testLoop) {
		l.follow()
		answer := make(chan transport.Response, 1)
		go func() { answer <- l.serve(t.Context(), connect(1)) }()
		synctest.Wait()
		if n := l.held(); n != 1 {
			t.Fatalf("%d calls are held, want 1", n)
		}
		l.disk.set(diskState{commit: errors.New("disk is full")})
		if l.Unsubscribe(t.Context(), exampleFeed) == nil {
			t.Fatal("stored on a full disk")
		}
		if r := <-answer; r.Fault == nil || r.Fault.Code != protocol.Unavailable {
			t.Errorf("the call is answered %+v", r)
		}
		if n := l.held(); n != 0 {
			t.Errorf("%d calls are held by nobody", n)
		}
		l.disk.set(diskState{})
		l.pass(vouchTakes)
		if said := l.said.Count(); said["the node goes on"] != 1 {
			t.Errorf("the log says %v", said)
		}
		if list, err := l.Neighbors(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("the second core has %v, %v", list, err)
		}
	})
}

// Nobody hangs on a caller that has gone, and nothing is kept of it.
func TestCallerThatHasGone(t *testing.T) {
	runLoop(t, slow, func(t *testing.T, l *testLoop) {
		l.follow()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if r := l.serve(ctx, connect(1)); r.Fault == nil || r.Fault.Code != protocol.Busy {
			t.Errorf("answered %+v", r)
		}
		if n := l.held(); n != 1 {
			t.Errorf("%d calls are held, want 1", n)
		}
		l.pass(vouchTakes)
		if n := l.held(); n != 0 {
			t.Errorf("%d calls are held for nobody", n)
		}
	})
}

func TestFullQueueRefuses(t *testing.T) {
	h := newHost(Config{}.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
	for range maxArrivals {
		h.events <- arrival{event: node.Wake{}}
	}
	r := h.serve(t.Context(), transport.Request{From: peerID(1), Call: protocol.WhoAmI{}})
	if r.Fault == nil || r.Fault.Code != protocol.Busy {
		t.Errorf("answered %+v", r)
	}
}

// A reading that knows how much time passed can be had from the system alone, and so can no test set its wall. But
// two readings without that differ as walls do.
func TestClock(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var c clock
	for _, step := range []struct {
		name       string
		wall, want time.Duration // after noon
	}{
		{"first", 0, 0},
		{"a second", time.Second, time.Second},
		{"asleep for a night", 8 * time.Hour, 8 * time.Hour},
		{"goes on", 8*time.Hour + time.Second, 8*time.Hour + time.Second},
	} {
		if got := c.now(noon.Add(step.wall)).Sub(noon); got != step.want {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
	}

	// The system's reading: what is told follows the time that passed, and keeps none of it for comparisons.
	c = clock{}
	begun := time.Now()
	first := c.now(begun)
	if first != begun.Round(0) {
		t.Errorf("told %v, want the wall's %v", first, begun.Round(0))
	}
	c.told = c.told.Add(time.Hour) // as if the wall was set back by an hour since
	if got := c.now(begun.Add(time.Second)); got != first.Add(time.Hour+time.Second) {
		t.Errorf("after the wall was set back %v, want a second more than before", got.Sub(first))
	}
	c.told = first.Add(-8 * time.Hour) // as if it had been asleep
	if got := c.now(begun.Add(2 * time.Second)); got != first.Add(2*time.Second) {
		t.Errorf("after sleep %v, want the wall's time", got.Sub(first))
	}
}

// Where the clock was ahead by a lot and is set back the node goes on by what it says now, and says so; where it was
// ahead by a little it goes on as it did.
func TestAClockThatIsSetBack(t *testing.T) {
	for ahead, want := range map[time.Duration]uint64{50 * time.Minute: 1, 365 * 24 * time.Hour: 2} {
		t.Run(ahead.String(), func(t *testing.T) {
			runLoop(t, friendly, func(t *testing.T, l *testLoop) {
				l.follow()
				l.inspect(func(h *host) { h.clock.told = h.clock.told.Add(ahead) })
				l.pass(2 * longestNap)
				if fault := l.knock(); fault != nil {
					t.Errorf("a peer hears %v", fault)
				}
				l.inspect(func(h *host) {
					now := time.Now()
					if told := h.clock.now(now); h.life != want || told.Equal(now) != (want == 2) {
						t.Errorf("at %v core %d goes by %v", now, h.life, told)
					}
				})
				const refused = "the node rests; nothing was acknowledged"
				if said := l.said.Count(); said[refused] != int(want)-1 {
					t.Errorf("the log says %v", said)
				}
			})
		})
	}
}

// A machine without a battery starts in 1970, and learns the time minutes later: until then the node rests, and says
// so. Waits that are owed to publishers are not taken for times that lie decades ahead. A clock that was ahead once,
// and is right now, is waited for in vain, and no longer than an hour.
func TestAClockThatStartsIn1970(t *testing.T) {
	polled := func(d *disk, at time.Time) {
		d.KeepFeed(archive.Feed{URL: exampleFeed, Subscribed: true, LastPoll: at})
	}
	arrived := func(d *disk, at time.Time) {
		polled(d, at.Add(-365*24*time.Hour)) // neighbors brought more since
		d.Keep([]archive.Record{archive.NewRecord(feed.Entry{Feed: exampleFeed, ID: "1"}, at, peerID(1))})
	}
	filled := func(d *disk, at time.Time) {
		d.Fill(time.Now(), []archive.Record{archive.NewRecord(feed.Entry{Feed: exampleFeed, ID: "1"}, at, peerID(1))})
	}
	for _, test := range []struct {
		name         string
		kept         func(d *disk, at time.Time)
		ahead, waits time.Duration
	}{
		{"it is set after 20 minutes", polled, 20 * time.Minute, 20 * time.Minute},
		{"it was ahead by years once", polled, 10 * 365 * 24 * time.Hour, clockPatience},
		{"it is right", polled, -time.Minute, 0},
		{"it is behind an arrival", arrived, 20 * time.Minute, 20 * time.Minute},
		{"it is behind an arrival by years", arrived, 10 * 365 * 24 * time.Hour, clockPatience},
		{"it is right, and something arrived", arrived, -time.Minute, 0},
		{"it is behind a time that others tell of the past", filled, 20 * time.Minute, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			kept := func() *disk {
				d := newDisk()
				test.kept(d, time.Now().Add(test.ahead))
				return d
			}
			runLoopOn(t, kept, friendly, func(t *testing.T, l *testLoop) {
				const behind = "the clock is behind; the node waits until it is set, an hour at most"
				if test.waits > 0 {
					l.pass(test.waits - 2*clockEvery)
					if fault := l.knock(); fault == nil || fault.Code != protocol.Unavailable {
						t.Errorf("while the clock is behind a peer hears %v", fault)
					}
					var problem string
					l.inspect(func(h *host) { problem = h.storage.problem.Error() })
					if !strings.Contains(problem, "the clock says") {
						t.Errorf("the owner hears %q", problem)
					}
					_, err := l.Neighbors(t.Context())
					if err == nil || err.Error() != "the node rests because "+problem {
						t.Errorf("who asks hears %v", err)
					}
				}
				l.pass(3 * clockEvery)
				if fault := l.knock(); fault != nil {
					t.Errorf("a peer hears %v", fault)
				}
				said := l.said.Count()
				if waited := said[behind] == 1; waited != (test.waits > 0) {
					t.Errorf("the log says %v", said)
				}
				const inVain = "the clock is behind still; the node starts all the same"
				if vain := said[inVain] == 1; vain != (test.waits == clockPatience) {
					t.Errorf("the log says %v", said)
				}
			})
		})
	}
}
