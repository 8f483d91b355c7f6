package node

import (
	"time"

	"feedex/internal/queue"
)

// timers are the tasks of a node, each with its time. Tasks of the same time are done in the order in which they were
// added. A task that has lost its purpose finds that out itself when its time comes; one that mostly loses it before is
// canceled.
type timers struct {
	began time.Time
	tasks queue.Queue[func()] // by the time since began; nil was canceled
}

// A timerID names a task; 0 is none.
type timerID = queue.ID

func newTimers(now time.Time) timers { return timers{began: now.Round(0)} }

func (t *timers) add(at time.Time, do func()) timerID { return t.tasks.Add(at.Sub(t.began), do) }

// cancel has a task not done. There need not be one of that id.
func (t *timers) cancel(id timerID) {
	for task := range t.tasks.All() {
		if task.ID == id {
			task.Value = nil
			return
		}
	}
}

// next is the time of the earliest task, the zero time if there is none.
func (t *timers) next() time.Time {
	for first := t.tasks.First(); first != nil; first = t.tasks.First() {
		if first.Value != nil {
			return t.began.Add(first.At)
		}
		t.tasks.Take()
	}
	return time.Time{}
}

// run does every task whose time has come by now, those that are added meanwhile included.
func (t *timers) run(now time.Time) {
	passed := now.Sub(t.began)
	for first := t.tasks.First(); first != nil && first.At <= passed; first = t.tasks.First() {
		if do := t.tasks.Take().Value; do != nil {
			do()
		}
	}
}
