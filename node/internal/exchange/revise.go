package exchange

import (
	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node/internal/core"
	"feedex/protocol"
	"feedex/trust"
	"time"
)

// revised says what becomes of a version that a neighbor brought of an entry of which we keep another.
//
// A version that an own poll has shown gives way to none: the next own poll has the publisher's word, and the other
// waits for that, so that the owner hears of what was altered on its way. One that two witnesses stand by gives way to
// two only where the publisher moved `updated` forward: theirs may well be the older one. For the same reason only such
// revisions are passed on, a few a day for each entry. They earn nothing.
type revised int

const (
	stale    revised = iota // it cannot replace ours: the bundle is done with
	beyond                  // it is beyond the neighbor's quota, and was not looked at
	awaited                 // it is set aside, and others may confirm it
	replaced                // it is confirmed, and kept
)

// revise takes in a version of an entry of which we keep another, as far as that is allowed to the neighbor; nil is for
// all.
func (m *Machine) revise(l *link, b *protocol.Bundle, v *archive.Record, known archive.Version,
	allowed *incentive.Allowance) revised {
	other := trust.Version{Entry: v.ID, Digest: v.Digest, Kept: known.Digest, Via: b.Via(l.ID()).Path, DID: b.DID}
	updated := v.Entry.Updated
	if known.Updated.After(m.Now.Add(archive.Ahead)) {
		known.Updated = time.Time{} // no date: it must not keep every later version away
	}
	switch {
	case known.Confirmed && updated.Before(known.Updated) && !updated.IsZero():
		return stale // it is the older one by its own word, and ours is more than one neighbor's
	case known.Confirmed && v.Entry.SameButDates(known.Digest, known.Published, known.Updated):
		return stale // the publisher's dates move, see keepDates
	case known.Polled || known.Confirmed && !m.Moved(known.Updated, updated):
		m.Hearsay.Versions.SetAside(m.Now, other)
		return stale
	case allowed != nil && !allowed.Fits(core.RoomOf(v)):
		return beyond
	case !m.Hearsay.Versions.Vouched(m.Now, other, nil):
		return awaited
	}
	if allowed != nil {
		allowed.Take(core.RoomOf(v))
	}
	v.Confirmed = true
	m.Shared.Keep([]archive.Record{*v})
	m.Hearsay.Claims.End(v.ID) // the bringer of the version that gave way gains nothing by it
	return replaced
}

// checkAside sounds the alarm where an own poll that has ended shows that entries of the feed were altered on their
// way. That is no offence: there are publishers that show different readers different versions.
func (m *Machine) checkAside(p trust.Poll) {
	for _, a := range m.Hearsay.Versions.Compare(p.Begun, p.Listed) {
		m.Counters.Altered++
		m.Suspect(a.Via[len(a.Via)-1], "brought another version of an entry than its publisher shows")
	}
}

// newToOwner are those of the entries that others bring which are new to the owner, too.
func (m *Machine) newToOwner(records []archive.Record) (fresh []archive.Record) {
	known := m.Store.Known(idsOfRecords(records))
	for i := range records {
		if known[i].New() || known[i].Admits(&records[i]) {
			fresh = append(fresh, records[i])
		}
	}
	return fresh
}

// confirmForOwner notes for the owner, too, that others have shown these versions of entries.
func (m *Machine) confirmForOwner(records []archive.Record) {
	ids := idsOfRecords(records)
	var same []feed.EntryID
	for i, v := range m.Store.Known(ids) {
		if v.Digest == records[i].Digest {
			same = append(same, ids[i])
		}
	}
	m.Store.Confirm(m.Now, same)
}

func idsOfRecords(records []archive.Record) []feed.EntryID {
	ids := make([]feed.EntryID, len(records))
	for i := range records {
		ids[i] = records[i].ID
	}
	return ids
}
