package daemon

import "time"

// Entries are moved into the full-text index when the loop rests. Nothing waits for that: a search looks
// through what is not indexed yet. But it takes the longer the more there is of it, so the index must
// not fall behind for good where the loop never rests.
const (
	// indexStep is how many entries are moved at a time: about ten milliseconds.
	indexStep = 128
	// indexIdle is how long the loop rests before the first step, and indexPause how long between two:
	// as long as a step takes, so that half of the time is left to others.
	indexIdle  = 250 * time.Millisecond
	indexPause = 12 * time.Millisecond
	// indexLatest is how long arrivals can put off a step. Of a loop that never rests, steps take no
	// more than one part in indexShare.
	indexLatest = 5 * time.Second
	indexShare  = 20
	// firstIndexRetry is the wait after a step that failed; it doubles up to longestWait.
	firstIndexRetry = time.Second
)

// indexing plans the steps.
type indexing struct {
	due    time.Time     // when the next step is; zero while there is nothing to do
	latest time.Time     // until when arrivals can put it off; zero before the first arrival
	took   time.Duration // by the last step
	wait   time.Duration // between the tries while steps fail, 0 while they do not
}

// arrived plans the next step at a time when the loop has been busy.
func (x *indexing) arrived(now time.Time) {
	if x.wait > 0 {
		return // the failure said when
	}
	if x.latest.IsZero() {
		x.latest = now.Add(max(indexLatest, indexShare*x.took))
	}
	x.due = now.Add(indexIdle)
	if x.latest.Before(x.due) {
		x.due = x.latest
	}
}

// ended plans the next step after one, which left some entries to do, or failed.
func (x *indexing) ended(begun, now time.Time, left int, err error) {
	x.due, x.latest, x.took = time.Time{}, time.Time{}, now.Sub(begun)
	if err != nil {
		x.wait = backOff(x.wait, firstIndexRetry)
		x.due = now.Add(x.wait)
		return
	}
	x.wait = 0
	if left > 0 {
		x.due = now.Add(indexPause)
	}
}

// index makes a step. It has a transaction of its own and the core knows nothing of it, so a failure
// concerns nobody else.
func (h *host) index() {
	begun, failed := time.Now(), h.indexing.wait > 0
	left, err := h.store.Index(indexStep)
	h.indexing.ended(begun, time.Now(), left, err)
	switch {
	case err != nil && !failed:
		h.config.Log.Warn("entries cannot be indexed; searches find them all the same, but take longer", "err", err)
	case err == nil && failed:
		h.config.Log.Info("entries can be indexed again")
	}
}
