package courtesy

import (
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// firstProbe and lastProbe bound the time between attempts to reach anybody while our network seems down.
	// After goneFor it is longestProbe: of few publishers all may be gone for good.
	firstProbe   = 15 * time.Second
	lastProbe    = 2 * time.Minute
	longestProbe = time.Hour
	goneFor      = 24 * time.Hour
	// lonelyFor is how long a host that nobody else can speak for is thought unreachable through no fault of its own.
	lonelyFor = time.Hour
)

// An Outage is a time in which no publisher can be reached. One that does not answer may be down; two, with no
// answer from anybody in between, are our own network. No feed loses by that: it does not count as a failure,
// and what falls due is polled when the network is back. Meanwhile one feed at a time tries. Make one with NewOutage.
type Outage struct {
	rng      *rand.Rand
	lost     []string      // hosts that were not reached since the last answer, two at most
	since    time.Time     // the first of these
	answered time.Time     // the last answer from anybody
	wait     time.Duration // until the next attempt
	next     time.Time     // the next attempt
}

// NewOutage returns the state of a network that works.
func NewOutage(rng *rand.Rand) Outage { return Outage{rng: rng} }

// Since is when our own network went down, the zero time where it seems to work.
func (o *Outage) Since() time.Time {
	if !o.on() {
		return time.Time{}
	}
	return o.since
}

func (o *Outage) on() bool { return len(o.lost) > 1 }

// Excuses takes note that a poll reached nobody at a host, whose feed was first not reached at lost, and reports
// whether nobody can tell if that is the publisher's fault: then the feed is to be tried again at Next. It is where
// others answered since.
func (o *Outage) Excuses(now time.Time, host string, lost time.Time) bool {
	if !o.answered.Before(lost) {
		return false
	}
	if !slices.Contains(o.lost, host) && !o.on() {
		if len(o.lost) == 0 {
			o.since = now
		}
		o.lost = append(o.lost, host)
	}
	if !o.on() && now.Sub(lost) >= lonelyFor {
		return false
	}
	if !now.Before(o.next) {
		o.probeLater(now)
	}
	return true
}

// Next is when the next attempt may be made.
func (o *Outage) Next() time.Time { return o.next }

// Reached takes note that somebody answered: our network works.
func (o *Outage) Reached(now time.Time) { *o = Outage{rng: o.rng, answered: now} }

// Postpones reports whether a feed that fell due has to wait for the network, until some time after Next. The first one
// that falls due when an attempt may be made is the attempt.
func (o *Outage) Postpones(now time.Time) bool {
	if !o.on() || now.Before(o.next) {
		return o.on()
	}
	o.probeLater(now)
	return false
}

// probeLater sets the time of the next attempt.
func (o *Outage) probeLater(now time.Time) {
	last := lastProbe
	if now.Sub(o.since) >= goneFor {
		last = longestProbe
	}
	o.wait = min(max(2*o.wait, firstProbe), last)
	o.next = now.Add(o.wait + upTo(o.rng, o.wait/10))
}
