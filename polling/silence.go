package polling

import (
	"math"
	"time"

	"feedex/internal/when"
)

// A Silence is when a node polls one feed that others poll as well. None of them owns a moment or keeps a list of the
// others: each polls once the feed has been quiet, which is to say polled by nobody, for as long as suits how long it
// has waited itself. So polls of all of them follow one another at even distances, whoever comes and goes, and an entry
// that waited T/(n+1) between random polls waits half as long. What a node does not hear it does not miss: it polls
// within its own interval in any case.
//
// The zero Silence has heard nothing. Times are those of the node's own clock.
type Silence struct {
	Began  time.Time     // when the node's own waiting began: its last poll, or where its phase was drawn
	Latest time.Time     // the latest poll of anybody
	Delay  time.Duration // how late news of a poll comes, averaged
	Clock  *Clock        // by which turns are even; nil for the usual one
	// Ahead is for how long the node has waited beyond what it has since Began, or below 0 for less: whoever polls
	// together with others goes apart from them by it. No bound moves by it.
	Ahead time.Duration
	// log is the logarithm of how long the feed is quiet before the node polls that has waited its whole interval, in
	// even shares of that.
	log float64
}

const (
	// earliestTurn and latestTurn bound when a node polls, in parts of its interval, whatever others say: a lie moves a
	// poll, and never removes one.
	earliestTurn, latestTurn = .75, 1.1
	// leastTurn and mostTurn bound what one turn changes of the quiet time, as where the feed's publisher wanted rest.
	leastTurn, mostTurn = .5, 2
	// together is within what part of an even share two polls are too close to one another, and mostAhead by what part
	// of the interval the node then moves away from there at most.
	together  = .25
	mostAhead = .1
	// leastDelay is the least that news of a poll is taken to need.
	leastDelay = time.Second
	// delayGain is how much the latest delay counts in the average.
	delayGain = .1
	// apart is how far apart, in delays of news, nodes poll of which one has waited an even share longer than the
	// other: news of the first must reach the second before its turn. With 46 nodes, intervals of half an hour and two
	// seconds of delay the gaps between polls deviate by .77 of their mean with 1, by .46 with 4, by .39 with 8, and by
	// no less with more.
	apart = 8
)

// mostLog bounds the quiet time to a third and three times an even share.
var mostLog = math.Log(3)

// Polled notes that the node polled now, after an interval that was to be so long, and that so many nodes poll the
// feed, itself included.
//
// It tunes the quiet time so that turns last an interval on average, and the node polls as often as that says whatever
// it does not hear. The quiet time counts in even shares: it stays right where nodes come and go or intervals change,
// for all the feed's nodes alike. Its logarithm grows by one minus the turn, so that a turn of half an interval is made
// good by about as much as one of one and a half, and a single turn suffices where the quiet time was all that was
// wrong.
func (s *Silence) Polled(now time.Time, interval time.Duration, pollers int) {
	if !s.Began.IsZero() && pollers > 1 {
		turn := min(max(s.turn(interval, pollers)/s.whole(interval), leastTurn), mostTurn)
		s.log = min(max(s.log+1-turn, -mostLog), mostLog)
	}
	s.Began, s.Latest, s.Ahead = now, now, 0
}

// Aside is how far the node is to move at most, either way and drawn at random, from a moment at which it polled
// together with somebody: all who poll at one moment have waited for as long as each other from then on, and would do
// so again. It is 0 where their polls are apart, or the node has moved already.
func (s *Silence) Aside(at time.Time, interval time.Duration, pollers int) time.Duration {
	near := stretched(interval, together) / time.Duration(pollers)
	if s.Ahead != 0 || s.Began.IsZero() || at.Sub(s.Began).Abs() > near {
		return 0
	}
	return stretched(interval, mostAhead)
}

// Heard notes that somebody polled at that time, of which the node hears now, and reports whether that is news: later
// than what it knew by more than such news usually needs. Others need not hear it but for that.
func (s *Silence) Heard(now, at time.Time) (news bool) {
	delay := max(now.Sub(at), leastDelay)
	if s.Delay == 0 {
		s.Delay = delay
	}
	s.Delay += time.Duration(delayGain * float64(delay-s.Delay))
	news = at.Sub(s.Latest) > s.Delay
	if at.After(s.Latest) {
		s.Latest = at
	}
	return news
}

// Due is when the node polls next if it hears of nobody until then. That is a whole interval after its last poll where
// nobody else polls, or news of others comes too late to help.
func (s *Silence) Due(interval time.Duration, pollers int) time.Time {
	if pollers < 2 || s.Delay > interval/time.Duration(2*pollers) {
		return s.Began.Add(interval)
	}
	earliest, latest := stretched(interval, earliestTurn), stretched(interval, latestTurn)
	due := s.Clock.After(s.Began, s.turn(interval, pollers), s.Began.Add(latest)).Add(-s.Ahead)
	return when.Earlier(when.Later(due, s.Began.Add(earliest)), s.Began.Add(latest))
}

// whole is an interval after the node's last poll by the feed's clock, in nanoseconds.
func (s *Silence) whole(interval time.Duration) float64 {
	return s.Clock.Passed(s.Began, s.Began.Add(interval))
}

// turn is how long the node would wait if its own interval were no bound, in nanoseconds by the feed's clock. Whoever
// has waited longest polls first: from a whole interval on after the quiet time, before that after up to grade more.
func (s *Silence) turn(interval time.Duration, pollers int) float64 {
	whole := s.whole(interval)
	quiet := math.Exp(s.log) * whole / float64(pollers)
	grade := max(8*quiet, apart*float64(pollers)*float64(s.Delay))
	return (s.Clock.Passed(s.Began, s.Latest) + quiet + grade) / (1 + grade/whole)
}
