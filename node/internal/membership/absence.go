package membership

import (
	"time"

	"feedex/feed"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// absence is since when the node has had no neighbor, or had none until a moment ago. Entries that went round meanwhile
// are lost to it where documents do not show them any more; neighbors may still have them.
type absence struct {
	heard time.Time // the last sign of life of any neighbor, of the last run too; zero where there was none
	Since time.Time // when the latest absence began, and
	back  time.Time // when it ended
}

// recall takes up when neighbors of earlier runs gave their last sign of life, but for what a clock noted that was
// ahead.
func (b *absence) recall(now time.Time, peers []protocol.FormerNeighbor) {
	for _, p := range peers {
		if !p.LastMet.After(now) {
			b.parted(p.LastMet)
		}
	}
}

// parted notes that a neighbor is gone whose last sign of life was of that time.
func (b *absence) parted(heard time.Time) {
	if heard.After(b.heard) {
		b.heard = heard
	}
}

// ended notes that the node has a neighbor again. A link that does not last ends no absence.
func (b *absence) ended(now time.Time) {
	if now.Sub(b.back) >= core.SaidFor {
		b.Since, b.back = b.heard, now
	}
}

// covers reports whether the publisher dates the entry within the latest absence, if that was a long one: then the
// neighbor that brings it need not have polled it just now. Who never had a neighbor was absent from the beginning of
// time, but entries without a date are not of then.
func (b *absence) covers(e *feed.Entry) bool {
	at := e.Published
	if at.IsZero() {
		at = e.Updated
	}
	return !at.IsZero() && b.back.Sub(b.Since) > core.RecentFor && at.After(b.Since.Add(-core.SaidFor)) &&
		at.Before(b.back)
}

// Away is for how long the node has been, or had been, without neighbors, as a node that we ask for a link is to hear
// it: 0 where that is over, where there never was one, and where it was no longer than what any new neighbor is
// offered.
func (m *Machine) Away() time.Duration {
	since := m.Absence.Since
	if m.Now.Sub(m.Absence.back) >= core.SaidFor {
		since = m.Absence.heard
		if len(m.Links) > 0 {
			return 0
		}
	}
	if away := m.Now.Sub(since); !since.IsZero() && away > core.RecentFor {
		return away
	}
	return 0
}

// AbsentAt reports whether the publisher dates the entry within the latest long absence.
func (m *Machine) AbsentAt(e *feed.Entry) bool { return m.Absence.covers(e) }
