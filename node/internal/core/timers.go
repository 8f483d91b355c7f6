package core

import (
	"time"

	"feedex/internal/queue"
)

// Timers are the tasks of a node, each with its time. Tasks of the same time are done in the order in which they were
// added. A task that has lost its purpose finds that out itself when its time comes; one that mostly loses it before is
// canceled.
type Timers struct {
	began time.Time
	Tasks queue.Queue[func()] // by the time since began; nil was canceled
}

// A TimerID names a task; 0 is none.
type TimerID = queue.ID

// newTimers returns timers that count from now.
func newTimers(now time.Time) Timers { return Timers{began: now.Round(0)} }

// add has do called at that time.
func (t *Timers) add(at time.Time, do func()) TimerID { return t.Tasks.Add(at.Sub(t.began), do) }

// Cancel has a task not done. There need not be one of that id.
func (t *Timers) Cancel(id TimerID) {
	for task := range t.Tasks.All() {
		if task.ID == id {
			task.Value = nil
			return
		}
	}
}

// next is the time of the earliest task, the zero time if there is none.
func (t *Timers) next() time.Time {
	for first := t.Tasks.First(); first != nil; first = t.Tasks.First() {
		if first.Value != nil {
			return t.began.Add(first.At)
		}
		t.Tasks.Take()
	}
	return time.Time{}
}

// run does every task whose time has come by now, those that are added meanwhile included.
func (t *Timers) run(now time.Time) {
	passed := now.Sub(t.began)
	for first := t.Tasks.First(); first != nil && first.At <= passed; first = t.Tasks.First() {
		if do := t.Tasks.Take().Value; do != nil {
			do()
		}
	}
}
