package neighbors

import (
	"math/rand/v2"
	"time"

	"feedex/feed"
)

// Where many follow a feed, most nodes that relay it bring it to nobody: all of their neighbors have it from others.
// Such a relay rests: it is not advertised, and so nothing comes. One of which somebody took what came last does not:
// so the way stays that the latest took to everyone, but for nodes that polled it in the same seconds.
//
// Differs from the paper, whose nodes advertise every interest within reach for as long as it is there (§3.1).

const (
	// crowd is how many neighbors must want a feed before its relay may rest. One between two costs a call now and
	// then, and that one of them polled in the same seconds as the other would be enough.
	crowd = 3
	// Relays are judged about once an hour, at random, or those that could stand in for each other would all go at
	// once.
	soonestJudged, latestJudged = 30 * time.Minute, 90 * time.Minute
	// leastRest and mostRest are for how many judgements a relay rests. It is tried again then: those that had it from
	// others may not do so any more.
	leastRest, mostRest = 8, 16
)

// Relays reports whether the feed is relayed at present.
func (t *RoutingTable) Relays(u feed.URL) bool {
	i := t.routes.find(u)
	return i != nowhere && t.routes.list[i].marks&isRelayed != 0
}

// Spare says whether all neighbors who want the feed have from others what came of it last.
func (t *RoutingTable) Spare(u feed.URL, is bool) {
	switch i := t.routes.find(u); {
	case i == nowhere:
	case is:
		t.routes.list[i].marks |= isSpare
	default:
		t.routes.list[i].marks &^= isSpare
	}
}

// judge has relays rest that nobody needs, and those that rested for long enough are tried again. It does so about once
// an hour, however often it is called.
func (t *RoutingTable) judge(now time.Time, rng *rand.Rand) {
	if now.Before(t.judged) {
		return
	}
	t.judged = now.Add(soonestJudged + time.Duration(rng.Int64N(int64(latestJudged-soonestJudged))))
	for i := range t.routes.list {
		if r := &t.routes.list[i]; r.rest > 0 {
			r.rest--
		} else if t.mayRest(row(i)) {
			r.rest = uint8(leastRest + rng.IntN(mostRest-leastRest+1))
		}
	}
}

// mayRest reports whether nobody depends on a relay, as far as can be told.
func (t *RoutingTable) mayRest(i row) bool {
	r := &t.routes.list[i]
	return r.marks&(isRelayed|isSpare) == isRelayed|isSpare && t.wanting(i) >= crowd &&
		(t.config.Restless == nil || !t.config.Restless(r.url))
}

// wake ends the rest of a relay, and forgets what spoke for one.
func (t *RoutingTable) wake(i row) {
	t.routes.list[i].rest = 0
	t.routes.list[i].marks &^= isSpare
}

// wanting counts the neighbors whose interest in a feed is near enough to be advertised to others.
func (t *RoutingTable) wanting(i row) (count int) {
	for _, c := range t.routes.of(i) {
		if t.near(c) {
			count++
		}
	}
	return count
}
