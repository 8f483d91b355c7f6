package trust

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

const (
	// doubters is how many witnesses must speak against a node until it is doubted: one may be wrong, or lie.
	doubters = 2
	// doubtFor is for how long a word against a node counts: three times as long as feeds are left alone between polls,
	// so that ours can tell, if they ever can.
	doubtFor = 12 * time.Hour
	// maxDoubts and maxDoubtsEach bound the words that are remembered, in all and of one network.
	maxDoubts, maxDoubtsEach = 1024, 64
)

// A doubt is the word of a witness against a node: it refuses what comes by way of the node because that forged
// entries, or it brought what it says the node polled, and our own poll did not show it. A node that follows none of
// the feeds in which somebody forges cannot find out by itself, and one such neighbor would be enough for a forger to
// reach everyone for ever.
//
// Two make a node doubted. Their word is no verdict and costs no standing and no link, or two liars could part any two
// nodes: what the node claims to have polled just goes no further by way of us until an own poll has shown it. It ends
// at once in each feed of which an own poll shows what the node claims, and everywhere within hours; a witness has one
// word against a node in a week. One word is enough to have an own poll come sooner. Own evidence would be worth more
// than that: a node that an own poll finds forging is refused.
//
// A witness must have earned more than the nodes together against which it spoke within the week, so that nobody speaks
// against all others, and many with little do not silence one that brings much.
//
// A witness whose word has had its time, in which own polls showed what the node claims and did not find it forging, is
// proved wrong. The proof costs it its voice, which it had to earn, and no credit: somebody may forge to the witness
// alone, to have it say what nobody else can see, and what is taken from it then must not be worth that.
type doubt struct {
	against, by protocol.Network
	at          time.Time
	stake       int        // what its witness must have earned for it: more entries than the node
	shown       []feed.URL // of what the node claims to have polled since, own polls have shown something in these
}

// lasts reports whether the word is remembered. A clock may have gone wrong.
func (d *doubt) lasts(now time.Time) bool { return now.Sub(d.at).Abs() < week }

// stands reports whether the word may count yet.
func (d *doubt) stands(now time.Time) bool { return now.Sub(d.at).Abs() < doubtFor }

// wrong reports whether own polls have shown it to be.
func (d *doubt) wrong(now time.Time) bool { return len(d.shown) > 0 && !d.stands(now) && d.lasts(now) }

// subject is against whom a word goes: the network of a node or, where that cannot be dialled, the node alone, of which
// others know the key and nothing else.
func subject(id protocol.NodeID) protocol.Network { return id.Name().Network() }

// Doubt takes in that a neighbor speaks against a node, and reports whether that is the word of a witness. It does
// nothing where that did so within a week. Where there is no more room, the oldest word goes of networks without a
// voice.
func (w *Witnesses) Doubt(now time.Time, against, by protocol.NodeID) (heard bool) {
	d := doubt{against: subject(against), by: by.Network(), at: now}
	d.stake = 1 + w.earnedBy(now, d.against)
	w.doubts = slices.DeleteFunc(w.doubts, func(old doubt) bool { return !old.lasts(now) })
	own := 0
	for i := range w.doubts {
		if old := &w.doubts[i]; old.by == d.by {
			if old.against == d.against {
				return old.stands(now) && w.counts(now, d.by)
			}
			own++
		}
	}
	if d.by == d.against || subject(by) == d.against || own >= maxDoubtsEach {
		return false
	}
	if len(w.doubts) >= maxDoubts {
		w.doubts = makeRoom(w, now, w.doubts, func(old *doubt) protocol.Network { return old.by })
	}
	w.doubts = append(w.doubts, d)
	return w.counts(now, d.by)
}

// Doubted reports whether at least two witnesses speak against the node, and no own poll for what it claims of the
// feed.
func (w *Witnesses) Doubted(now time.Time, id protocol.NodeID, u feed.URL) bool {
	against, count := subject(id), 0
	for i := range w.doubts {
		d := &w.doubts[i]
		if d.against == against && d.stands(now) && !slices.Contains(d.shown, u) && w.backs(now, i) {
			count++
		}
	}
	return count >= doubters
}

// Shown notes that an own poll has shown what the node claims to have polled.
func (w *Witnesses) Shown(now time.Time, id protocol.NodeID, u feed.URL) {
	against := subject(id)
	for i := range w.doubts {
		if d := &w.doubts[i]; d.against == against && d.stands(now) && !slices.Contains(d.shown, u) {
			d.shown = append(d.shown, u)
		}
	}
}

// Convicted notes that an own poll has found the node forging: neighbors that spoke against it were right.
func (w *Witnesses) Convicted(id protocol.NodeID) {
	against := subject(id)
	w.doubts = slices.DeleteFunc(w.doubts, func(d doubt) bool { return d.against == against })
}

// backs reports whether the witness of a doubt has earned what that takes, and the earlier ones of its that are
// remembered.
func (w *Witnesses) backs(now time.Time, doubt int) bool {
	by, stake := w.doubts[doubt].by, 0
	for i := range w.doubts[:doubt+1] {
		if d := &w.doubts[i]; d.by == by && d.lasts(now) {
			stake += d.stake
		}
	}
	return w.counts(now, by) && w.earnedBy(now, by) >= stake
}

// provedWrong reports whether the network was, within a week.
func (w *Witnesses) provedWrong(now time.Time, network protocol.Network) bool {
	return slices.ContainsFunc(w.doubts, func(d doubt) bool { return d.by == network && d.wrong(now) })
}
