package neighbors

import (
	"cmp"
	"slices"
	"time"

	"feedex/feed"
	"feedex/internal/when"
	"feedex/protocol"
)

const (
	// maxPerSource is how many addresses of one source are called at a time: a liar that lists a victim many times must
	// not make us an attacker.
	maxPerSource = 2
	// firstWait and longestWait bound the time until an address that did not answer is tried again;
	// it doubles with each failure.
	firstWait   = 15 * time.Second
	longestWait = 6 * time.Hour
	// longestDeclined bounds it for one that answers, and has no place for us now.
	longestDeclined = 4 * time.Minute
)

// A region is a part of the Internet that one attacker seldom has more than one of, written as a network: /16 for IPv4,
// /32 for IPv6.
type region packedNetwork

// region is the region that the network is in.
func (n packedNetwork) region() region {
	host := networkBits - 32
	if n.isIPv4() {
		host = networkBits - 16
	}
	return region(n >> host << host)
}

// Candidates picks at most n addresses to try now and marks them as being tried: first those of regions in which nobody
// of chosen is and nobody is being tried, one of each region; then the others. Among them come remembered neighbors,
// those we were linked with longest at their head, then the other sources; those that answered once before those that
// never did; and where all that is equal, every region has the same chance, however many addresses somebody has there.
// skip tells which not to take.
func (b *Book) Candidates(now time.Time, n int, chosen []protocol.NodeID,
	skip func(protocol.NodeID) bool) []protocol.NodeID {
	var trying [sources]int
	taken := make(map[region]bool, len(b.list))
	for _, id := range chosen {
		taken[networkOf(id).region()] = true
	}
	ready := make([]*address, 0, len(b.list))
	for _, a := range b.list {
		switch {
		case a.trying:
			trying[a.source]++
			taken[a.network.region()] = true
		case b.ready(now, a) && !skip(a.id):
			ready = append(ready, a)
		}
	}
	b.order(ready)
	var first, others []*address // of their regions
	for _, a := range ready {
		in := a.network.region()
		switch {
		case b.local && !feed.PublicAddr(a.id.Addr()):
			first = append(first, a)
		case taken[in]:
			others = append(others, a)
		default:
			taken[in] = true
			first = append(first, a)
		}
	}
	b.order(first)
	var picked []protocol.NodeID
	for _, a := range append(first, others...) {
		if len(picked) == n {
			break
		}
		if trying[a.source] == maxPerSource {
			continue
		}
		trying[a.source]++
		a.trying = true
		picked = append(picked, a.id)
	}
	return picked
}

// order sorts addresses into the order in which they are tried.
func (b *Book) order(list []*address) {
	b.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	slices.SortStableFunc(list, func(x, y *address) int {
		return cmp.Or(
			cmp.Compare(x.source, y.source),
			cmp.Compare(x.failures, y.failures),
			cmp.Compare(y.together(), x.together()),
			compareBool(x.heard == 0, y.heard == 0),
			cmp.Compare(y.acquaintance(), x.acquaintance()),
		)
	})
}

// compareBool orders false before true.
func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// ready reports whether the address may be tried now for a free place.
func (b *Book) ready(now time.Time, a *address) bool { return a.source != Overheard && b.due(now, a) }

// due reports whether the address may be tried now.
func (b *Book) due(now time.Time, a *address) bool {
	return !a.trying && unixNanoOf(now) >= a.after && !b.resting(now, a)
}

// Ready reports whether there is an address to try now. skip tells which do not count.
func (b *Book) Ready(now time.Time, skip func(protocol.NodeID) bool) bool {
	return slices.ContainsFunc(b.list, func(a *address) bool { return b.ready(now, a) && !skip(a.id) })
}

// Untested picks by chance an address that never answered us, of those that failed least, and marks it as
// being tried; false where there is none to try now. skip tells which not to take.
func (b *Book) Untested(now time.Time, skip func(protocol.NodeID) bool) (id protocol.NodeID, ok bool) {
	return b.any(now, func(a *address) bool { return a.heard != 0 || skip(a.id) })
}

// Another is Untested among all addresses: those that were tried least come first.
func (b *Book) Another(now time.Time, skip func(protocol.NodeID) bool) (id protocol.NodeID, ok bool) {
	return b.any(now, func(a *address) bool { return skip(a.id) })
}

// Best picks the address that is worth most, and marks it as being tried; false where there is none to try now. One
// that was of no use counts half as much each time. The Book need not hold it yet.
func (b *Book) Best(now time.Time, worth map[protocol.NodeID]Usefulness) (id protocol.NodeID, ok bool) {
	var most Usefulness
	for other, w := range worth {
		if other.Named() {
			continue // nobody can tell where it is
		}
		a := b.byID[other]
		if a == nil {
			a = &address{network: networkOf(other)}
		}
		w >>= min(a.failures, 62)
		better := w > most || w == most && w > 0 && other.Compare(id) < 0
		if better && b.due(now, a) && (b.byID[other] != nil || !b.crowded(other)) {
			id, most = other, w
		}
	}
	if most > 0 {
		b.Add(now, Overheard, []protocol.NodeID{id})
	}
	a := b.byID[id]
	if a == nil { // there is nobody, or no room
		return protocol.NodeID{}, false
	}
	a.trying = true
	return id, true
}

// any picks by chance one of the addresses that failed least, and marks it as being tried.
func (b *Book) any(now time.Time, skip func(*address) bool) (id protocol.NodeID, ok bool) {
	var ready []*address
	for _, a := range b.list {
		if !b.ready(now, a) || len(ready) > 0 && a.failures > ready[0].failures || skip(a) {
			continue
		}
		if len(ready) > 0 && a.failures < ready[0].failures {
			ready = ready[:0]
		}
		ready = append(ready, a)
	}
	if len(ready) == 0 {
		return id, false
	}
	a := ready[b.rng.IntN(len(ready))]
	a.trying = true
	return a.id, true
}

// Next is when the first of the addresses that wait after a failure may be tried again; the zero time
// where none waits. skip tells which do not count.
func (b *Book) Next(now time.Time, skip func(protocol.NodeID) bool) time.Time {
	var next unixNano
	for _, a := range b.list {
		if a.source == Overheard || a.trying || a.after <= unixNanoOf(now) || skip(a.id) {
			continue
		}
		if next == 0 || a.after < next {
			next = a.after
		}
	}
	return next.time()
}

// Heard notes that id answered us, whatever it said: somebody is there.
func (b *Book) Heard(now time.Time, id protocol.NodeID) {
	a := b.byID[id]
	if a == nil {
		return
	}
	if a.heard == 0 {
		a.failures = 0 // it was not there then
	}
	a.trying, a.heard = false, unixNanoOf(now)
}

// Failed notes that id did not answer, or wants nothing of us: it is tried again after a growing while.
func (b *Book) Failed(now time.Time, id protocol.NodeID) {
	if a := b.byID[id]; a != nil {
		b.rest(now, a)
		b.putOff(now, a, longestWait)
	}
}

// Declined notes that id answered and has no place now. Its refusal may end any moment.
func (b *Book) Declined(now time.Time, id protocol.NodeID) {
	b.Heard(now, id)
	if a := b.byID[id]; a != nil {
		b.putOff(now, a, longestDeclined)
	}
}

// Unfit notes that id answered, and that it or we had no use for the other: all others are tried before it is again.
func (b *Book) Unfit(now time.Time, id protocol.NodeID) {
	b.Heard(now, id)
	if a := b.byID[id]; a != nil {
		b.putOff(now, a, longestWait)
	}
}

// Due has id be tried at once, whatever became of it before.
func (b *Book) Due(id protocol.NodeID) {
	if a := b.byID[id]; a != nil {
		a.failures, a.after = 0, 0
	}
}

// putOff has the address tried again later, the more often it was of no use the later.
func (b *Book) putOff(now time.Time, a *address, longest time.Duration) {
	wait := when.Doubled(firstWait, longest, int(a.failures))
	a.trying = false
	a.failures++
	a.after = unixNanoOf(now.Add(wait + time.Duration(b.rng.Int64N(int64(wait/4)+1))))
}

// maxFailing bounds the networks that are left alone.
const maxFailing = 4096

// rest leaves the network of an address that was never a neighbor alone for a while.
func (b *Book) rest(now time.Time, a *address) {
	if a.met() || a.source == Near || b.local && !feed.PublicAddr(a.id.Addr()) {
		return
	}
	if len(b.failing) >= maxFailing {
		clear(b.failing)
	}
	f := b.failing[a.network]
	f.after = now.Add(when.Doubled(firstWait, longestWait, f.count))
	f.count++
	b.failing[a.network] = f
}

// resting reports whether the network of an address is left alone.
func (b *Book) resting(now time.Time, a *address) bool {
	return !a.met() && a.source != Near && len(b.failing) > 0 && now.Before(b.failing[a.network].after)
}
