package poller

import (
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/protocol"
)

// merits are what told polls were worth, by the node that polled and by its bearer, the neighbor that named it first.
// Anybody can say that it polled, in as many names as it makes keys. But an own poll shows what came out since the one
// before it, and when: a poll of another is blind that came after an entry did, while that was not here yet. Polls that
// were made hardly ever are; of invented ones as many are as chance has it. Who is known for those is doubted, and as
// names can be new each time, of each as much is expected as of its bearer. Dates are the publisher's, and only what
// own polls list counts: liars can add to neither. Where own polls are blind as well, a feed's dates are off.
type merits struct{ pollers, bearers map[protocol.NodeID]merit }

// A merit is what became of polls.
type merit struct {
	blind  float64 // so many were
	chance float64 // so many would have been by chance
}

const (
	// Of a neighbor of which nothing is known usualBlindness of what chance makes blind is expected. A node is doubted
	// of which mostBlindness or more is to be expected.
	usualBlindness, mostBlindness = .4, .7
	// What is expected of a node, or of a bearer, counts for as many that would be blind by chance.
	pollerWeight, bearerWeight = 1, 3
	// mostChance is how many by chance are remembered: what was before them counts ever less.
	mostChance = 12
	// A feed's dates tell nothing where datesOff or more of the own polls that chance makes blind are. That none is
	// counts for datesWeight from the start.
	datesWeight, datesOff = .5, .35
	// newsTakes is how long what a poll found may take to come here, and how far dates may be off.
	newsTakes = time.Minute
	// maxMerits bounds the nodes of which merits are known, and bearers likewise: a megabyte.
	maxMerits = 1 << 14
)

// weigh holds polls of others against what a document shows that came here since the own poll before.
func (m *Machine) weigh(s *Subscription, d *taken) {
	if !m.shared(s) || d.since.IsZero() || s.Interval == 0 {
		return
	}
	s.chorus.others.forget(s.silence(m.Now))
	m.merits.weigh(&s.chorus, d.waits, d.since, s.Interval)
}

// weigh holds the polls of a feed since the own one before, and that one, against how long entries waited since then.
// Where its dates turn out to be off, what they said of others may be wrong, and all merits are forgotten.
func (m *merits) weigh(c *chorus, waits []wait, since time.Time, interval time.Duration) {
	for i := range waits {
		waits[i].from = when.Later(waits[i].from, since.Add(-interval))
	}
	times := blinding(waits)
	blind := 0.0
	if slices.ContainsFunc(times, func(t wait) bool { return t.holds(since) }) {
		blind = 1
	}
	told := c.datesTell()
	c.dates = c.dates.with(blind, chance(times, interval))
	if !c.datesTell() {
		if told {
			clear(m.pollers)
			clear(m.bearers)
		}
		return
	}
	for i := range times {
		times[i].from = when.Later(times[i].from, since)
	}
	m.weighOthers(c.others, times, chance(times, interval))
}

// datesTell reports whether the feed's entries are dated as they come out, as far as own polls have shown.
func (c *chorus) datesTell() bool { return c.dates.expected(0, datesWeight) < datesOff }

// weighOthers holds polls of others against the times in which they were blind, as so many of each would be by chance.
func (m *merits) weighOthers(others pollsHeard, times []wait, chance float64) {
	if chance == 0 {
		return
	}
	for i := range others {
		one, blind := &others[i], 0.0
		for _, at := range [...]time.Time{one.last(), time.Unix(0, one.before)} {
			if slices.ContainsFunc(times, func(t wait) bool { return t.holds(at) }) {
				blind++
			}
		}
		note(m.pollers, one.name(), blind, chance)
		if !one.own {
			note(m.bearers, one.via, blind, chance)
		}
	}
	for i := range others {
		m.doubt(&others[i])
	}
}

// doubt says of a node that polled whether it is doubted.
func (m *merits) doubt(one *pollOf) bool {
	expected := usualBlindness
	if !one.own {
		expected = m.bearers[one.via].expected(expected, bearerWeight)
	}
	one.doubted = m.pollers[one.name()].expected(expected, pollerWeight) >= mostBlindness
	return one.doubted
}

// expected is which part of the polls that chance makes blind is to be expected to be, where it was so much before
// anything was known, which counts for weight of them.
func (m merit) expected(before, weight float64) float64 {
	return (m.blind + before*weight) / (m.chance + weight)
}

// with takes in more polls: so many were blind, and so many would have been by chance.
func (m merit) with(blind, chance float64) merit {
	if m.blind, m.chance = m.blind+blind, m.chance+chance; m.chance > mostChance {
		m.blind, m.chance = m.blind*mostChance/m.chance, mostChance
	}
	return m
}

// note takes in polls of a node.
func note(of map[protocol.NodeID]merit, id protocol.NodeID, blind, chance float64) {
	one, known := of[id]
	if !known && len(of) >= maxMerits {
		clear(of)
	}
	of[id] = one.with(blind, chance)
}

// A wait is from when an entry came out, as it is dated, until it came here.
type wait struct{ from, to time.Time }

// holds reports whether a time is within it.
func (w wait) holds(at time.Time) bool { return at.After(w.from) && at.Before(w.to) }

// chance is how many polls of a node that polls once in an interval are in such times by chance.
func chance(times []wait, interval time.Duration) (sum float64) {
	for _, t := range times {
		sum += float64(max(t.to.Sub(t.from), 0)) / float64(interval)
	}
	return sum
}

// blinding are the times in which polls were blind, as entries waited. Those overlap, and who polled within newsTakes
// of either end missed nothing. It changes what it is given.
func blinding(waits []wait) (times []wait) {
	slices.SortFunc(waits, func(a, b wait) int { return a.from.Compare(b.from) })
	for _, one := range waits {
		one.from, one.to = one.from.Add(newsTakes), one.to.Add(-newsTakes)
		last := len(times) - 1
		switch {
		case !one.from.Before(one.to):
		case last >= 0 && !one.from.After(times[last].to):
			times[last].to = when.Later(times[last].to, one.to)
		default:
			times = append(times, one)
		}
	}
	return times
}
