package node

import (
	"time"

	"feedex/internal/queue"
)

// An agenda is what is to be done when. Tasks of the same time are done in the order in which they
// were added. A task that has lost its purpose finds that out itself when its time comes; one that mostly
// loses it before is called off.
type agenda struct {
	began time.Time
	tasks queue.Queue[func()] // by the time since the agenda began; nil was called off
}

// A taskID names a task of an agenda; 0 is none.
type taskID = queue.ID

func newAgenda(now time.Time) agenda { return agenda{began: now.Round(0)} }

func (a *agenda) add(at time.Time, do func()) taskID { return a.tasks.Add(at.Sub(a.began), do) }

// callOff has a task not done. There need not be one of that id.
func (a *agenda) callOff(id taskID) {
	for task := range a.tasks.All() {
		if task.ID == id {
			task.Value = nil
			return
		}
	}
}

// next is the time of the earliest task, the zero time if there is none.
func (a *agenda) next() time.Time {
	for first := a.tasks.First(); first != nil; first = a.tasks.First() {
		if first.Value != nil {
			return a.began.Add(first.At)
		}
		a.tasks.Take()
	}
	return time.Time{}
}

// run does every task whose time has come by now, those that are added meanwhile included.
func (a *agenda) run(now time.Time) {
	passed := now.Sub(a.began)
	for first := a.tasks.First(); first != nil && first.At <= passed; first = a.tasks.First() {
		if do := a.tasks.Take().Value; do != nil {
			do()
		}
	}
}
