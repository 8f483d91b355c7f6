package trust

import (
	"maps"
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

const (
	// maxAside and maxAsideEach bound the versions that are set aside, in all and of one network.
	maxAside, maxAsideEach = 1024, 128
	// asideFor is how long a version waits for a second witness.
	asideFor = 48 * time.Hour
	// alteredAfter is how old a version must be before an own poll can show that it was altered: a
	// publisher's caches show different readers versions of different age.
	alteredAfter = time.Hour
	// passedADay is how many revisions of one entry are passed on within a day.
	passedADay = 3
	// maxPassed bounds the revisions that are counted for it. Networks share it alike, own polls as one, and each
	// network's feeds its part.
	maxPassed = 4096
)

// Versions remembers the versions of known entries that one neighbor each brought: those that differ from ours, and
// ours where it is one neighbor's word itself. Publishers edit entries, and any hop may alter them. So a version counts
// as the publisher's only where an own poll shows it or, of an entry that none has shown, where two witnesses stand by
// it. Until then it is set aside, which is to say that it is remembered by its digest and shown to nobody; a neighbor
// that confirms it brings it again. Make it with newVersions.
type Versions struct {
	witnesses *Witnesses
	aside     []BroughtVersion // oldest first
	passed    []passed         // likewise
}

// newVersions returns Versions that remembers none.
func newVersions(w *Witnesses) *Versions { return &Versions{witnesses: w} }

// A BroughtVersion is one of an entry that one neighbor brought.
type BroughtVersion struct {
	Entry  feed.EntryID
	Digest feed.Digest
	Kept   feed.Digest       // of our version
	Via    []protocol.NodeID // how it came, the neighbor last
	DID    protocol.DID      // of its bundle, the latest
	At     time.Time         // when it came
}

// by is the network of the neighbor.
func (v *BroughtVersion) by() protocol.Network { return v.Via[len(v.Via)-1].Network() }

// passed is a revision that went to the neighbors.
type passed struct {
	ration
	entry feed.EntryID
	at    time.Time
}

// A ration is the room for the revisions of one feed that one network brings, or own polls.
type ration struct {
	feed feed.URL
	by   protocol.Network // of the neighbor that brought it, none for an own poll
}

// Len is how many versions are set aside.
func (v *Versions) Len() int { return len(v.aside) }

// Took reports whether the neighbor, or another of its network, delivered a bundle of which something was set aside: it
// need not do so again, while others must be asked for theirs.
func (v *Versions) Took(id protocol.NodeID, did protocol.DID) bool {
	return slices.ContainsFunc(v.aside, func(a BroughtVersion) bool { return a.DID == did && a.by() == id.Network() })
}

// SetAside remembers a version that came now. A flood of one network pushes out its own. Where there is no more room,
// the oldest goes of networks without a voice.
func (v *Versions) SetAside(now time.Time, one BroughtVersion) {
	one.At = now
	young := slices.IndexFunc(v.aside, func(old BroughtVersion) bool { return now.Sub(old.At) <= asideFor })
	if young < 0 {
		young = len(v.aside)
	}
	v.aside = slices.Delete(v.aside, 0, young)
	by, own := one.by(), 0
	for i := range v.aside {
		if old := &v.aside[i]; old.by() == by {
			if old.Entry == one.Entry && old.Digest == one.Digest {
				old.DID = one.DID
				return
			}
			own++
		}
	}
	switch {
	case own >= maxAsideEach:
		first := slices.IndexFunc(v.aside, func(old BroughtVersion) bool { return old.by() == by })
		v.aside = slices.Delete(v.aside, first, first+1)
	case len(v.aside) >= maxAside:
		v.aside = makeRoom(v.witnesses, now, v.aside, (*BroughtVersion).by)
	}
	v.aside = append(v.aside, one)
}

// Vouched reports whether two witnesses stand by a version that came now, of an entry that no own poll has shown. first
// is the way by which the same came before it was known, nil for none. Where they do not it is set aside.
func (v *Versions) Vouched(now time.Time, one BroughtVersion, first []protocol.NodeID) bool {
	is := func(a BroughtVersion) bool { return a.Entry == one.Entry && a.Digest == one.Digest }
	vouched := len(first) > 0 && v.witnesses.bothCount(now, first, one.Via) ||
		slices.ContainsFunc(v.aside, func(a BroughtVersion) bool {
			return is(a) && now.Sub(a.At) <= asideFor && v.witnesses.bothCount(now, a.Via, one.Via)
		})
	if vouched {
		v.aside = slices.DeleteFunc(v.aside, is)
	} else {
		v.SetAside(now, one)
	}
	return vouched
}

// Compare looks at what was set aside of entries that a poll begun then has shown: the publisher's versions are kept by
// now, and those that differ from one that the publisher never changed were altered on their way. The latter are
// returned.
func (v *Versions) Compare(begun time.Time, listed []Listed) (altered []BroughtVersion) {
	if len(v.aside) == 0 || len(listed) == 0 {
		return nil
	}
	published := make(map[feed.EntryID]feed.Digest, len(listed))
	for _, e := range listed {
		published[e.Entry] = e.Digest
	}
	v.aside = slices.DeleteFunc(v.aside, func(a BroughtVersion) bool {
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

// Pass reports whether one more revision of the entry, which came by a path, may be passed on, a few a day, and counts
// it. Where there is no more room, who has most of it loses its oldest to others, and gets no more but for feeds that
// have less of its part.
func (v *Versions) Pass(now time.Time, u feed.URL, id feed.EntryID, path []protocol.NodeID) bool {
	v.passed = slices.DeleteFunc(v.passed, func(p passed) bool { return now.Sub(p.at) >= 24*time.Hour })
	count := 0
	for _, p := range v.passed {
		if p.entry == id {
			count++
		}
	}
	one := passed{ration{feed: u}, id, now}
	if len(path) > 0 {
		one.by = path[len(path)-1].Network()
	}
	if count >= passedADay || len(v.passed) >= maxPassed && !v.yields(one.ration) {
		return false
	}
	v.passed = append(v.passed, one)
	return true
}

// yields makes room for one more of a part, and reports whether another part had more of it to give: the largest of the
// network that has most, or of the same network where none has more.
func (v *Versions) yields(to ration) bool {
	networks, parts := make(map[protocol.Network]int), make(map[ration]int)
	for i := range v.passed {
		networks[v.passed[i].by]++
		parts[v.passed[i].ration]++
	}
	from, most := to.by, slices.Max(slices.Collect(maps.Values(networks)))
	if networks[from]+1 < most {
		from = v.passed[slices.IndexFunc(v.passed, func(p passed) bool { return networks[p.by] == most })].by
	}
	most = 0
	for part, n := range parts {
		if part.by == from {
			most = max(most, n)
		}
	}
	if from == to.by && parts[to]+1 >= most {
		return false
	}
	oldest := slices.IndexFunc(v.passed, func(p passed) bool { return p.by == from && parts[p.ration] == most })
	v.passed = slices.Delete(v.passed, oldest, oldest+1)
	return true
}
