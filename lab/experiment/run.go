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
	"feedex/lab/trace"
)

// ErrSetting is wrapped by every error about an impossible setting. The text says what would be possible.
var ErrSetting = errors.New("impossible setting")

// impossible is an ErrSetting that says what is wrong, and what would be possible.
func impossible(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrSetting}, args...)...)
}

// Progress is told now and then how much of an experiment is done, from 0 to 1. It is never called by two
// goroutines at once.
type Progress func(done float64)

// A meter adds up the progress of several worlds.
type meter struct {
	mu    sync.Mutex
	costs []float64 // what share of the time each world takes, times their sum
	done  []float64 // of the world
	tell  Progress
}

// newMeter tells the progress of worlds of which each takes as much of the time as its cost says.
func newMeter(tell Progress, costs []float64) *meter {
	return &meter{tell: tell, costs: costs, done: make([]float64, len(costs))}
}

// equal are the costs of n worlds that take as long as each other.
func equal(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// of is told of the progress of one of the worlds.
func (m *meter) of(world int) Progress {
	return func(done float64) {
		if m.tell == nil {
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.done[world] = done
		sum, whole := 0.0, 0.0
		for i, cost := range m.costs {
			sum += cost * m.done[i]
			whole += cost
		}
		m.tell(sum / whole)
	}
}

// each is what f makes of every row.
func each[Row, T any](rows []Row, f func(Row) T) []T {
	list := make([]T, 0, len(rows))
	for _, row := range rows {
		list = append(list, f(row))
	}
	return list
}

// newReport is the Report of an experiment before it has run anything.
func newReport(title string, seed lab.Seed, set *trace.Set) *report.Report {
	return &report.Report{Title: title, Seed: uint64(seed), Traces: set.Hash(), Hash: report.HashOf("")}
}

// howFar says how long the networks of an interrupted experiment ran, "" where all came to their end.
func howFar(ran []time.Duration, whole time.Duration) string {
	if len(ran) == 0 || slices.Min(ran) >= whole {
		return ""
	}
	return fmt.Sprintf("interrupted; of %s h the networks ran %s; what had not begun is left out", report.Hours(whole),
		strings.Join(each(ran, report.Hours), ", "))
}

// The virtual time that passes between two looks at whether somebody interrupts: as much as takes briefly, within
// bounds. It has no effect on what happens.
const (
	shortestSlice = time.Second
	longestSlice  = 5 * time.Minute
	briefly       = 100 * time.Millisecond
)

// advance runs a world to its end, or until ctx ends, and reports whether it came to its end.
func advance(ctx context.Context, w *lab.World, end time.Time, tell Progress) bool {
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
		tell(float64(w.Now().Sub(begin)) / float64(end.Sub(begin)))
	}
	return true
}

// together runs all worlds of a meter, as many at a time as there are processors, and returns what each came to, in
// order.
func together[Row any](m *meter, run func(i int, tell Progress) Row) []Row {
	rows := make([]Row, len(m.costs))
	var workers sync.WaitGroup
	busy := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range rows {
		busy <- struct{}{}
		workers.Go(func() {
			rows[i] = run(i, m.of(i))
			<-busy
		})
	}
	workers.Wait()
	return rows
}
