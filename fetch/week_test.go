package fetch

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/grade"
	"feedex/node"
	"feedex/polling"
)

// A resident is a real node with a real client, which publishers see in virtual time. It outlives its nodes.
type resident struct {
	t       *testing.T
	store   *archive.Memory
	client  *Client
	node    *node.Node
	life    int
	ended   chan ended
	fetches sync.WaitGroup
	stop    context.CancelFunc // cuts off the polls of this life
	own     []grade.Request    // the log that it keeps of itself
}

// ended is how a poll of a life ended.
type ended struct {
	life int
	ev   node.Fetched
}

// wake makes a node of what the store knows.
func (r *resident) wake() {
	r.life++
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	n, err := node.New(time.Now(), node.Config{Secret: make([]byte, 32), Policy: polling.Auto{}}, r.store,
		rand.New(rand.NewPCG(7, uint64(r.life))))
	if err != nil {
		r.t.Fatal(err)
	}
	r.node = n
	r.step(ctx, node.Wake{})
}

// kill ends the node without a word, and whatever it was doing.
func (r *resident) kill() {
	r.stop()
	r.fetches.Wait()
	for len(r.ended) > 0 {
		<-r.ended
	}
}

// step gives the node an event and carries out its polls.
func (r *resident) step(ctx context.Context, ev node.Event) {
	for _, e := range r.node.Step(nil, time.Now(), ev) {
		f, ok := e.(node.Fetch)
		if !ok {
			continue
		}
		life := r.life
		r.fetches.Go(func() { r.ended <- ended{life, r.client.Fetch(ctx, f)} })
	}
}

// live has the node do what it wants for so long. Nothing is under way afterwards but what takes time.
func (r *resident) live(d time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := r.stop
	r.stop = func() { cancel(); stop() }
	for over := time.Now().Add(d); ; {
		synctest.Wait()
		now, next := time.Now(), r.node.Next()
		switch {
		case len(r.ended) > 0:
			r.hear(ctx, <-r.ended)
		case !next.IsZero() && !next.After(now):
			r.step(ctx, node.Wake{})
		case !now.Before(over):
			return
		default:
			wait := over.Sub(now)
			if !next.IsZero() {
				wait = min(wait, next.Sub(now))
			}
			select {
			case <-time.After(wait):
			case e := <-r.ended:
				r.hear(ctx, e)
			}
		}
	}
}

// hear tells the node how a poll ended, if the poll is its own.
func (r *resident) hear(ctx context.Context, e ended) {
	r.own = append(r.own, e.ev.Requests...)
	if e.life == r.life {
		r.step(ctx, e.ev)
	}
}

// A week of a reader among publishers of every kind, restarted and killed now and then: all of them think well of it,
// and it misses nothing that can be had.
func TestAReadersWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		street := newStreet(t)
		r := &resident{t: t, store: archive.NewMemory(), ended: make(chan ended, 1000)}
		r.client = inMemory(t, street.serve)
		r.wake()
		r.step(context.Background(), node.Subscribe{Feeds: street.feeds()})
		r.live(30 * time.Hour)
		r.kill()
		r.wake() // a restart
		r.live(20 * time.Hour)
		for range 5 { // it crashes at every start
			r.kill()
			r.wake()
			r.live(time.Minute)
		}
		r.kill()
		time.Sleep(5 * time.Hour) // the machine is off
		r.wake()
		r.live(4*24*time.Hour + 17*time.Hour)
		r.kill()

		seen := grade.Hosts(street.log)
		wantGood(t, seen)
		wantTested(t, seen)
		wantSame(t, seen, grade.Hosts(r.own))
		for _, s := range r.node.Feeds() {
			street.judge(t, r, s)
		}
	})
}

// wantGood fails where a host has anything to complain of. Two requests in the first hour of a feed are fair: its
// second poll sets the phase of all others.
func wantGood(t *testing.T, hosts []grade.Assessment) {
	t.Helper()
	for _, h := range hosts {
		for _, g := range h.Grades {
			if g.Mark > grade.Good && (g.Respect != "pace" || g.Mark > grade.Fair) {
				t.Errorf("%s gives %s for %s: %s", h.Host, g.Mark, g.Respect, g.Reason)
			}
		}
	}
}

// wantTested fails where no host had occasion to look at something.
func wantTested(t *testing.T, hosts []grade.Assessment) {
	t.Helper()
	tested := make(map[string]int)
	for _, h := range hosts {
		for _, g := range h.Grades {
			tested[g.Respect] += int(g.Mark)
		}
	}
	for _, respect := range slices.Sorted(maps.Keys(tested)) {
		if tested[respect] == 0 {
			t.Errorf("nobody tested %s", respect)
		}
	}
}

// wantSame fails where the reader's own log leads to other marks than the publishers'.
func wantSame(t *testing.T, theirs, own []grade.Assessment) {
	t.Helper()
	if len(theirs) != len(own) {
		t.Fatalf("%d hosts were visited, the node's log has %d", len(theirs), len(own))
	}
	for i, h := range theirs {
		for j, g := range h.Grades {
			// the core marks first requests
			if mine := own[i].Grades[j]; mine.Mark != g.Mark && g.Respect != "subscribing" {
				t.Errorf("%s: %s is %s by the publisher's log (%s), %s by the node's (%s)", h.Host, g.Respect, g.Mark,
					g.Reason, mine.Mark, mine.Reason)
			}
		}
	}
}

// judge looks at how the node speaks of a feed after the week, and at what it has of it.
func (s *street) judge(t *testing.T, r *resident, f node.FeedStatus) {
	t.Helper()
	p := s.publishers[f.URL.Host()]
	if p.wrong != "" {
		if f.Errors == 0 || !strings.Contains(f.LastError, p.wrong) {
			t.Errorf("%s: %d errors, %q, want one with %q", f.URL, f.Errors, f.LastError, p.wrong)
		}
	} else if f.Errors != 0 && (p.may == "" || !strings.Contains(f.LastError, p.may)) {
		t.Errorf("%s: %d errors, %s", f.URL, f.Errors, f.LastError)
	}
	if f.Ended != p.ends {
		t.Errorf("%s: ended is %v", f.URL, f.Ended)
	}
	if f.Alias != p.alias {
		t.Errorf("%s: has moved to %q, want %q", f.URL, f.Alias, p.alias)
	}
	if p.wrong != "" {
		return
	}
	// An entry that came out half a day ago is here, with the feed's own name.
	last := s.entries(p, time.Now().Add(-12*time.Hour))
	var ids []feed.EntryID
	for i := range last {
		e := feed.Entry{Feed: f.URL, ID: fmt.Sprintf("%s#%d", f.URL, i)}
		ids = append(ids, e.EntryID())
	}
	missing := 0
	for _, v := range r.store.Known(ids) {
		if v.Seen.IsZero() {
			missing++
		}
	}
	if missing > 0 {
		t.Errorf("%s: %d of %d entries are missing", f.URL, missing, len(last))
	}
	asked := s.asked[f.URL.Host()+strings.TrimPrefix(string(f.URL), "http://"+f.URL.Host())]
	for i := 1; i < len(asked); i++ {
		if gap := asked[i].Sub(asked[i-1]); gap < p.stays {
			t.Errorf("%s: asked for after %v, its document says that it stays for %v", f.URL, gap, p.stays)
		}
		if h := asked[i].UTC().Hour(); p.sleeps && h < 6 {
			t.Errorf("%s: asked for at %v, when it wants nobody to come", f.URL, asked[i].UTC().Format("15:04"))
		}
	}
}
