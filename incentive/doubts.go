package incentive

import (
	"slices"
	"time"
)

const (
	// witnesses is how many neighbors must speak against a node until it is doubted: one may be wrong, or lie.
	witnesses = 2
	// maxTestimonies bounds what is remembered, the latest of it.
	maxTestimonies = 1024
)

// Doubts remembers which neighbors speak against whom: they refuse what comes by way of a node because it forged
// entries, or they brought what it says it polled and our own poll did not show. A node that follows none of the
// feeds in which somebody forges cannot find out by itself, and one such neighbor would be enough for a forger to
// reach everyone for ever.
//
// Two that speak against it make a node doubted for as long as a forger is refused. That is no verdict and costs no
// standing and no link, or two liars could part any two nodes: what it claims to have polled just goes no further by
// way of us, and an own poll comes sooner, which can tell. The zero Doubts has none.
type Doubts struct {
	list []testimony // the oldest first, one for each pair
}

// A testimony is one neighbor's word against a node.
type testimony struct {
	against, by Holder
	at          time.Time
}

// Testify notes that by speaks against a node.
func (d *Doubts) Testify(now time.Time, against, by Holder) {
	if against == by {
		return
	}
	d.list = slices.DeleteFunc(d.list, func(t testimony) bool {
		return !t.counts(now) || t.against == against && t.by == by
	})
	if len(d.list) >= maxTestimonies {
		d.list = slices.Delete(d.list, 0, 1)
	}
	d.list = append(d.list, testimony{against, by, now})
}

// Doubted reports whether at least two neighbors speak against h.
func (d *Doubts) Doubted(now time.Time, h Holder) bool {
	count := 0
	for _, t := range d.list {
		if t.against == h && t.counts(now) {
			count++
		}
	}
	return count >= witnesses
}

func (t *testimony) counts(now time.Time) bool { return now.Sub(t.at).Abs() < forgerForgotten }
