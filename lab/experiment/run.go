package experiment

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"feedex/lab"
	"feedex/lab/report"
)

// ErrSetting is wrapped by every error about an impossible setting. The text says what would be possible.
var ErrSetting = errors.New("impossible setting")

// Progress is told now and then how much of an experiment is done, from 0 to 1. It is never called by two
// goroutines at once.
type Progress func(done float64)

// A meter adds up the progress of several worlds.
type meter struct {
	mu     sync.Mutex
	shares []float64 // of the whole, by world
	done   []float64 // of the world
	tell   Progress
}

// newMeter tells the progress of worlds of which each takes that share of the time.
func newMeter(tell Progress, costs []float64) *meter {
	sum := 0.0
	for _, c := range costs {
		sum += c
	}
	m := &meter{tell: tell, done: make([]float64, len(costs))}
	for _, c := range costs {
		m.shares = append(m.shares, c/sum)
	}
	return m
}

func (m *meter) set(world int, done float64) {
	if m.tell == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done[world] = done
	sum := 0.0
	for i, share := range m.shares {
		sum += share * m.done[i]
	}
	m.tell(sum)
}

// howFar says how long the networks of an interrupted experiment ran, "" where all came to their end.
func howFar(ran []time.Duration, whole time.Duration) string {
	var each []string
	for _, r := range ran {
		each = append(each, report.Hours(r))
	}
	if !slices.ContainsFunc(ran, func(r time.Duration) bool { return r < whole }) {
		return ""
	}
	return fmt.Sprintf("interrupted; of %s h the networks ran %s; what had not begun is left out", report.Hours(whole),
		strings.Join(each, ", "))
}

// The virtual time that passes between two looks at whether somebody interrupts: as much as takes briefly, within
// bounds. It has no effect on what happens.
const (
	shortestSlice = time.Second
	longestSlice  = 5 * time.Minute
	briefly       = 100 * time.Millisecond
)

// advance runs a world to its end, or until ctx ends, and reports whether it came to its end.
func advance(ctx context.Context, w *lab.World, end time.Time, progress func(done float64)) bool {
	begin, slice := w.Now(), shortestSlice
	for w.Now().Before(end) {
		if ctx.Err() != nil {
			return false
		}
		next := w.Now().Add(slice)
		if next.After(end) {
			next = end
		}
		began := time.Now()
		w.Run(next)
		switch took := time.Since(began); {
		case took > 2*briefly:
			slice = max(slice/2, shortestSlice)
		case took < briefly/2:
			slice = min(2*slice, longestSlice)
		}
		progress(float64(w.Now().Sub(begin)) / float64(end.Sub(begin)))
	}
	return true
}

// together calls f for 0 to n-1, as many at a time as there are processors, in order.
func together(n int, f func(i int)) {
	var workers sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}
