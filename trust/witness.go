package trust

import (
	"slices"
	"time"

	"feedex/protocol"
)

const (
	// week is for how long it is remembered what a network has earned, that and the week before, and which nodes it
	// spoke against.
	week = 7 * 24 * time.Hour
	// maxNetworks bounds the networks that have earned something and are remembered, those that began to first going
	// first. Each has cost own polls an entry.
	maxNetworks = 4096
)

// Witnesses knows which neighbors are witnesses, and which nodes they speak against.
//
// One notion of a witness serves wherever more than one word is asked for. Addresses and time cost little, and
// attackers with many of both can agree on what they say. So:
//
//   - A network (protocol.Network) has one voice. Two words are two only where the ways by which they came have no
//     network in common, senders included: a liar who made the one up stands on the other as well, or they are two
//     owners.
//   - It has earned one: it brought entries first that own polls showed afterwards, within the last week or two. An
//     entry that a publisher does not have earns nothing here, so that no stranger has a voice, and a newcomer one
//     as soon as it was of use.
//   - Where it speaks against a node it needs to have earned more than that, and against several, more than all of
//     them.
//   - A witness that own polls prove wrong is none for the rest of a week.
//
// Nothing of it outlives the program: after a restart everybody earns it anew, and nobody gains by that.
type Witnesses struct {
	earned map[protocol.Network]*earned
	order  []protocol.Network // those of earned, in the order in which they began to
	doubts []doubt            // the oldest first
}

// earned counts the entries that a network earned its voice with, in a week and in the one before.
type earned struct {
	week         int32 // since 1970
	this, before int32
}

// weekOf numbers the weeks.
func weekOf(now time.Time) int32 { return int32(now.Unix() / int64(week/time.Second)) }

// rollOver begins a new week.
func (e *earned) rollOver(now time.Time) {
	switch w := weekOf(now); {
	case w == e.week+1:
		*e = earned{week: w, before: e.this}
	case w > e.week:
		*e = earned{week: w}
	}
}

// Earned notes that an own poll has shown an entry that the neighbor brought first.
func (w *Witnesses) Earned(now time.Time, by protocol.NodeID) {
	w.earn(now, by.Network())
	if by.Hosted() {
		w.earn(now, subject(by)) // what a word against it takes
	}
}

// earn notes an entry that a network has earned.
func (w *Witnesses) earn(now time.Time, network protocol.Network) {
	e := w.earned[network]
	if e == nil {
		if len(w.order) >= maxNetworks {
			delete(w.earned, w.order[0])
			w.order = w.order[1:]
		}
		if w.earned == nil {
			w.earned = make(map[protocol.Network]*earned)
		}
		e = &earned{week: weekOf(now)}
		w.earned[network], w.order = e, append(w.order, network)
	}
	e.rollOver(now)
	e.this++
}

// earnedBy is how many entries the network has earned its voice with.
func (w *Witnesses) earnedBy(now time.Time, network protocol.Network) int {
	e := w.earned[network]
	if e == nil {
		return 0
	}
	e.rollOver(now)
	return int(e.this) + int(e.before)
}

// apart reports whether two ways have no network in common. A way lists the nodes by which something came, the neighbor
// that brought it last.
func apart(a, b []protocol.NodeID) bool {
	for _, id := range a {
		network, name := id.Network(), id.Name()
		if slices.ContainsFunc(b, func(other protocol.NodeID) bool {
			return other.Network() == network || other.Name() == name
		}) {
			return false
		}
	}
	return true
}

// bothCount reports whether the same word, come by two ways, is that of two witnesses.
func (w *Witnesses) bothCount(now time.Time, a, b []protocol.NodeID) bool {
	return apart(a, b) && w.counts(now, a[len(a)-1].Network()) && w.counts(now, b[len(b)-1].Network())
}

// counts reports whether the network has a voice.
func (w *Witnesses) counts(now time.Time, network protocol.Network) bool {
	return w.earnedBy(now, network) > 0 && !w.provedWrong(now, network)
}

// makeRoom takes one word out of a list that is full, the oldest first: the first one of a network without a voice or,
// where all have one, the first. by tells whose it is.
func makeRoom[T any](w *Witnesses, now time.Time, words []T, by func(*T) protocol.Network) []T {
	out := 0
	for i := range words {
		if w.earnedBy(now, by(&words[i])) == 0 {
			out = i
			break
		}
	}
	return slices.Delete(words, out, out+1)
}
