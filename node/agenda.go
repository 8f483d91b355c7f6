package node

import (
	"container/heap"
	"time"
)

// An agenda is what is to be done when. Tasks of the same time are done in the order in which they
// were added. A task that has lost its purpose finds that out itself when its time comes.
type agenda struct {
	tasks taskHeap
	count uint64
}

type task struct {
	at    time.Time
	order uint64
	do    func()
}

func (a *agenda) add(at time.Time, do func()) {
	a.count++
	heap.Push(&a.tasks, task{at, a.count, do})
}

// next is the time of the earliest task, the zero time if there is none.
func (a *agenda) next() time.Time {
	if len(a.tasks) == 0 {
		return time.Time{}
	}
	return a.tasks[0].at
}

// run does every task whose time has come by now, those that are added meanwhile included.
func (a *agenda) run(now time.Time) {
	for len(a.tasks) > 0 && !a.tasks[0].at.After(now) {
		heap.Pop(&a.tasks).(task).do()
	}
}

type taskHeap []task

func (h taskHeap) Len() int      { return len(h) }
func (h taskHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h taskHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].order < h[j].order
	}
	return h[i].at.Before(h[j].at)
}
func (h *taskHeap) Push(x any) { *h = append(*h, x.(task)) }
func (h *taskHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = task{} // let what it holds go
	*h = old[:len(old)-1]
	return last
}
