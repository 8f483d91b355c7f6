package core

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/archive"
	"feedex/protocol"
)

var epoch = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

// Tasks are done in the order of their times, and those of one time in the order in which they were added; those that
// were called off are not done at all.
func TestAgendaOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newTimers(epoch)
		type task struct {
			at time.Duration
			id TimerID
		}
		var did, want []task
		for _, second := range rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "seconds") {
			next := task{at: time.Duration(second) * time.Second}
			next.id = a.add(epoch.Add(next.at), func() { did = append(did, task{next.at, next.id}) })
			want = append(want, next)
		}
		for _, id := range rapid.SliceOf(rapid.IntRange(1, 20)).Draw(t, "called off") {
			a.Cancel(TimerID(id))
			want = slices.DeleteFunc(want, func(t task) bool { return t.id == TimerID(id) })
		}
		slices.SortStableFunc(want, func(x, y task) int { return int(x.at - y.at) })
		for second := range 10 {
			a.run(epoch.Add(time.Duration(second) * time.Second))
			if next, done := a.next(), len(did); next.IsZero() != (done == len(want)) || !next.IsZero() &&
				!next.Equal(epoch.Add(want[done].at)) {
				t.Fatalf("after %d s, and %d of %d tasks, the next is at %v", second, done, len(want), next)
			}
		}
		if !slices.Equal(did, want) {
			t.Fatalf("did %v, want %v", did, want)
		}
	})
}

// What was called off is not done, and nobody is woken for it.
func TestCalledOff(t *testing.T) {
	a, done := newTimers(epoch), []string(nil)
	add := func(second int, name string) TimerID {
		return a.add(epoch.Add(time.Duration(second)*time.Second), func() { done = append(done, name) })
	}
	first := add(1, "first")
	add(3, "third")
	second := add(2, "second")
	a.Cancel(second)
	a.Cancel(first)
	if next := a.next(); !next.Equal(epoch.Add(3 * time.Second)) {
		t.Errorf("the next is at %v", next)
	}
	a.Cancel(first) // it is gone
	last := add(4, "last")
	a.Cancel(last)
	a.run(epoch.Add(time.Minute))
	if want := []string{"third"}; !slices.Equal(done, want) || !a.next().IsZero() {
		t.Errorf("did %v, want %v; the next is at %v", done, want, a.next())
	}
}

// However many calls are open, and in whatever order they end, each ends once, and what is no answer to one of them
// ends none.
func TestACallEndsOnce(t *testing.T) {
	c, err := New(epoch, Config{Secret: []byte("secret of a test")}, archive.NewMemory(), rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	var ended, want []uint64
	for range 1000 {
		c.Call(Target{Host: "peer.example:1"}, "", protocol.WhoAmI{}, time.Minute,
			func(a Answered) { ended = append(ended, a.ID) })
		want = append(want, c.lastID)
		c.lastID++ // searches are counted with them
	}
	c.Rng.Shuffle(len(want), func(i, j int) { want[i], want[j] = want[j], want[i] })
	for _, id := range want {
		for _, id := range []uint64{id, id, id + 1, id + 1_000_000} {
			c.Answered(Answered{ID: id, Reply: protocol.OK{}})
		}
	}
	if !slices.Equal(ended, want) {
		t.Errorf("%d calls ended, want %d", len(ended), len(want))
	}
	if len(c.open) != 0 {
		t.Errorf("%d calls are open", len(c.open))
	}
}
