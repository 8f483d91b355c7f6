package experiment

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/lab"
	"feedex/lab/report"
	"feedex/node"
	"feedex/protocol"
)

// Row 34 is about stars that are shared. All nodes share those of all that they follow. Of the entries one in ten
// is liked, and starred by half of those who read it, some hours after it came; any other by one in a hundred. Stuffers
// exchange entries as everybody does, follow all feeds, link with as many as they can, and star what they agree on: of
// one entry in twenty, which no reader stars, all or some. They are quick, and hear all stars of readers.
const (
	stufferShare          = .1
	likedShare, starLiked = .1, .5
	starOther             = .01
	pushedShare           = .05
	readAfter             = 3 * time.Hour // on average
	// stuffedFor is how many times as long as other attacks it takes, so that a page is full.
	stuffedFor = 3
	// topStars is how many entries somebody sees at once.
	topStars = 10
	// heardTwice is how many readers must have starred what stuffers repeat, and repeatAfter how long it takes to hear.
	heardTwice  = 2
	repeatAfter = 10 * time.Minute
	// patientFor is the part of the time for which the patient stuff nothing.
	patientFor = .75
)

// A stuffing is a way to star what nobody reads.
type stuffing struct {
	networks int     // of the stuffers; 0 for one each
	share    float64 // of what no reader stars
	stuffs   split   // which of them star one of these
	repeats  split   // which of them star what readers did
	patient  bool    // they stuff in the end, in place of repeating, and what is new then is looked at
}

// A split says whether the i-th stuffer stars the n-th entry.
type split func(i, n int) bool

func byNone(int, int) bool { return false }
func byAll(int, int) bool  { return true }
func byOne(i, n int) bool  { return n%4 == i%4 }
func byPair(i, n int) bool { return slices.Contains(fourInPairs[n%len(fourInPairs)], i%4) }

// fourInPairs are the pairs of four.
var fourInPairs = [][]int{{0, 1}, {2, 3}, {0, 2}, {1, 3}, {0, 3}, {1, 2}}

// starAttacks are the lines of row 34.
func starAttacks() []attack {
	const mark = "they move none of it into the first ten of an honest node"
	row := func(name, done string, s stuffing) attack {
		return attack{34, name, done, mark, stuffedFor, s.run}
	}
	return []attack{
		row("ballot stuffing", "10% in two networks star what they agree on, three times as long",
			stuffing{2, 1, byAll, byNone, false}),
		row("ballot stuffing from everywhere", "the same, in a network each", stuffing{0, 1, byAll, byNone, false}),
		row("ballot stuffing in turn", "of these two star each, another pair the next",
			stuffing{0, 1, byPair, byNone, false}),
		row("ballot stuffing of little", "all star a tenth of that", stuffing{0, .1, byAll, byNone, false}),
		row("ballot stuffing in disguise", "the same, and each repeats a fourth of what two readers starred",
			stuffing{0, .1, byAll, byOne, false}),
		row("ballot stuffing by pairs in disguise", "the same, and pairs repeat what two readers starred",
			stuffing{0, .1, byAll, byPair, false}),
		row("patient ballot stuffing",
			"all repeat what two readers starred; in the last quarter, of which the page is then, they stuff in its "+
				"place", stuffing{0, 1, byAll, byAll, true}),
	}
}

// A taste says which entries readers star, and which stuffers.
type taste struct{ seed lab.Seed }

// pushed reports whether stuffers may star the entry.
func (s taste) pushed(id feed.EntryID) bool {
	return s.seed.Stream("pushed "+id.String()).Float64() < pushedShare
}

// chance is that with which a reader stars the entry.
func (s taste) chance(id feed.EntryID) float64 {
	switch {
	case s.pushed(id):
		return 0
	case s.seed.Stream("liked "+id.String()).Float64() < likedShare:
		return starLiked
	}
	return starOther
}

// A ballot is row 34 under way.
type ballot struct {
	stuffing
	taste
	g       *gathering
	pen     []*rand.Rand
	bad     []int
	readers map[feed.EntryID]int       // how many starred it
	came    map[feed.EntryID]time.Time // first anywhere
	number  map[feed.EntryID]int       // of what stuffers stuff or repeat
	counts  [2]int                     // of these
	late    time.Time                  // from when on the patient stuff
}

func (s stuffing) run(t *trial) (string, bool) {
	c := t.with(kind{member: func(w *lab.World, m *lab.MemberConfig) {
		m.Feeds = everything(w)
		linksWithAll(m, t.Nodes)
	}}, stufferShare)
	c.Length *= stuffedFor
	if s.networks > 0 {
		joined := c.badAddresses()
		c.Kind.address = func(i int) protocol.NodeID {
			n := slices.Index(joined, publicAddress(i))
			return protocol.NewNodeID(netip.AddrFrom4([4]byte{90, byte(n % s.networks), 1, byte(n)}),
				protocol.DefaultPort)
		}
	}
	b := &ballot{stuffing: s, taste: taste{c.Seed}, pen: make([]*rand.Rand, c.Nodes),
		readers: make(map[feed.EntryID]int), came: make(map[feed.EntryID]time.Time),
		number: make(map[feed.EntryID]int), late: c.Start}
	if s.patient {
		b.late = c.Start.Add(time.Duration(patientFor * float64(c.Length)))
	}
	for i, is := range c.divide() {
		if b.pen[i] = c.Seed.Stream(fmt.Sprint("stars of ", i)); is == bad {
			b.bad = append(b.bad, i)
		}
	}
	follows := make([][]feed.URL, c.Nodes)
	c.Tune = func(i int, _ class, m *lab.MemberConfig) { follows[i] = m.Feeds }
	c.Watch = arrivals(func(i int, isBad bool, _ protocol.NodeID, e *feed.Entry) {
		b.arrived(i, isBad, e.Feed, e.EntryID())
	})
	t.play(c, func(g *gathering) {
		b.g = g
		g.w.At(c.Start.Add(joinWithin), func() {
			share := archive.SharesStars
			for i, h := range g.hosts {
				h.Tell(node.Subscribe{Feeds: follows[i], Sharing: &share})
			}
		})
	})
	return b.outcome()
}

// arrived has a reader read the entry, or a stuffer.
func (b *ballot) arrived(i int, isBad bool, u feed.URL, id feed.EntryID) {
	now := b.g.w.Now()
	if _, known := b.came[id]; !known {
		b.came[id] = now
	}
	switch {
	case !isBad:
		if b.pen[i].Float64() >= b.chance(id) {
			return
		}
		b.g.w.At(now.Add(time.Duration(b.pen[i].ExpFloat64()*float64(readAfter))), func() { b.reads(i, u, id) })
	case b.stuffed(id):
		b.star(slices.Index(b.bad, i), u, id, b.stuffs, 0)
	}
}

// stuffed reports whether the stuffers star the entry.
func (b *ballot) stuffed(id feed.EntryID) bool {
	return b.pushed(id) && !b.came[id].Before(b.late) && b.seed.Stream("stuffed "+id.String()).Float64() < b.share
}

// reads has a reader star the entry, and stuffers hear of it.
func (b *ballot) reads(i int, u feed.URL, id feed.EntryID) {
	b.g.hosts[i].Star(u, id)
	b.readers[id]++
	if b.readers[id] != heardTwice || b.patient && !b.g.w.Now().Before(b.late) {
		return
	}
	b.g.w.At(b.g.w.Now().Add(repeatAfter), func() {
		for k := range b.bad {
			b.star(k, u, id, b.repeats, 1)
		}
	})
}

// star has the k-th stuffer star the entry if it is one of those who do.
func (b *ballot) star(k int, u feed.URL, id feed.EntryID, who split, kind int) {
	n, known := b.number[id]
	if !known {
		n = b.counts[kind]
		b.number[id] = n
		b.counts[kind]++
	}
	if who(k, n) {
		b.g.hosts[b.bad[k]].Star(u, id)
	}
}

// A firstTen is what readers see first, of all of them together.
type firstTen struct{ places, stuffed, liked, full, touched int }

// add adds what one reader sees of these entries.
func (p *firstTen) add(b *ballot, list []node.StarredEntry) {
	theirs := 0
	for _, s := range list[:min(topStars, len(list))] {
		switch {
		case b.stuffed(s.Entry):
			theirs++
		case b.chance(s.Entry) == starLiked:
			p.liked++
		}
		p.places++
	}
	if p.stuffed += theirs; theirs > 0 {
		p.touched++
	}
	if len(list) >= topStars {
		p.full++
	}
}

// outcome says how much of what the honest see first only stuffers starred, of pages of what neighbors starred, and how
// much it would be by the number of votes alone.
func (b *ballot) outcome() (string, bool) {
	var weighed, counted firstTen
	votes, honest := 0, b.g.honest()
	for _, h := range honest {
		list := slices.DeleteFunc(h.Node().Starred(), func(s node.StarredEntry) bool {
			return s.Votes < 2 || b.patient && b.came[s.Entry].Before(b.late)
		})
		for _, s := range list {
			if b.stuffed(s.Entry) {
				votes = max(votes, s.Votes)
			}
		}
		weighed.add(b, slices.DeleteFunc(slices.Clone(list), func(s node.StarredEntry) bool { return s.Weight == 0 }))
		slices.SortFunc(list, func(x, y node.StarredEntry) int {
			return cmp.Or(cmp.Compare(y.Votes, x.Votes), x.Entry.Compare(y.Entry))
		})
		counted.add(b, list)
	}
	share := func(n, of int) string { return report.Percent(float64(n) / float64(max(1, of))) }
	return fmt.Sprintf("%d of %d first ten have any of it, %d of %d places (%s), by votes alone %s; it has %d votes "+
			"at most; liked are %s of all places, by votes alone %s; %d of the first ten are full",
			weighed.touched, len(honest), weighed.stuffed, weighed.places, share(weighed.stuffed, weighed.places),
			share(counted.stuffed, counted.places), votes, share(weighed.liked, topStars*len(honest)),
			share(counted.liked, topStars*len(honest)), weighed.full),
		weighed.stuffed == 0 && weighed.full > 0 && votes > 0
}
