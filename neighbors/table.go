package neighbors

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// A RoutingTable holds the neighbors and the routes: for each feed, which neighbors want it and at how many hops.
type RoutingTable struct {
	config  Config
	hosted  int         // neighbors that cannot be dialled
	list    []*Neighbor // in the order in which they came: effects must not depend on a map's order
	byID    map[protocol.NodeID]*Neighbor
	slots   []*Neighbor // by Neighbor.slot, nil where a slot is free
	routes  routes
	own     []row                   // those of our own interest
	weights map[feed.URL]Usefulness // of own feeds, where not 1
	// changed counts the changes after which somebody may have to be told something else.
	changed uint64
	relayed int       // feeds that are relayed
	choices uint64    // of some of those that might be
	lots    uint64    // by which feeds were drawn last
	judged  time.Time // when relays are judged next
	// stranger is our Introduction to strangers, nil where it must be put together anew: connects are tried by the
	// dozen, and hardly anything changes between them.
	stranger protocol.Subset
}

// A Config bounds a RoutingTable. All fields but the functions must be set.
type Config struct {
	// Max is the most neighbors, 100 or fewer. Paper Table 2, "maximum neighbors".
	Max int
	// MaxHosted is the most neighbors that cannot be dialled, beside Max.
	MaxHosted int
	// MaxHops is the largest hop count advertised and forwarded to. Paper §3.4, max_subset_hops.
	MaxHops int
	// MaxRelayed is the most feeds that are relayed where few are our own: four times as many as are our own may be.
	MaxRelayed int
	// AllowLocal counts feeds at addresses that are not public as public.
	AllowLocal bool
	// Unspeakable reports of which feeds the URL says that no neighbor is to hear of them from us. Default: those whose
	// URL may be a secret, or is on a private network unless AllowLocal is set.
	Unspeakable func(feed.URL) bool
	// Restless picks the feeds whose relay never rests, always the same ones. They must not be predictable, or an
	// attacker that can have all other relays rest would know which are left. Nil for none.
	Restless func(feed.URL) bool
}

// A Neighbor is a node that we exchange entries with.
type Neighbor struct {
	ID     protocol.NodeID
	Since  time.Time // when the link came about
	Chosen bool      // we asked; otherwise they did
	Static bool      // the owner named it: it is never replaced

	// The host of the table keeps these up to date.
	RTT      time.Duration // smoothed round trip; zero while unknown
	Failures int           // failed calls in a row
	Settled  bool          // its key gave for long, see incentive.Ledger
	Misses   int           // own polls that were first to bring entries of feeds that it offers as its own

	brought tally // what it gave us within a day of own feeds
	relayed tally // and else
	excused int   // of Misses, those before it gave something that an own poll lists

	table *RoutingTable
	slot  int16  // its column in the routes
	feeds int    // in its subscription set
	bytes int    // of their URLs
	knows uint64 // the count of changes up to which it believes of all feeds what we would say
}

// NewRoutingTable returns a RoutingTable without neighbors.
func NewRoutingTable(c Config) *RoutingTable {
	if c.Unspeakable == nil {
		c.Unspeakable = func(u feed.URL) bool { return u.Secret() || u.Local() && !c.AllowLocal }
	}
	return &RoutingTable{config: c, byID: make(map[protocol.NodeID]*Neighbor),
		weights: make(map[feed.URL]Usefulness), changed: 1}
}

// Limit says anew how many neighbors there are at most: Config.Max, or fewer where others cannot dial the node. Those
// beyond stay until they leave.
func (t *RoutingTable) Limit(most int) { t.config.Max = most }

// Len is the number of neighbors.
func (t *RoutingTable) Len() int { return len(t.list) }

// Places is the number of neighbors beside those that are hosted.
func (t *RoutingTable) Places() int { return len(t.list) - t.hosted }

// All returns the neighbors, the longest-serving first. The slice is the table's own: read it, and not
// across Add and Remove.
func (t *RoutingTable) All() []*Neighbor { return t.list }

// Add makes id a neighbor whose subscription set is subset, and to which offered was advertised. The
// caller has asked Admit. A neighbor that connects again starts over with its link's age kept:
// repeating connect replaces the earlier state.
func (t *RoutingTable) Add(now time.Time, id protocol.NodeID, chosen bool, subset, offered protocol.Subset) *Neighbor {
	n, again := t.byID[id], true
	if n == nil {
		n, again = &Neighbor{ID: id, Since: now, Chosen: chosen, table: t, slot: t.freeSlot()}, false
		t.byID[id] = n
		t.list = append(t.list, n)
		if id.Hosted() {
			t.hosted++
		}
		t.slots[n.slot] = n
	} else {
		n.Chosen = n.Chosen || chosen // both of us asked
		t.forget(n)
	}
	if again {
		t.confuse(n, offered)
	} else {
		for _, in := range offered {
			t.tell(n, t.routes.row(in.Feed), in.Hops)
		}
	}
	t.Hear(n, subset)
	return n
}

// confuse notes that n was told offered beside what it was told before. If both sides connect at once, each has two
// sets of the other, and nobody knows which of them came last.
func (t *RoutingTable) confuse(n *Neighbor, offered protocol.Subset) {
	same := make(map[feed.URL]bool, len(offered))
	for _, in := range offered {
		if i := t.routes.row(in.Feed); t.routes.told(i, n) == in.Hops {
			same[in.Feed] = true
		} else {
			t.tell(n, i, unknown)
		}
	}
	for i, r := range t.routes.list {
		if told := &t.routes.of(row(i))[n.slot].told; *told != 0 && !same[r.url] {
			*told = unknown + 1
		}
	}
	n.knows = 0
}

// freeSlot is a slot that no neighbor has.
func (t *RoutingTable) freeSlot() int16 {
	i := slices.Index(t.slots, nil)
	if i < 0 {
		i = len(t.slots)
		t.slots = append(t.slots, nil)
		t.routes.widen()
	}
	return int16(i)
}

// Remove ends the neighbor's part in everything; its feeds fall back to other routes at once.
func (t *RoutingTable) Remove(id protocol.NodeID) {
	n := t.byID[id]
	if n == nil {
		return
	}
	// from behind: a route that is dropped has the last in its place
	for i := row(len(t.routes.list)) - 1; i >= 0; i-- {
		if t.routes.of(i)[n.slot].heard > 0 {
			t.wake(i) // others may have had it from n
		}
		t.routes.of(i)[n.slot] = cell{} // the neighbor that has the slot next heard nothing
		t.noteWanted(i)
		t.drop(i)
	}
	t.touch()
	t.slots[n.slot] = nil
	n.slot, n.feeds, n.bytes = gone, 0, 0
	delete(t.byID, id)
	if id.Hosted() {
		t.hosted--
	}
	t.list = slices.DeleteFunc(t.list, func(other *Neighbor) bool { return other == n })
}

// forget takes back everything that n advertised.
func (t *RoutingTable) forget(n *Neighbor) {
	for i := row(len(t.routes.list)) - 1; i >= 0; i-- {
		t.setHop(n, i, protocol.Withdrawn)
	}
	n.feeds, n.bytes = 0, 0
}

// maxHeardBytes bounds the URLs that are kept of one neighbor: no reading list is longer.
const maxHeardBytes = 1 << 20

// Hear applies changes that n advertised to its subscription set. Feeds that would make the set larger than
// protocol.MaxSubset are left out, and so are those that no node should advertise: whose URL is a secret, or on a
// private network, or that are Unspeakable.
func (t *RoutingTable) Hear(n *Neighbor, changes protocol.Subset) {
	for _, in := range changes {
		i := t.routes.find(in.Feed)
		old, known := t.routes.heard(i, n)
		switch {
		case in.Hops < 0:
			if !known {
				continue
			}
			n.feeds--
			n.bytes -= len(in.Feed)
		case known && old == in.Hops:
			continue
		case known:
		case (i == nowhere || t.routes.list[i].marks&isSpeakable == 0) && t.config.Unspeakable(in.Feed),
			n.feeds >= protocol.MaxSubset, n.bytes+len(in.Feed) > maxHeardBytes:
			continue
		default:
			i = t.routes.row(in.Feed)
			t.routes.list[i].marks |= isSpeakable
			n.feeds++
			n.bytes += len(in.Feed)
		}
		t.setHop(n, i, in.Hops)
	}
}

// setHop records n's interest in a feed, or with a negative count that there is none any more.
func (t *RoutingTable) setHop(n *Neighbor, i row, count int) {
	heard := &t.routes.of(i)[n.slot].heard
	if count = max(count, protocol.Withdrawn); *heard == int8(count+1) {
		return
	}
	if !t.near(cell{heard: *heard}) {
		t.routes.list[i].marks &^= isSpare // n has wanted nothing of what came before
	}
	*heard = int8(count + 1)
	if count == 0 || t.wanting(i) < crowd {
		t.wake(i) // a new neighbor may need it, or there is hardly any that they could have it from
	}
	t.touch()
	t.noteWanted(i)
	t.drop(i)
}

// tell notes what n believes of our interest in the feed.
func (t *RoutingTable) tell(n *Neighbor, i row, count int) {
	if n.slot == gone {
		return
	}
	t.routes.of(i)[n.slot].told = int8(count + 1)
	n.knows = 0
	t.drop(i)
}

// touch has what is said of feeds looked at again.
func (t *RoutingTable) touch() {
	t.stranger = nil
	t.changed++
}

// drop forgets a route that nobody is interested in, and of which nobody believes so.
func (t *RoutingTable) drop(i row) {
	if !t.routes.empty(i) {
		return
	}
	if moved := t.routes.remove(i); moved != i {
		if k := slices.Index(t.own, moved); k >= 0 {
			t.own[k] = i
		}
	}
}

// Own says whether the feed is in our own direct interest, and may be told to others. It reports whether that is news.
func (t *RoutingTable) Own(u feed.URL, is bool) (changed bool) {
	i := t.routes.row(u)
	switch had := t.routes.list[i].marks&isOwn != 0; {
	case is && !had:
		t.own = append(t.own, i)
	case had && !is:
		t.own = slices.DeleteFunc(t.own, func(other row) bool { return other == i })
	}
	return t.set(i, isOwn, is)
}

// Owns reports whether the feed is in our own direct interest, as Own said last.
func (t *RoutingTable) Owns(u feed.URL) bool {
	i := t.routes.find(u)
	return i != nowhere && t.routes.list[i].marks&isOwn != 0
}

// Private says whether the feed must not leave the node. Then it is not advertised, not forwarded and not
// wanted, even if neighbors are interested in it. It reports whether that is news.
func (t *RoutingTable) Private(u feed.URL, is bool) (changed bool) {
	return t.set(t.routes.row(u), isPrivate, is)
}

// IsPrivate reports whether the feed must not leave the node, as Private said last.
func (t *RoutingTable) IsPrivate(u feed.URL) bool {
	i := t.routes.find(u)
	return i != nowhere && t.routes.list[i].marks&isPrivate != 0
}

// set sets a mark of the feed's route, and has what is said of it looked at again if that changed it.
func (t *RoutingTable) set(i row, mark marks, is bool) (changed bool) {
	marks := &t.routes.list[i].marks
	if changed = (*marks&mark != 0) != is; changed {
		*marks ^= mark
		t.touch()
		t.wake(i)
		t.noteWanted(i)
	}
	t.drop(i)
	return changed
}

// Wanted reports whether a bundle of the feed is welcome from n: whether we advertise the feed to it, because we are
// interested, or relay it to other neighbors within reach, or did before the last choice. Feeds that n alone wants it
// need not bring us.
func (t *RoutingTable) Wanted(u feed.URL, n *Neighbor) bool {
	return t.Hops(u, n) >= 0
}

// Hops is the hop count of our own interest in the feed as n hears of it: 0 where we are interested
// ourselves or poll it for others, protocol.Withdrawn where it is not Wanted.
func (t *RoutingTable) Hops(u feed.URL, n *Neighbor) int {
	if i := t.routes.find(u); i != nowhere {
		return t.interest(i, n, isRelayed|isLeaving)
	}
	return protocol.Withdrawn
}

// Interested returns the neighbors to which bundles of the feed are forwarded: those in whose
// subscription set it stands at a hop count within MaxHops (Paper §3.4), the longest-serving first.
func (t *RoutingTable) Interested(u feed.URL) []*Neighbor {
	i := t.routes.find(u)
	if i == nowhere || t.routes.list[i].marks&isPrivate != 0 {
		return nil
	}
	out := make([]*Neighbor, 0, len(t.list))
	cells := t.routes.of(i)
	for _, n := range t.list {
		if t.reaches(cells[n.slot]) {
			out = append(out, n)
		}
	}
	return out
}

// reaches reports whether a neighbor's interest is within reach.
func (t *RoutingTable) reaches(c cell) bool { return c.heard > 0 && int(c.heard)-1 <= t.config.MaxHops }

// Forwards reports whether bundles of the feed are forwarded to n, which is to say whether it is among those
// Interested.
func (t *RoutingTable) Forwards(u feed.URL, n *Neighbor) bool {
	i := t.routes.find(u)
	count, ok := t.routes.heard(i, n)
	return ok && t.routes.list[i].marks&isPrivate == 0 && count <= t.config.MaxHops
}

// Hops is n's hop count of interest in the feed, and whether it has any.
func (n *Neighbor) Hops(u feed.URL) (int, bool) {
	r := &n.table.routes
	return r.heard(r.find(u), n)
}

// Feeds is the number of feeds in n's subscription set.
func (n *Neighbor) Feeds() int { return n.feeds }
