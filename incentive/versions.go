package incentive

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

const (
	// maxAside and maxAsideEach bound the versions that are set aside, in all and for one neighbor.
	maxAside, maxAsideEach = 1024, 128
	// asideFor is how long a version waits to be confirmed.
	asideFor = 48 * time.Hour
	// alteredAfter is how old a version must be before an own poll can show that it was altered: a
	// publisher's caches show different readers versions of different age.
	alteredAfter = time.Hour
	// passedADay is how many revisions of one entry are passed on within a day.
	passedADay = 3
	// maxPassed bounds the revisions that are counted for it.
	maxPassed = 4096
)

// Versions remembers those versions of known entries that one neighbor each brought, and that differ from ours.
// Publishers edit entries, and any hop may alter them. So such a version counts as the publisher's only where an own
// poll shows it, or where it came by two ways that have nobody in common: whoever altered it stands on both, if he is
// one. Until then it is set aside, which is to say that it is remembered by its digest and shown to nobody; who confirms
// it brings it again. The zero Versions has none.
type Versions struct {
	aside  []Version // oldest first
	passed []passed  // likewise
}

// A Version is one of an entry that one neighbor brought.
type Version struct {
	Entry  feed.EntryID
	Digest feed.Digest
	Kept   feed.Digest       // of our version
	Via    []protocol.NodeID // how it came, the neighbor last
	Holder Holder            // of the neighbor
	DID    protocol.DID      // of its bundle, the latest
	At     time.Time         // when it came
}

// passed is a revision that went to the neighbors.
type passed struct {
	entry feed.EntryID
	at    time.Time
}

// Len is how many versions are set aside.
func (v *Versions) Len() int { return len(v.aside) }

// Took reports whether the holder delivered a bundle of which something was set aside: it need not do so
// again, while others must be asked for theirs.
func (v *Versions) Took(h Holder, did protocol.DID) bool {
	return slices.ContainsFunc(v.aside, func(a Version) bool { return a.Holder == h && a.DID == did })
}

// SetAside remembers a version that came now. A flood of one neighbor pushes out its own.
func (v *Versions) SetAside(now time.Time, one Version) {
	one.At = now
	v.aside = slices.DeleteFunc(v.aside, func(old Version) bool { return now.Sub(old.At) > asideFor })
	own, first := 0, -1
	for i := range v.aside {
		if old := &v.aside[i]; old.Holder == one.Holder {
			if old.Entry == one.Entry && old.Digest == one.Digest {
				old.DID = one.DID
				return
			}
			if own++; first < 0 {
				first = i
			}
		}
	}
	switch {
	case own >= maxAsideEach:
		v.aside = slices.Delete(v.aside, first, first+1)
	case len(v.aside) >= maxAside:
		v.aside = slices.Delete(v.aside, 0, 1)
	}
	v.aside = append(v.aside, one)
}

// Confirm reports whether a version of an entry that came by this way came before by one apart from it: then it is
// believed, and set aside no more.
func (v *Versions) Confirm(now time.Time, id feed.EntryID, digest feed.Digest, via []protocol.NodeID) bool {
	is := func(a Version) bool { return a.Entry == id && a.Digest == digest }
	confirmed := slices.ContainsFunc(v.aside, func(a Version) bool {
		return is(a) && now.Sub(a.At) <= asideFor && Apart(a.Via, via)
	})
	if confirmed {
		v.aside = slices.DeleteFunc(v.aside, is)
	}
	return confirmed
}

// Compare looks at what was set aside of entries that a poll begun then has shown: the publisher's versions are kept by
// now, and those that differ from one that the publisher never changed were altered on their way. The latter are
// returned.
func (v *Versions) Compare(begun time.Time, listed []Listed) (altered []Version) {
	if len(v.aside) == 0 || len(listed) == 0 {
		return nil
	}
	published := make(map[feed.EntryID]feed.Digest, len(listed))
	for _, e := range listed {
		published[e.Entry] = e.Digest
	}
	v.aside = slices.DeleteFunc(v.aside, func(a Version) bool {
		digest, shown := published[a.Entry]
		switch {
		case !shown:
			return false
		case digest == a.Digest:
			return true
		case begun.Sub(a.At) < alteredAfter:
			return false
		}
		if digest == a.Kept {
			altered = append(altered, a)
		}
		return true
	})
	return altered
}

// Pass reports whether one more revision of the entry may be passed on, a few a day, and counts it.
func (v *Versions) Pass(now time.Time, id feed.EntryID) bool {
	v.passed = slices.DeleteFunc(v.passed, func(p passed) bool { return now.Sub(p.at) >= 24*time.Hour })
	count := 0
	for _, p := range v.passed {
		if p.entry == id {
			count++
		}
	}
	if count >= passedADay || len(v.passed) >= maxPassed {
		return false
	}
	v.passed = append(v.passed, passed{id, now})
	return true
}
