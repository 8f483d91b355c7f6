package poller

import (
	"slices"
	"time"

	"feedex/protocol"
)

// merits are what told polls were worth, by the node that polled and by its bearer, the neighbor that named it first.
// Anybody can say that it polled, in as many names as it makes keys. But an own poll shows what came out since the one
// before it, and when: a poll of another is blind that came after an entry did, while that was not here yet. Polls that
// were made hardly ever are; of invented ones as many are as chance has it. Who is known for those is doubted, and as
// names can be new each time, of each as much is expected as of its bearer. Dates are the publisher's, and only what
// own polls list counts: liars can add to neither.
type merits struct{ pollers, bearers map[protocol.NodeID]merit }

// A merit is what became of polls.
type merit struct {
	blind  float64 // so many were
	chance float64 // so many would have been by chance
}

const (
	// Of a neighbor of which nothing is known usualBlindness of what chance makes blind is expected. Where mostBlindness
	// or more is to be expected of a node, it is doubted.
	usualBlindness, mostBlindness = .4, .7
	// What is expected of a node, or of a bearer, counts for as many that would be blind by chance.
	pollerWeight, bearerWeight = 1, 3
	// mostChance is how many by chance are remembered: what was before them counts ever less.
	mostChance = 12
	// newsTakes is how long what a poll found may take to come here, and how far dates may be off.
	newsTakes = time.Minute
	// maxMerits bounds the nodes of which merits are known, and bearers likewise: a megabyte.
	maxMerits = 1 << 14
)

// weigh holds polls of others against what a document shows that came out since the own poll before.
func (m *Machine) weigh(s *Subscription, d *taken) {
	if !m.shared(s) || d.since.IsZero() || s.Interval == 0 {
		return
	}
	s.chorus.others.forget(s.silence(m.Now))
	m.merits.weigh(s.chorus.others, d.waits, s.Interval)
}

// weigh holds polls of others, each of whom polls about once in an interval, against how long entries waited.
func (m *merits) weigh(others pollsHeard, waits []wait, interval time.Duration) {
	var chance float64
	times := blinding(waits)
	for _, one := range times {
		chance += float64(one.to.Sub(one.from)) / float64(interval)
	}
	if chance == 0 {
		return
	}
	for i := range others {
		one, blind := &others[i], 0.0
		for _, at := range [...]time.Time{one.last(), time.Unix(0, one.before)} {
			if slices.ContainsFunc(times, func(t wait) bool { return at.After(t.from) && at.Before(t.to) }) {
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

// note takes in polls of a node: so many were blind, and so many would have been by chance.
func note(of map[protocol.NodeID]merit, id protocol.NodeID, blind, chance float64) {
	one, known := of[id]
	if !known && len(of) >= maxMerits {
		clear(of)
	}
	one.blind, one.chance = one.blind+blind, one.chance+chance
	if one.chance > mostChance {
		one.blind, one.chance = one.blind*mostChance/one.chance, mostChance
	}
	of[id] = one
}

// A wait is from when an entry came out until it came here.
type wait struct{ from, to time.Time }

// blinding are the times in which polls were blind, as entries waited. Those overlap, and who polled within
// newsTakes of either end missed nothing. It changes what it is given.
func blinding(waits []wait) (times []wait) {
	slices.SortFunc(waits, func(a, b wait) int { return a.from.Compare(b.from) })
	for _, one := range waits {
		one.from, one.to = one.from.Add(newsTakes), one.to.Add(-newsTakes)
		last := len(times) - 1
		switch {
		case !one.from.Before(one.to):
		case last >= 0 && !one.from.After(times[last].to):
			if one.to.After(times[last].to) {
				times[last].to = one.to
			}
		default:
			times = append(times, one)
		}
	}
	return times
}
