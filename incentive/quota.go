package incentive

import (
	"slices"
	"time"

	"feedex/feed"
)

// An entry that a neighbor brings is stored before anybody can tell whether the publisher wrote it, and is no use where
// he did not. So there is a quota: how much a holder may have us store within 24 hours that no own poll has listed.
// Room of entries that an own poll lists is given back, and counts for the holder from then on.
const (
	// FreeRoom is the quota of a holder of which own polls have shown nothing, in bytes on disk.
	FreeRoom = 20_000_000
	// networkPlaces is for how many such holders there is room in one network: as many as may be neighbors.
	networkPlaces = 2
	// shownFactor is how much more a holder may store for what own polls show of it in a day: as much again as may be
	// an invention.
	shownFactor = 2
	// shownDays is over how many days that is averaged.
	shownDays = 7

	// knownFactor and knownFree say how many entries of one feed a holder may store, of a feed that own polls know:
	// twice as many as it brings in a day, and a document's worth.
	knownFactor, knownFree = 2, 20
	// unknownEntries and unknownRoom are the quota for a feed that no own poll has shown.
	unknownEntries, unknownRoom = 500, 2_000_000
	// keptQuotas is how many of the latest quotas of a holder for a feed are remembered at least.
	keptQuotas = 4096

	// slot is the precision of what counts as 24 hours: they end up to so much later.
	slot = 3 * time.Hour
	// slots are those in which 24 hours lie.
	slots = int(day/slot) + 1
)

// slotOf numbers the slots.
func slotOf(t time.Time) int64 { return max(t.Unix()/int64(slot/time.Second), 0) }

// A dayWindow has the amounts that came in the slots of the last 24 hours, the latest last.
type dayWindow [slots]int64

// rollOver lets so many slots pass.
func (w *dayWindow) rollOver(passed int64) {
	passed = min(max(passed, 0), int64(slots))
	copy(w[:], w[passed:])
	clear(w[int64(slots)-passed:])
}

// at is the slot that so many passed since; nil where it is not in the window.
func (w *dayWindow) at(passed int64) *int64 {
	if i := int64(slots) - 1 - max(passed, 0); i >= 0 {
		return &w[i]
	}
	return nil
}

func (w *dayWindow) sum() (n int64) {
	for _, x := range w {
		n += x
	}
	return n
}

// RoomUsed is how much room what a holder brought takes in the archive, in bytes on disk at most.
type RoomUsed struct {
	Unshown dayWindow // that no own poll has listed
	Shown   int64     // that own polls have listed, of about a week
	Slot    int64     // the latest
}

// age lets time pass. A clock that is set back changes nothing.
func (s *RoomUsed) age(now time.Time) {
	latest := slotOf(now)
	if latest <= s.Slot {
		return
	}
	s.Unshown.rollOver(latest - s.Slot)
	const daily = int64(day / slot)
	for days := latest/daily - s.Slot/daily; days > 0 && s.Shown > 0; days-- {
		s.Shown -= (s.Shown + shownDays - 1) / shownDays
	}
	s.Slot = latest
}

// earned is the part of the quota that own polls account for.
func (s *RoomUsed) earned() int64 { return shownFactor * s.Shown / shownDays }

func (s *RoomUsed) quota() int64 { return FreeRoom + s.earned() }

// free is how much of Unshown is not accounted for by what was shown.
func (s *RoomUsed) free() int64 { return max(0, s.Unshown.sum()-s.earned()) }

// A DailyVolume is how much a feed brings in a day, as far as own polls have shown; zero for one that they have not.
type DailyVolume struct {
	Entries int64
	Room    int64     // bytes on disk, of one entry
	Polled  time.Time // the last own poll: of the feed's quota counts only what was stored since
}

// quota is how many entries of the feed a holder may store within a day, and how much room they may take.
func (v DailyVolume) quota() (entries, room int64) {
	if v.Room == 0 {
		return unknownEntries, unknownRoom
	}
	entries = knownFactor*v.Entries + knownFree
	return entries, entries * v.Room
}

// A Quota bounds what holders may store. It belongs to a Ledger, whose accounts remember it.
type Quota struct {
	ledger  *Ledger
	places  int64
	storing []*account // of which something counts, also where the Ledger has forgotten the account meanwhile
	holders numbers
	feeds   recentKeys[quotaOf, ofFeed]
}

// quotaOf is whose quota it is, and for what.
type quotaOf struct {
	holder uint32
	feed   feed.URL
}

// An ofFeed counts the entries of one feed that a holder stored, and the room that they take.
type ofFeed struct {
	entries, room dayWindow
	slot          int64     // the latest
	at            time.Time // of the latest entry
}

func (o *ofFeed) age(now time.Time) {
	if latest := slotOf(now); latest > o.slot {
		o.entries.rollOver(latest - o.slot)
		o.room.rollOver(latest - o.slot)
		o.slot = latest
	}
}

// NewQuota returns the Quota of a node with places for so many neighbors: holders of which own polls have shown nothing
// may store as much as if all of these were such, however many of them come and go.
func NewQuota(l *Ledger, places int) *Quota {
	q := &Quota{ledger: l, places: int64(places), feeds: newRecentKeys[quotaOf, ofFeed](keptQuotas)}
	for _, h := range l.holders() {
		q.note(l.of(h))
	}
	return q
}

// note notes that something of the account counts.
func (q *Quota) note(a *account) {
	if a.Stored.Unshown.sum() > 0 && !a.storing {
		a.storing = true
		q.storing = append(q.storing, a)
	}
}

// An Allowance bounds the entries of one feed that a holder may store now, and their room.
type Allowance struct {
	entries, feedRoom, room int64
}

// Allowance returns how much of the feed h may store. It is nothing where somebody's quota is used up: its own, that of
// its network or that of all strangers, or its own for the feed.
func (q *Quota) Allowance(now time.Time, h Holder, u feed.URL, v DailyVolume) (a Allowance) {
	h = q.ledger.Party(h)
	a.room = q.Left(now, h)
	a.entries, a.feedRoom = v.quota()
	if o := q.feeds.use(quotaOf{q.holders.of(h), u}); o != nil {
		if o.at.Before(v.Polled) {
			*o = ofFeed{slot: o.slot}
		}
		o.age(now)
		a.entries, a.feedRoom = a.entries-o.entries.sum(), a.feedRoom-o.room.sum()
	}
	return a
}

// Fits reports whether one more entry may be stored that takes so much room. The last of a feed may be larger than what
// is left for that: there are publishers with large entries.
func (a *Allowance) Fits(room int64) bool { return a.entries > 0 && a.feedRoom > 0 && a.room >= room }

// Take takes one more entry from the allowance, if it fits, and reports whether it does.
func (a *Allowance) Take(room int64) bool {
	if !a.Fits(room) {
		return false
	}
	a.entries--
	a.feedRoom -= room
	a.room -= room
	return true
}

// Left is how much room what h brings may take now.
func (q *Quota) Left(now time.Time, h Holder) int64 {
	h = q.ledger.Party(h)
	own := q.ledger.storedBy(now, h)
	strangers, network := q.places*FreeRoom, int64(networkPlaces*FreeRoom)
	near := q.ledger.At(h).id.Network()
	q.storing = slices.DeleteFunc(q.storing, func(a *account) bool {
		a.Stored.age(now)
		if free := a.Stored.free(); free > 0 {
			strangers -= free
			if q.ledger.At(a.Holder).id.Network() == near {
				network -= free
			}
		}
		a.storing = a.Stored.Unshown.sum() > 0
		return !a.storing
	})
	unshown := own.Unshown.sum()
	return max(0, min(own.quota()-unshown, max(0, own.earned()-unshown)+max(0, min(strangers, network))))
}

// Stored is how much room is taken by what h brought and no own poll has listed, and how much may be.
func (q *Quota) Stored(now time.Time, h Holder) (unshown, quota int64) {
	s := q.ledger.storedBy(now, q.ledger.Party(h))
	return s.Unshown.sum(), s.quota()
}

// Store notes that so many entries of h are stored, of one feed.
func (q *Quota) Store(now time.Time, h Holder, u feed.URL, entries, room int64) {
	if entries == 0 {
		return
	}
	h = q.ledger.Party(h)
	q.Fill(now, h, room)
	o := q.ofFeed(now, h, u)
	*o.entries.at(0) += entries
	*o.room.at(0) += room
	o.at = now
}

// ofFeed returns the record of what h stored of a feed.
func (q *Quota) ofFeed(now time.Time, h Holder, u feed.URL) *ofFeed {
	key := quotaOf{q.holders.of(h), u}
	o := q.feeds.use(key)
	if o == nil {
		o = q.feeds.put(key, ofFeed{slot: slotOf(now)})
	}
	o.age(now)
	return o
}

// Fill notes that entries of the past are stored that h gave: a day's quota for the feed says nothing about those.
func (q *Quota) Fill(now time.Time, h Holder, room int64) {
	a := q.ledger.meet(now, q.ledger.Party(h))
	a.Stored.age(now)
	*a.Stored.Unshown.at(0) += room
	q.note(a)
	q.ledger.touch(a)
}

// Brought is a part of what a holder brought and no own poll has listed.
type Brought struct {
	Holder        Holder
	Feed          feed.URL
	At            time.Time
	Entries, Room int64
}

// Remembered is how long what was brought counts.
const Remembered = time.Duration(slots) * slot

// Recall notes what the archive knows of the time that is Remembered: accounts are kept a moment late, and not by feed.
func (q *Quota) Recall(now time.Time, list []Brought) {
	byHolder := make(map[Holder]*dayWindow)
	var order []Holder
	for _, x := range list {
		x.Holder = q.ledger.Party(x.Holder)
		passed := slotOf(now) - slotOf(x.At)
		o := q.ofFeed(now, x.Holder, x.Feed)
		if n := o.entries.at(passed); n != nil {
			*n += x.Entries
			*o.room.at(passed) += x.Room
			if x.At.After(o.at) {
				o.at = x.At
			}
		}
		w := byHolder[x.Holder]
		if w == nil {
			w = new(dayWindow)
			byHolder[x.Holder], order = w, append(order, x.Holder)
		}
		if n := w.at(passed); n != nil {
			*n += x.Room
		}
	}
	for _, h := range order {
		a := q.ledger.meet(now, h)
		a.Stored.age(now)
		for i, room := range byHolder[h] {
			a.Stored.Unshown[i] = max(a.Stored.Unshown[i], room)
		}
		q.note(a)
		q.ledger.touch(a)
	}
}

// Shown notes that an own poll listed entries that h had brought at that time.
func (q *Quota) Shown(now time.Time, h Holder, u feed.URL, at time.Time, entries, room int64) {
	h = q.ledger.Party(h)
	passed := slotOf(now) - slotOf(at)
	if o := q.feeds.use(quotaOf{q.holders.of(h), u}); o != nil {
		o.age(now)
		giveBack(&o.entries, passed, entries)
		giveBack(&o.room, passed, room)
	}
	a := q.ledger.of(h)
	if a == nil {
		return
	}
	a.Stored.age(now)
	giveBack(&a.Stored.Unshown, passed, room)
	a.Stored.Shown += room
	q.ledger.touch(a)
}

// giveBack takes n from the slot that so many passed since.
func giveBack(w *dayWindow, passed, n int64) {
	if x := w.at(passed); x != nil {
		*x = max(0, *x-n)
	}
}

// storedBy returns the record of what h has stored.
func (l *Ledger) storedBy(now time.Time, h Holder) (s RoomUsed) {
	if a := l.of(h); a != nil {
		s = a.Stored
	}
	s.age(now)
	return s
}
