package neighbors

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/protocol"
)

// own makes the first n feeds our own.
func own(t *RoutingTable, n int) {
	for i := range n {
		t.Own(url(i), true)
	}
}

// feeds is a subset of the feeds from to up to but without end, at hops.
func feeds(from, end, hops int) (s protocol.Subset) {
	for i := from; i < end; i++ {
		s = append(s, protocol.Interest{Feed: url(i), Hops: hops})
	}
	return s
}

// Paper §3.2: u(Q) = Σ w_i·d^(−h_i) over P's direct set and Q's entire set.
func TestClaimedUsefulness(t *testing.T) {
	crowd := func() *RoutingTable { // every feed is offered twice already
		table := newTable()
		own(table, 8)
		table.Add(now, id(8), true, feeds(0, 20, 0), nil)
		table.Add(now, id(9), true, feeds(0, 20, 0), nil)
		return table
	}
	for _, c := range []struct {
		name   string
		set    func(*RoutingTable)
		subset protocol.Subset
		want   Usefulness
	}{
		{"a feed of ours at hop 0", nil, feeds(0, 1, 0), One},
		{"the sum over feeds", nil, feeds(0, 4, 0), 4 * One},
		{"half a hop further", nil, feeds(0, 1, 1), One / 2},
		{"an eighth at three hops", nil, feeds(0, 1, 3), One / 8},
		{"nothing beyond reach", nil, feeds(0, 1, 4), 0},
		{"nothing for what only others want", nil, feeds(8, 20, 0), 0},
		{"weights count", func(t *RoutingTable) { t.Weigh(url(0), 5) }, feeds(0, 2, 0), 6 * One},
		{"weights are bounded", func(t *RoutingTable) { t.Weigh(url(0), 1000) }, feeds(0, 1, 0), MaxWeight * One},
		{"a feed that one other offers counts twice",
			func(t *RoutingTable) {
				t.Hear(lookup(t, id(9)), feeds(0, 1, protocol.Withdrawn))
			}, feeds(0, 1, 0), 2 * One},
		{"one that offers it from two hops further is no company",
			func(t *RoutingTable) { t.Hear(lookup(t, id(9)), feeds(0, 1, 2)) }, feeds(0, 1, 0), 2 * One},
		{"one that offers it from a hop further is", func(t *RoutingTable) { t.Hear(lookup(t, id(9)), feeds(0, 1, 1)) },
			feeds(0, 1, 0), One},
		{"a feed that nobody else offers counts four times", func(t *RoutingTable) {
			t.Hear(lookup(t, id(8)), feeds(0, 1, protocol.Withdrawn))
			t.Hear(lookup(t, id(9)), feeds(0, 1, protocol.Withdrawn))
		}, feeds(0, 1, 0), 4 * One},
	} {
		table := crowd()
		if c.set != nil {
			c.set(table)
		}
		if got := table.Claimed(id(1), c.subset); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestOnesOwnOfferIsNoCompany(t *testing.T) {
	table := newTable()
	own(table, 1)
	n := table.Add(now, id(1), true, feeds(0, 1, 0), nil)
	if got := table.Claimed(n.ID, nil); got != lonely*One {
		t.Errorf("the only one that offers a feed is worth %d, want %d", got, lonely*One)
	}
}

// Entries that a neighbor brought outweigh in time its claims.
func TestALiarEndsAsTheLeastUseful(t *testing.T) {
	table := newTable()
	own(table, 100)
	for i := range 4 {
		table.Add(now, id(i), true, feeds(0, 20, 0), nil)
	}
	liar := table.Add(now, id(9), false, feeds(0, 100, 0), nil)
	at := now
	worst := func() protocol.NodeID {
		scores := table.Scores(at)
		least := 0
		for i := range scores {
			if scores[i] < scores[least] {
				least = i
			}
		}
		return table.All()[least].ID
	}
	if worst() == liar.ID {
		t.Fatal("at first everyone is taken at their word")
	}
	at = at.Add(time.Hour)
	for i := range 4 {
		table.Brought(at, lookup(table, id(i)), 5*One)
	}
	if worst() != liar.ID {
		t.Errorf("after an hour without a delivery it is worth more than %v: %v", worst(), table.Scores(at))
	}
}

// Entries that neighbors brought are told in feeds, as claims are: they share out the sum of all claims.
func TestObservedUsefulness(t *testing.T) {
	table := newTable()
	own(table, 100)
	for i := range 3 {
		table.Add(now, id(i), true, feeds(0, 40, 0), nil)
	}
	want := func(at time.Time, want ...Usefulness) {
		t.Helper()
		if got := table.Observed(at); !slices.Equal(got, want) {
			t.Errorf("%d, want %d", got, want)
		}
	}
	want(now, 0, 0, 0)
	table.Brought(now, lookup(table, id(0)), 6*One)
	table.Brought(now, lookup(table, id(1)), 2*One)
	want(now.Add(time.Hour), 90*One, 30*One, 0) // every feed is offered three times: 120 in all
	table.Brought(now.Add(time.Hour), lookup(table, id(2)), 8*One)
	want(now.Add(time.Hour), 45*One, 15*One, 60*One)
	want(now.Add(24*time.Hour), 0, 0, 120*One) // what is a day old is forgotten
}

func TestSecondaryMetricsDecideBetweenEquals(t *testing.T) {
	for _, c := range []struct {
		name   string
		better func(*Neighbor)
	}{
		{"nearer", func(n *Neighbor) { n.RTT = 10 * time.Millisecond }},
		{"longer together", func(n *Neighbor) { n.Since = now.Add(-24 * time.Hour) }},
		{"more reliable", nil},
	} {
		table := newTable()
		own(table, 20)
		a := table.Add(now, id(1), true, feeds(0, 20, 0), nil)
		b := table.Add(now, id(2), true, feeds(0, 20, 0), nil)
		a.RTT, b.RTT = 300*time.Millisecond, 300*time.Millisecond
		if c.better != nil {
			c.better(a)
		} else {
			b.Failures = 1
		}
		if s := table.Scores(now); s[0] <= s[1] {
			t.Errorf("%s: %d and %d", c.name, s[0], s[1])
		}
		table.Hear(b, feeds(0, 5, 0)) // no change
		own(table, 30)
		table.Hear(b, feeds(20, 30, 0))
		if s := table.Scores(now); s[0] >= s[1] {
			t.Errorf("%s, but of much less use: %d and %d", c.name, s[0], s[1])
		}
	}
}

// What else speaks for a neighbor moves its score by so many thousandths.
func TestBonus(t *testing.T) {
	for _, c := range []struct {
		rtt, age time.Duration
		failures int
		want     Usefulness
	}{
		{0, 0, 0, 0}, {time.Millisecond, 0, 0, 30}, {50*time.Millisecond - 1, 0, 0, 30},
		{50 * time.Millisecond, 0, 0, 15}, {200*time.Millisecond - 1, 0, 0, 15}, {200 * time.Millisecond, 0, 0, 0},
		{time.Second, 0, 0, 0}, {0, day, 0, 24}, {0, 2 * day, 0, 48}, {0, 30 * day, 0, 48}, {0, 0, 1, -50},
		{0, 0, 4, -200}, {0, 0, 100, -200}, {time.Millisecond, 2 * day, 4, -122},
	} {
		n := &Neighbor{RTT: c.rtt, Since: now.Add(-c.age), Failures: c.failures}
		if got := n.bonus(now); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// fullTable has ten neighbors of a day ago, of which the last is of least use.
func fullTable() *RoutingTable {
	table := newTable()
	own(table, 40)
	for i := range 10 {
		chosen := i == 4 || i == 5
		table.Add(now.Add(-24*time.Hour), id(i), chosen, feeds(0, 40-2*i, 0), nil)
	}
	return table
}

func TestReplacement(t *testing.T) {
	stranger := id(77)
	for _, c := range []struct {
		name   string
		set    func(*RoutingTable)
		subset protocol.Subset
		want   int // the neighbor that gives way, -1 for none
	}{
		{"a clearly more useful newcomer replaces the least useful", nil, feeds(0, 40, 0), 9},
		{"one that is as useful does not", nil, feeds(0, 22, 0), -1},
		{"one that is a little more useful does not", nil, feeds(0, 26, 0), -1},
		{"one that shares nothing does not", nil, feeds(50, 90, 0), -1},
		{"a newcomer of lately has its grace", func(t *RoutingTable) { lookup(t, id(9)).Since = now.Add(-time.Minute) },
			feeds(0, 40, 0), 8},
		{"a static neighbor stays", func(t *RoutingTable) { lookup(t, id(9)).Static = true }, feeds(0, 40, 0), 8},
		{"a good deliverer stays", func(t *RoutingTable) {
			t.Brought(now, lookup(t, id(9)), 10*One)
		}, feeds(0, 40, 0), 8},
		{"the only one that offers a feed is worth more for it", func(t *RoutingTable) {
			t.Own(url(60), true)
			t.Hear(lookup(t, id(9)), feeds(60, 61, 0))
		}, feeds(0, 40, 0), 8},
		{"unless the newcomer offers it as well", func(t *RoutingTable) {
			t.Own(url(60), true)
			t.Hear(lookup(t, id(9)), feeds(60, 61, 3))
		}, append(feeds(0, 40, 0), feeds(60, 61, 0)...), 9},
		{"but does not stay for it alone", func(t *RoutingTable) {
			t.Own(url(60), true)
			t.Hear(lookup(t, id(9)), append(feeds(0, 22, protocol.Withdrawn), feeds(60, 61, 0)...))
		}, feeds(0, 40, 0), 9},
		{"one whose grace is over gives way", func(t *RoutingTable) { lookup(t, id(9)).Since = now.Add(-grace) },
			feeds(0, 40, 0), 9},
		{"a quarter more, and a feed, is what a newcomer must offer", func(t *RoutingTable) {
			t.Hear(lookup(t, id(9)), feeds(20, 22, protocol.Withdrawn))
			lookup(t, id(9)).Since = now.Add(-grace) // it has no bonus for its age
		}, feeds(0, 26, 0), 9},
		{"and no less", func(t *RoutingTable) {
			t.Hear(lookup(t, id(9)), feeds(20, 22, protocol.Withdrawn))
			lookup(t, id(9)).Since = now.Add(-grace)
		}, feeds(0, 25, 0), -1},
		{"nobody gives way where all are protected or of lately", func(t *RoutingTable) {
			for i := 2; i < 10; i++ {
				lookup(t, id(i)).Since = now
			}
		}, feeds(0, 40, 0), -1},
		{"two that we chose stay, be they of no use", func(t *RoutingTable) {
			for i := range 10 {
				lookup(t, id(i)).Chosen = i >= 8
			}
			t.Hear(lookup(t, id(8)), feeds(0, 40, protocol.Withdrawn))
			t.Hear(lookup(t, id(9)), feeds(0, 40, protocol.Withdrawn))
		}, feeds(0, 40, 0), 7},
		{"but no third", func(t *RoutingTable) {
			for i := range 10 {
				lookup(t, id(i)).Chosen = i >= 7
			}
		}, feeds(0, 40, 0), 9},
		{"two that we chose stay", func(t *RoutingTable) {
			for i := range 10 {
				lookup(t, id(i)).Chosen = i >= 8
			}
		}, feeds(0, 40, 0), 7},
	} {
		table := fullTable()
		if c.set != nil {
			c.set(table)
		}
		var want *Neighbor
		if c.want >= 0 {
			want = lookup(table, id(c.want))
		}
		got := table.Replaceable(now, stranger, true, c.subset)
		if got != want {
			t.Errorf("%s: replaces %v, want %v; scores %v", c.name, name(got), name(want), table.Scores(now))
		}
	}
}

func name(n *Neighbor) string {
	if n == nil {
		return "nobody"
	}
	return n.ID.String()
}

// A neighbor is idle that brings so little of what it claims that one who claims half as much as others would have its
// place, unless it stays.
func TestIdle(t *testing.T) {
	table := newTable()
	own(table, 40)
	for i := range 5 {
		table.Add(now, id(i), true, feeds(0, 40, 0), nil)
	}
	table.Limit(5)
	if table.Admit(id(77), true, false) != ErrFull || lookup(table, id(4)) == nil {
		t.Error("there is a place beyond the limit")
	}
	at := now.Add(time.Hour)
	brings := func(last Usefulness) {
		for i := range 5 {
			table.Brought(at, lookup(table, id(i)), 10*One)
		}
		table.Brought(at, lookup(table, id(4)), last-10*One)
	}
	if brings(8 * One); table.Idle(at) {
		t.Errorf("one is idle that brings hardly less than others: %v", table.Scores(at))
	}
	brings(-2 * One)
	if n := table.Replaceable(at, id(77), true, feeds(0, 20, 0)); !table.Idle(at) || n != lookup(table, id(4)) {
		t.Errorf("one that brings a third of it is not, and %v gives way: %v", name(n), table.Scores(at))
	}
	if lookup(table, id(4)).Static = true; table.Idle(at) {
		t.Error("one is idle that its owner named")
	}
	for shares, want := range map[int]bool{4: true, 5: false} { // half of what five claim on average is 6
		table := newTable()
		own(table, 14)
		for i := range 4 {
			table.Add(now, id(i), true, feeds(0, 14, 0), nil)
		}
		table.Add(now, id(4), true, feeds(0, shares, 0), nil)
		if got := table.Idle(now.Add(grace)); got != want {
			t.Errorf("one is idle that claims %d of 14 feeds: %v", shares, got)
		}
	}
}

// What a newcomer must claim to get a place: nothing while there is one for it, and where it has to take another's,
// what has that one replaced.
func TestBar(t *testing.T) {
	for _, c := range []struct {
		name   string
		set    func(*RoutingTable)
		chosen bool
		bar    Usefulness
		ok     bool
	}{
		{"there is a place", func(t *RoutingTable) { t.Limit(11) }, true, 0, true},
		{"there is one for those who come", func(t *RoutingTable) {
			t.Limit(16)
			lookup(t, id(6)).Chosen = true
		}, false, 0, true},
		{"there is none", nil, true, 20*One + 5*One + One, true},
		{"there is one, but those who come have theirs", func(t *RoutingTable) { t.Limit(11) }, false,
			20*One + 5*One + One, true},
		{"there is none, and nobody gives way", func(t *RoutingTable) {
			for _, n := range t.list {
				n.Static = true
			}
		}, true, 0, false},
		{"there is none, and all but the protected are of lately", func(t *RoutingTable) {
			for _, n := range t.list[2:] {
				n.Since = now
			}
		}, true, 0, false},
	} {
		table := fullTable()
		table.Hear(lookup(table, id(9)), feeds(20, 22, protocol.Withdrawn))
		lookup(table, id(9)).Since = now.Add(-grace)
		if c.set != nil {
			c.set(table)
		}
		if bar, ok := table.Bar(now, c.chosen); bar != c.bar || ok != c.ok {
			t.Errorf("%s: the bar is %d, %v", c.name, bar, ok)
		}
	}
}

// Of those that may go the one goes that is worth least, wherever it stands, and none that its owner named.
func TestLeastUseful(t *testing.T) {
	table := fullTable()
	table.Hear(lookup(table, id(0)), feeds(0, 30, protocol.Withdrawn))
	lookup(table, id(9)).Static = true
	for _, c := range []struct {
		may  []int
		want int
	}{{[]int{0, 1, 2}, 0}, {[]int{2, 4, 3}, 4}, {[]int{3}, 3}, {[]int{1, 8, 9}, 8}, {[]int{9}, -1}, {nil, -1}} {
		var want *Neighbor
		if c.want >= 0 {
			want = lookup(table, id(c.want))
		}
		got := table.LeastUseful(now, func(n *Neighbor) bool {
			return slices.ContainsFunc(c.may, func(i int) bool { return n.ID == id(i) })
		})
		if got != want {
			t.Errorf("of %v goes %v", c.may, name(got))
		}
	}
}

// Homes that cannot be dialled share their places: a region that has fewer takes one of a region that has more, and in
// a region a network does so. Otherwise use decides.
func TestHomesShareTheirPlaces(t *testing.T) {
	type home struct {
		at    string
		feeds int
		kind  string // "" a hosted one of a day ago
	}
	const own = 40
	for _, c := range []struct {
		name     string
		homes    []home // the first two are protected
		newcomer string
		claims   int
		want     int // which of them gives way, -1 for none
	}{
		{"a region without any takes the least useful of another", []home{{at: "20.1.1.1", feeds: 20},
			{at: "20.1.2.1", feeds: 20}, {at: "20.1.3.1", feeds: 30}, {at: "20.1.4.1", feeds: 21},
			{at: "20.1.5.1", feeds: 35}}, "20.2.1.1", 0, 3},
		{"one that would have as many then", []home{{at: "20.1.1.1"}, {at: "20.2.1.1"}, {at: "20.1.2.1"},
			{at: "20.1.3.1"}}, "20.2.2.1", 0, 2},
		{"not one that would have more", []home{{at: "20.1.1.1"}, {at: "20.2.1.1"}, {at: "20.1.1.2"}},
			"20.2.2.1", 0, -1},
		{"nor if a network elsewhere has many", []home{{at: "20.1.1.1"}, {at: "20.1.1.2"}, {at: "20.1.1.3"},
			{at: "20.2.1.1"}, {at: "20.2.2.1"}}, "20.2.3.1", 0, -1},
		{"the region that has most gives first", []home{{at: "20.3.1.1"}, {at: "20.1.1.1"}, {at: "20.3.2.1", feeds: 1},
			{at: "20.3.3.1"}, {at: "20.1.2.1", feeds: 30}, {at: "20.1.3.1", feeds: 25}, {at: "20.1.4.1", feeds: 28},
			{at: "20.3.4.1"}, {at: "20.1.5.1", feeds: 26}}, "20.2.1.1", 0, 5},
		{"in a region the network that has more gives", []home{{at: "20.1.1.1"}, {at: "20.1.2.1"}, {at: "20.1.1.2"},
			{at: "20.1.1.3"}}, "20.1.2.2", 0, 2},
		{"not one that would have fewer then", []home{{at: "20.1.1.1"}, {at: "20.1.2.1"}, {at: "20.1.1.2"}},
			"20.1.2.2", 0, -1},
		{"settled ones count for nothing and stay", []home{{at: "20.1.1.1"}, {at: "20.1.2.1"},
			{at: "20.1.3.1", kind: "settled"}, {at: "20.1.4.1", feeds: 20}, {at: "20.1.5.1", kind: "settled"}},
			"20.2.1.1", 0, 3},
		{"also where that leaves none", []home{{at: "20.2.1.1"}, {at: "20.1.2.1"}, {at: "20.1.3.1", kind: "settled"},
			{at: "20.1.4.1"}, {at: "20.1.5.1", kind: "settled"}}, "20.2.2.1", 0, -1},
		{"those of lately stay", []home{{at: "20.1.1.1"}, {at: "20.1.2.1"}, {at: "20.1.3.1", kind: "lately"},
			{at: "20.1.4.1", feeds: 20}}, "20.2.1.1", 0, 3},
		{"until their grace is over", []home{{at: "20.1.1.1"}, {at: "20.1.2.1"}, {at: "20.1.3.1", kind: "grace"},
			{at: "20.1.4.1", feeds: 20}}, "20.2.1.1", 0, 2},
		{"those that can be dialled are none of them", []home{{at: "20.1.1.1"}, {at: "20.1.2.1"},
			{at: "20.1.3.1", kind: "dialled"}, {at: "20.1.4.1", kind: "dialled"}, {at: "20.1.5.1", kind: "dialled"},
			{at: "20.1.6.1", feeds: 20}}, "20.2.1.1", 0, 5},
		{"else who claims a quarter more and a feed takes the place of the least useful", []home{
			{at: "20.1.1.1", feeds: own}, {at: "20.2.1.1", feeds: own}, {at: "20.3.1.1", feeds: 30},
			{at: "20.4.1.1", feeds: 20, kind: "grace"}}, "20.5.1.1", 26, 3},
		{"not who claims less", []home{{at: "20.1.1.1", feeds: own}, {at: "20.2.1.1", feeds: own},
			{at: "20.3.1.1", feeds: 30}, {at: "20.4.1.1", feeds: 20, kind: "grace"}}, "20.5.1.1", 25, -1},
		{"nor that of one of lately", []home{{at: "20.1.1.1", feeds: own}, {at: "20.2.1.1", feeds: own},
			{at: "20.3.1.1", kind: "lately"}}, "20.5.1.1", own, -1},
		{"nor of one that can be dialled", []home{{at: "20.1.1.1", feeds: own}, {at: "20.2.1.1", feeds: own},
			{at: "20.3.1.1", kind: "dialled"}, {at: "20.4.1.1", kind: "dialled"}, {at: "20.5.1.1", kind: "dialled"}},
			"20.6.1.1", own, -1},
	} {
		table := NewRoutingTable(Config{Max: 20, MaxHosted: 20, MaxHops: 3, MaxRelayed: 100})
		for i := range own {
			table.Own(url(i), true)
		}
		for i := range 2 { // others offer all of it
			table.Add(now.Add(-day), id(200+i), true, feeds(0, own, 0), nil)
		}
		var homes []*Neighbor
		for i, h := range c.homes {
			at := protocol.HostedID(netip.MustParseAddr(h.at), protocol.NodeKey{1, byte(i)})
			if h.kind == "dialled" {
				at = protocol.NewNodeID(at.Addr(), 7790)
			}
			n := table.Add(now.Add(-day), at, false, feeds(0, h.feeds, 0), nil)
			switch n.Settled = h.kind == "settled"; h.kind {
			case "lately":
				n.Since = now.Add(-grace + 1)
			case "grace":
				n.Since = now.Add(-grace)
			}
			homes = append(homes, n)
		}
		var want *Neighbor
		if c.want >= 0 {
			want = homes[c.want]
		}
		newcomer := protocol.HostedID(netip.MustParseAddr(c.newcomer), protocol.NodeKey{2})
		if got := table.Replaceable(now, newcomer, false, feeds(0, c.claims, 0)); got != want {
			t.Errorf("%s: %v gives way, want %v", c.name, name(got), name(want))
		}
	}
}

// An attacker that floods a full table with the best of claims never owns all places.
func TestAFloodLeavesTheProtected(t *testing.T) {
	table := fullTable()
	at := now
	for i := 100; i < 160; i++ {
		at = at.Add(2 * time.Hour) // with all the patience in the world
		if n := table.Replaceable(at, id(i), true, feeds(0, 40, 0)); n != nil {
			table.Remove(n.ID)
			table.Add(at, id(i), false, feeds(0, 40, 0), nil)
		}
	}
	honest := 0
	for _, n := range table.All() {
		for i := range 10 {
			if n.ID == id(i) {
				honest++
			}
		}
	}
	if honest < 4 {
		t.Errorf("%d of 10 honest neighbors are left", honest)
	}
}

// A neighbor that claims much and brought next to nothing lies, once there was time and others have shown what was to
// be had.
func TestLies(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(table *RoutingTable, liar *Neighbor)
		want bool
	}{
		{"brought nothing of what it claims", nil, true},
		{"brought a little", func(table *RoutingTable, liar *Neighbor) { table.Brought(now, liar, One/2) }, true},
		{"brought a tenth of what others did",
			func(table *RoutingTable, liar *Neighbor) { table.Brought(now, liar, One) }, false},
		{"brought hardly less than that",
			func(table *RoutingTable, liar *Neighbor) { table.Brought(now, liar, One-1) }, true},
		{"there are two to compare with", func(table *RoutingTable, _ *Neighbor) { table.Remove(id(3)) }, true},
		{"what others brought is just enough to tell", func(table *RoutingTable, _ *Neighbor) {
			for i, n := range table.All()[1:] {
				n.brought = tally{}
				table.Brought(now.Add(-6*time.Hour), n, 5*One*Usefulness(max(0, 1-i)))
				table.Brought(now, n, 5*One)
			}
		}, true},
		{"what it claims reaches us as far as anything", func(table *RoutingTable, _ *Neighbor) {
			for _, n := range table.All() {
				table.Hear(n, feeds(0, 20, 3))
			}
		}, true},
		{"nobody claims anything", func(table *RoutingTable, _ *Neighbor) {
			for _, n := range table.All() {
				table.Hear(n, feeds(0, 20, protocol.Withdrawn))
			}
		}, false},
		{"had five hours", func(table *RoutingTable, liar *Neighbor) {
			liar.Since = now.Add(-5 * time.Hour)
			for _, n := range table.All()[1:] {
				n.brought = tally{}
				table.Brought(now.Add(-4*time.Hour), n, 5*One)
				table.Brought(now, n, 5*One)
			}
		}, true},
		{"had hardly less", func(table *RoutingTable, liar *Neighbor) {
			liar.Since = now.Add(-5*time.Hour + time.Second)
			for _, n := range table.All()[1:] {
				n.brought = tally{}
				table.Brought(now.Add(-4*time.Hour), n, 5*One)
				table.Brought(now, n, 5*One)
			}
		}, false},
		{"had no time", func(_ *RoutingTable, liar *Neighbor) { liar.Since = now.Add(-time.Hour) }, false},
		{"claims little", func(table *RoutingTable,
			liar *Neighbor) {
			table.Hear(liar, feeds(1, 20, protocol.Withdrawn))
		}, false},
		{"others brought nothing either", func(table *RoutingTable, _ *Neighbor) {
			for _, n := range table.All() {
				n.brought = tally{}
			}
		}, false},
		{"others only began to bring lately", func(table *RoutingTable, _ *Neighbor) {
			for _, n := range table.All()[1:] {
				n.brought = tally{}
				table.Brought(now.Add(-3*time.Hour), n, 10*One)
			}
		}, false},
		{"what others brought was before its time",
			func(_ *RoutingTable, liar *Neighbor) { liar.Since = now.Add(-liesAfter - time.Minute) }, false},
		{"claims what nobody else offers besides", func(table *RoutingTable, liar *Neighbor) {
			table.Own(url(60), true)
			table.Hear(liar, feeds(60, 61, 0))
		}, true},
		{"offers what nobody else does, and it is silent", func(table *RoutingTable, liar *Neighbor) {
			for i := range 20 {
				table.Own(url(60+i), true)
			}
			table.Hear(liar, feeds(60, 80, 0))
			table.Hear(liar, feeds(1, 20, protocol.Withdrawn))
		}, false},
		{"brought what others want", func(table *RoutingTable, liar *Neighbor) {
			table.Relayed(now, liar, 2*One)
		}, false},
		{"others brought what others want", func(table *RoutingTable, _ *Neighbor) {
			for _, n := range table.All()[1:] {
				n.brought = tally{}
				table.Relayed(now.Add(-6*time.Hour), n, 10*One)
			}
		}, false},
		{"there is nobody to compare with", func(table *RoutingTable, _ *Neighbor) {
			table.Remove(id(1))
			table.Remove(id(2))
		}, false},
	} {
		table := newTable()
		own(table, 20)
		for i := range 4 {
			n := table.Add(now.Add(-24*time.Hour), id(i), true, feeds(0, 20, 0), nil)
			if i > 0 {
				table.Brought(now.Add(-6*time.Hour), n, 5*One)
				table.Brought(now, n, 5*One)
			}
		}
		liar := lookup(table, id(0))
		if c.set != nil {
			c.set(table, liar)
		}
		if got := table.Lies(now, liar); got != c.want {
			t.Errorf("%s: lies %v", c.name, got)
		}
	}
}

func TestUncovered(t *testing.T) {
	table := newTable()
	own(table, 3)
	table.Add(now, id(1), true, feeds(0, 3, 0), nil)
	table.Add(now, id(2), true, append(feeds(0, 1, 0), feeds(1, 2, 4)...), nil) // the second is beyond reach
	if got := table.Uncovered(); got != 2 {
		t.Errorf("%d own feeds are offered fewer than twice, want 2", got)
	}
}

func TestTallyForgetsWhatIsADayOld(t *testing.T) {
	var y tally
	y.add(now, 5)
	y.add(now.Add(10*time.Hour), 7)
	for _, c := range []struct {
		after time.Duration
		want  Usefulness
	}{{10 * time.Hour, 12}, {23 * time.Hour, 12}, {24 * time.Hour, 7}, {34 * time.Hour, 0}, {1000 * time.Hour, 0}} {
		if got := y.sum(now.Add(c.after)); got != c.want {
			t.Errorf("after %v: %d, want %d", c.after, got, c.want)
		}
	}
}

// Entries that are taken back go out of the hours in which they came, and never bring a neighbor below nothing.
func TestTallyTakesBack(t *testing.T) {
	for _, c := range []struct {
		back Usefulness
		want [3]Usefulness // right after it, when the first is forgotten, when all is
	}{{-3, [3]Usefulness{9, 4, 0}}, {-9, [3]Usefulness{3, 0, 0}}, {-12, [3]Usefulness{0, 0, 0}},
		{-100, [3]Usefulness{0, 0, 0}}} {
		var y tally
		y.add(now, 5)
		y.add(now.Add(10*time.Hour), 7)
		y.add(now.Add(20*time.Hour), c.back)
		for i, after := range []time.Duration{20 * time.Hour, 24 * time.Hour, 34 * time.Hour} {
			if got := y.sum(now.Add(after)); got != c.want[i] {
				t.Errorf("after %d and %v: %d, want %d", c.back, after, got, c.want[i])
			}
		}
	}
}

// A clock that does not know the day harms nothing.
func TestTallyOfAWrongClock(t *testing.T) {
	var y tally
	for i := range 3 {
		at := time.Unix(0, 0).Add(time.Duration(i) * time.Hour)
		y.add(at, 5)
		if y.add(at, -3); y.sum(at) != Usefulness(2*(i+1)) {
			t.Errorf("in hour %d they are %d", i, y.sum(at))
		}
	}
}

func BenchmarkReplaceable(b *testing.B) {
	table := newTable()
	var subset protocol.Subset
	for i := range 2000 {
		u := url(i)
		table.Own(u, true)
		subset = append(subset, protocol.Interest{Feed: u})
	}
	for i := range 10 {
		table.Add(now.Add(-time.Hour), id(i), true, subset, nil)
	}
	for b.Loop() {
		table.Replaceable(now, id(99), true, subset)
	}
}
