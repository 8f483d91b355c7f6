package node

import (
	"slices"
	"time"
)

// An agenda is what is to be done when. Tasks of the same time are done in the order in which they
// were added. A task that has lost its purpose finds that out itself when its time comes; one that mostly
// loses it before is called off.
type agenda struct {
	began time.Time
	tasks []task // a heap of four branches, which is flatter than one of two, the earliest first
	count taskID
}

type task struct {
	at time.Duration // since the agenda began
	id taskID
	do func() // nil once it was called off
}

// A taskID names a task of an agenda; 0 is none. Those of later ones are larger.
type taskID uint64

func newAgenda(now time.Time) agenda { return agenda{began: now.Round(0)} }

func (t *task) before(other *task) bool {
	return t.at < other.at || t.at == other.at && t.id < other.id
}

func (a *agenda) add(at time.Time, do func()) taskID {
	a.count++
	t := task{at.Sub(a.began), a.count, do}
	a.tasks = append(a.tasks, t)
	i := len(a.tasks) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !t.before(&a.tasks[parent]) {
			break
		}
		a.tasks[i] = a.tasks[parent]
		i = parent
	}
	a.tasks[i] = t
	return t.id
}

// callOff has a task not done. There need not be one of that id.
func (a *agenda) callOff(id taskID) {
	if i := slices.IndexFunc(a.tasks, func(t task) bool { return t.id == id }); i >= 0 {
		a.tasks[i].do = nil
	}
}

// next is the time of the earliest task, the zero time if there is none.
func (a *agenda) next() time.Time {
	for len(a.tasks) > 0 && a.tasks[0].do == nil {
		a.take()
	}
	if len(a.tasks) == 0 {
		return time.Time{}
	}
	return a.began.Add(a.tasks[0].at)
}

// run does every task whose time has come by now, those that are added meanwhile included.
func (a *agenda) run(now time.Time) {
	for passed := now.Sub(a.began); len(a.tasks) > 0 && a.tasks[0].at <= passed; {
		if do := a.take().do; do != nil {
			do()
		}
	}
}

// take takes out the earliest task.
func (a *agenda) take() task {
	first, n := a.tasks[0], len(a.tasks)-1
	last := a.tasks[n]
	a.tasks[n] = task{} // let what it holds go
	a.tasks = a.tasks[:n]
	if n == 0 {
		return first
	}
	i := 0
	for {
		least := 4*i + 1
		if least >= n {
			break
		}
		for c := least + 1; c < min(least+4, n); c++ {
			if a.tasks[c].before(&a.tasks[least]) {
				least = c
			}
		}
		if !a.tasks[least].before(&last) {
			break
		}
		a.tasks[i] = a.tasks[least]
		i = least
	}
	a.tasks[i] = last
	return first
}
