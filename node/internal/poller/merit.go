package poller

import (
	"maps"
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/protocol"
)

// merits are what told polls were worth, by the node that polled and by its bearer, the neighbor that named it first.
// Anybody can say that it polled, in as many names as it makes keys. But an own poll shows what came out since the one
// before it, and when: a poll of another is blind that came after an entry did, while that was not here yet. Polls that
// were made hardly ever are; of invented ones as many are as chance has it. Who is known for those is disregarded, and
// as names can be new each time, of each as much is expected as of its bearer. Dates are the publisher's, and only what
// own polls list counts: liars can add to neither. Where own polls are blind as well, a feed's dates are off.
type merits struct{ pollers, bearers map[protocol.NodeID]merit }

// A merit is what became of polls.
type merit struct {
	blind  float64 // so many were
	chance float64 // so many would have been by chance
}

const (
	// Of a neighbor of which nothing is known usualBlindness of what chance makes blind is expected. A node is
	// disregarded of which mostBlindness or more is.
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
	// maxMerits bounds the nodes of which merits are known, and bearers likewise: some three megabytes.
	maxMerits = 1 << 14
)

// weigh holds polls of others against what a document shows that came here since the own poll before.
func (m *Machine) weigh(s *Subscription, d *taken) {
	if !m.shared(s) || s.volunteered() || d.since.IsZero() || s.Interval == 0 {
		return
	}
	s.forgetSilent(m.Now)
	times := blinding(d.waits)
	if !s.chorus.dates.tell(times, d.since, max(s.Interval, m.Now.Sub(d.since))) {
		if s.chorus.dates.recant() {
			m.forgetMerits()
		}
		return
	}
	m.merits.weigh(s.chorus.others, after(when.Later(d.since, s.silence(m.Now)), times), s.Interval)
}

// forgetMerits forgets what all polls of others were worth.
func (m *Machine) forgetMerits() {
	clear(m.merits.pollers)
	clear(m.merits.bearers)
	for _, s := range m.Feeds {
		for i := range s.chorus.others {
			s.chorus.others[i].disregarded = false
		}
	}
}

// dates are what own polls show of the dates in a feed: they are never blind where entries are dated as they come out.
type dates struct {
	merit
	judged   bool // the feed was taken to tell of others
	recanted bool // that was given up once
}

// tell takes in the times in which own polls were blind that came about once in an interval, the latest of them then,
// and reports whether the dates tell anything of others.
func (d *dates) tell(times []entryWait, poll time.Time, interval time.Duration) bool {
	times = after(poll.Add(-interval), times)
	blind := 0.0
	if slices.ContainsFunc(times, func(t entryWait) bool { return t.holds(poll) }) {
		blind = 1
	}
	d.merit = d.with(blind, chance(times, interval))
	tells := d.expected(0, datesWeight) < datesOff
	d.judged = d.judged || tells && len(times) > 0
	return tells
}

// recant reports whether dates that do not tell were taken to do before, for the first time: a feed has all merits
// forgotten once.
func (d *dates) recant() bool {
	first := d.judged && !d.recanted
	d.recanted = d.recanted || first
	return first
}

// weigh holds polls of others, each of whom polls about once in an interval, against the times in which they were
// blind.
func (m *merits) weigh(others pollsHeard, times []entryWait, interval time.Duration) {
	chance := chance(times, interval)
	if chance == 0 {
		return
	}
	for i := range others {
		one, blind := &others[i], 0.0
		if one.answered == [2]int64{} {
			continue
		}
		for _, at := range one.answered {
			if slices.ContainsFunc(times, func(t entryWait) bool { return t.holds(time.Unix(0, at)) }) {
				blind++
			}
		}
		note(m.pollers, one.name(), blind, chance)
		if !one.own {
			note(m.bearers, one.via, blind, chance)
		}
	}
	for i := range others {
		m.judge(&others[i])
	}
}

// judge notes of a node whether it is disregarded, and returns that.
func (m *merits) judge(one *pollOf) bool {
	expected := usualBlindness
	if !one.own {
		expected = m.bearers[one.via].expected(expected, bearerWeight)
	}
	one.disregarded = m.pollers[one.name()].expected(expected, pollerWeight) >= mostBlindness
	return one.disregarded
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

// note takes in polls of a node. Where there is no room for one more, those go of which little is known.
func note(of map[protocol.NodeID]merit, id protocol.NodeID, blind, chance float64) {
	one, known := of[id]
	if !known && len(of) >= maxMerits {
		maps.DeleteFunc(of, func(_ protocol.NodeID, other merit) bool { return other.chance < 1 })
		if len(of) >= maxMerits {
			clear(of)
		}
	}
	of[id] = one.with(blind, chance)
}

// An entryWait is from when an entry came out, as it is dated, until it came here.
type entryWait struct{ from, to time.Time }

// holds reports whether a time is within it.
func (w entryWait) holds(at time.Time) bool { return at.After(w.from) && at.Before(w.to) }

// after is what of such times is after one.
func after(at time.Time, times []entryWait) (later []entryWait) {
	for _, t := range times {
		if t.from = when.Later(t.from, at); t.from.Before(t.to) {
			later = append(later, t)
		}
	}
	return later
}

// chance is how many polls of a node are in such times by chance that polls once in an interval.
func chance(times []entryWait, interval time.Duration) (sum float64) {
	for _, t := range times {
		sum += float64(t.to.Sub(t.from)) / float64(interval)
	}
	return sum
}

// blinding are the times in which polls were blind, as entries waited. Those overlap, and who polled within newsTakes
// of either end missed nothing. It changes what it is given.
func blinding(waits []entryWait) (times []entryWait) {
	slices.SortFunc(waits, func(a, b entryWait) int { return a.from.Compare(b.from) })
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
