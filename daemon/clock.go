package daemon

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"feedex/feed"
	"feedex/node"
)

// longestNap is the longest that the loop sleeps. Timers stand still while the machine does: without a look at the
// clock now and then, a feed due at noon would be polled a night late by a laptop that was closed overnight.
const longestNap = time.Minute

// A clock is the time of the wall that never runs back: it jumps ahead with the wall, when the machine slept or
// its clock was set, and where the wall is set back it goes on from where it was. The zero value is ready.
type clock struct {
	read time.Time // last reading, which knows how much time passed since
	told time.Time // what was said then
}

// now is the time, given a reading of the system's clock.
func (c *clock) now(reading time.Time) time.Time {
	told := reading.Round(0) // the wall's
	if !c.told.IsZero() {
		if went := c.told.Add(reading.Sub(c.read)); went.After(told) {
			told = went
		}
	}
	c.read, c.told = reading, told
	return told
}

// mostAhead is how far the clock of a core may be ahead of the wall.
const mostAhead = time.Hour

// followClock has a core make way for another one where the wall was set back by a lot: the machine's clock was ahead,
// as after a sleep, and what this core notes would be ahead for as long as it lives.
func (l *loop) followClock(reading time.Time) {
	ahead := l.clock.now(reading).Sub(reading)
	if l.node == nil || ahead < mostAhead {
		return
	}
	l.clock = clock{}
	l.fail(l.clock.now(reading), fmt.Errorf("the clock was set back by %v: the node begins anew by it",
		ahead.Round(time.Second)))
}

const (
	// clockEvery is how often a clock that is behind is looked at again.
	clockEvery = 5 * time.Second
	// clockPatience is for how long a node waits for it: a machine without a battery starts in 1970, and knows better
	// minutes later, once a time server answers.
	clockPatience = time.Hour
)

// latestPast is the latest time of which we know that it is past: when this program was made, and what the node's own
// clock has written, the latest poll of a feed that is followed and the latest arrival of an entry.
func (l *loop) latestPast() time.Time {
	past := madeAt()
	for _, f := range l.store.LoadFeeds() {
		if f.Subscribed && !f.Ended && f.LastPoll.After(past) {
			past = f.LastPoll
		}
	}
	newest, err := l.store.Search(context.Background(), feed.Filter{Limit: 1}) // an error is met again by the core
	if err == nil && len(newest) > 0 && newest[0].Seq > 0 && newest[0].Seen.After(past) {
		past = newest[0].Seen // no time of what was filled in, which others may have told
	}
	return past
}

// madeAt is when the commit was made that this program was built from, the zero time where that is not known.
func madeAt() (t time.Time) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" {
				t, _ = time.Parse(time.RFC3339, s.Value)
			}
		}
	}
	return t
}

// awaitClock has the node rest while the clock says what cannot be, until it was waited for long enough, and reports
// whether it does. A core that runs by such a clock would take all that is owed to publishers and known of neighbors
// for what lies decades ahead. Once a core has run, followClock sees to that.
func (l *loop) awaitClock(now time.Time) bool {
	if l.life > 0 {
		return false
	}
	past, s, log := l.latestPast(), &l.storage, l.config.Log.With("clock", now)
	switch {
	case !now.Before(past):
		return false
	case time.Since(l.started) >= clockPatience:
		log.Warn("the clock is behind still; the node starts all the same", "later than", past)
		return false
	case s.problem == nil:
		log.Warn("the clock is behind; the node waits until it is set, an hour at most", "later than", past)
	}
	at := now.Add(clockPatience - time.Since(l.started))
	s.problem = fmt.Errorf("the clock says %s, and the time was %s already: set it; if it is right now, the node "+
		"starts by itself at %s", now.UTC().Format(time.DateTime), past.UTC().Format(time.DateTime),
		at.UTC().Format(time.TimeOnly))
	s.retry = now.Add(clockEvery)
	return true
}

// untilClock waits until there is a core, or ctx ends.
func (l *loop) untilClock(ctx context.Context) {
	again := time.NewTicker(clockEvery)
	defer again.Stop()
	for ctx.Err() == nil {
		if runs, err := glance(ctx, l, func(*node.Node) bool { return true }); runs && err == nil {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	}
}
