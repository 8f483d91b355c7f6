package polling_test

import (
	"testing"
	"time"

	"feedex/lab/baseline"
	"feedex/polling"
)

// A publisher publishes one entry every so often; its document lists the latest fifteen, as most
// feeds of Paper §2 do.
type publisher struct{ every time.Duration }

const documentSize = 15

// A run is the result of polling a feed for a month.
type run struct {
	polls  int
	missed int           // entries that came and went between two polls
	last   time.Duration // the interval at the end
}

func (p publisher) polledBy(interval func(polling.Poll) time.Duration, first time.Duration) run {
	var r run
	seen := 0
	at := first
	for r.last = first; at < 30*24*time.Hour; at += r.last {
		published := int(at / p.every)
		listed := min(published, documentSize)
		fresh := min(published-seen, listed)
		r.missed += published - seen - fresh
		seen = published
		r.polls++
		r.last = interval(polling.Poll{Interval: r.last, Listed: listed, New: fresh})
	}
	return r
}

// TestPaperRuleRunsAway shows why FeedEx differs from the text of Paper §3.3: taken as written, the
// rule polls a quiet feed without end and leaves a busy one alone. Its intuition, which FeedEx
// follows, does the opposite.
func TestPaperRuleRunsAway(t *testing.T) {
	policy := polling.FeedEx{}
	quiet, busy := publisher{48 * time.Hour}, publisher{6 * time.Minute}

	written := quiet.polledBy(baseline.Literal{}.Interval, polling.DefaultStart)
	ours := quiet.polledBy(policy.Interval, policy.First())
	t.Logf("quiet feed: as written %+v, ours %+v", written, ours)
	if written.last != polling.DefaultMin || written.polls < 1400 {
		t.Errorf("quiet feed, as written: %+v, want it to run away to %v", written, polling.DefaultMin)
	}
	if ours.last != polling.DefaultMax || ours.polls > 50 || ours.missed != 0 {
		t.Errorf("quiet feed: %+v, want rest at %v", ours, polling.DefaultMax)
	}

	written = busy.polledBy(baseline.Literal{}.Interval, polling.DefaultStart)
	ours = busy.polledBy(policy.Interval, policy.First())
	t.Logf("busy feed: as written %+v, ours %+v", written, ours)
	if written.last != polling.DefaultMax || written.missed < 6000 {
		t.Errorf("busy feed, as written: %+v, want it to run away to %v and miss most of 7200 entries", written,
			polling.DefaultMax)
	}
	if ours.last != polling.DefaultMin || ours.missed > documentSize {
		t.Errorf("busy feed: %+v, want rest at %v with nothing missed after the first polls", ours, polling.DefaultMin)
	}
}

// TestPaperFreshness holds FeedEx to what Paper §3.3 wants of it: an interval in which the target's
// share of the document is published, within the step of two, and no entry missed on the way.
func TestPaperFreshness(t *testing.T) {
	policy := polling.FeedEx{}
	for every := 15 * time.Minute; every <= 5*time.Hour; every += 5 * time.Minute {
		r := publisher{every}.polledBy(policy.Interval, policy.First())
		rest := time.Duration(polling.DefaultTarget * documentSize * float64(every))
		if r.last < rest/2 && r.last > polling.DefaultMin || r.last > 2*rest && r.last < polling.DefaultMax ||
			r.missed > 0 {
			t.Errorf("one entry every %v: %+v, want an interval around %v", every, r, rest)
		}
	}
}
