package node

import (
	"slices"
	"testing"
	"time"
)

// What was called off is not done, and nobody is woken for it.
func TestCalledOff(t *testing.T) {
	a, done := newAgenda(epoch), []string(nil)
	add := func(second int, name string) taskID {
		return a.add(epoch.Add(time.Duration(second)*time.Second), func() { done = append(done, name) })
	}
	first := add(1, "first")
	add(3, "third")
	second := add(2, "second")
	a.callOff(second)
	a.callOff(first)
	if next := a.next(); !next.Equal(epoch.Add(3 * time.Second)) {
		t.Errorf("the next is at %v", next)
	}
	a.callOff(first) // it is gone
	last := add(4, "last")
	a.callOff(last)
	a.run(epoch.Add(time.Minute))
	if want := []string{"third"}; !slices.Equal(done, want) || !a.next().IsZero() {
		t.Errorf("did %v, want %v; the next is at %v", done, want, a.next())
	}
}
