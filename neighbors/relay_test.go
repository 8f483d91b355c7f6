package neighbors

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/protocol"
)

// bounded10 is a table that relays ten feeds.
func bounded10() *RoutingTable { return NewRoutingTable(Config{Max: 10, MaxHops: 3, MaxRelayed: 10}) }

func chance() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// relayed are the feeds that a stranger hears we want for the sake of others.
func relayed(t *RoutingTable) (list []feed.URL) {
	for _, in := range t.Offer(id(99)) {
		if in.Hops > 0 {
			list = append(list, in.Feed)
		}
	}
	return list
}

func TestOthersFeedsAreRelayedUpToABound(t *testing.T) {
	table := bounded10()
	table.Add(now, id(1), true, feeds(0, 8, 0), nil)
	if got := relayed(table); len(got) != 8 {
		t.Errorf("of 8 feeds %d are relayed", len(got))
	}
	table.Add(now, id(2), true, feeds(8, 30, 0), nil)
	if got := relayed(table); len(got) != 10 || !slices.Contains(got, url(0)) {
		t.Errorf("of 30 feeds %d are relayed: %v", len(got), got)
	}
	for range 2 { // what the first leaves out is welcome until the second
		table.Relay(now, chance())
	}
	if got := relayed(table); len(got) != 10 {
		t.Errorf("once they are chosen anew it is %d", len(got))
	}
	for i := range 30 {
		n := lookup(table, id(1+min(1, i/8)))
		if is := slices.Contains(relayed(table), url(i)); table.Wanted(url(i), lookup(table, id(1))) != (is &&
			n.ID == id(2)) {
			t.Errorf("feed %d: wanted from a neighbor that does not want it although it is not relayed, "+
				"or not although it is", i)
		}
		if len(table.Interested(url(i))) != 1 {
			t.Errorf("feed %d: a bundle of it that we have is not for the neighbors that it was for", i)
		}
	}
	own(table, 5)
	table.Relay(now, chance())
	table.Hear(lookup(table, id(2)), feeds(30, 60, 0))
	if got := relayed(table); len(got) != relaysEach*5 {
		t.Errorf("a node that follows 5 feeds relays %d of 55", len(got))
	}
}

// Feeds that are advertised in any case, or in none, leave the places to others.
func TestOwnVolunteeredAndPrivateFeedsTakeNoPlaces(t *testing.T) {
	for name, mark := range map[string]func(*RoutingTable, feed.URL, bool) bool{
		"own": (*RoutingTable).Own, "volunteered": (*RoutingTable).Volunteer, "private": (*RoutingTable).Private,
	} {
		table := bounded10()
		for i := range 2 { // few enough for the bound to stay
			mark(table, url(i), true)
		}
		table.Add(now, id(1), true, feeds(0, 20, 0), nil)
		for range 2 { // as they come, and once they are chosen
			if got := relayed(table); len(got) != 10 || slices.Contains(got, url(1)) {
				t.Errorf("%s: relays %v", name, got)
			}
			table.Relay(now, chance())
		}
	}
}

// Freed room goes to feeds that wait, with the next choice.
func TestRoomIsUsedAgain(t *testing.T) {
	table := bounded10()
	table.Add(now, id(1), true, feeds(0, 10, 0), nil)
	n := table.Add(now, id(2), true, feeds(10, 20, 0), nil)
	table.Remove(id(1))
	if got := relayed(table); len(got) != 0 {
		t.Errorf("relays %v, which nobody wants", got)
	}
	table.Relay(now, chance())
	if got := relayed(table); len(got) != 10 {
		t.Errorf("relays %d of the 10 that are left", len(got))
	}
	table.Hear(n, feeds(10, 13, protocol.Withdrawn))
	if got := relayed(table); len(got) != 7 {
		t.Errorf("relays %d of 7", len(got))
	}
	table.Hear(n, feeds(30, 33, 2))
	if got := relayed(table); len(got) != 10 {
		t.Errorf("relays %d of 10", len(got))
	}
}

func TestWhatItIsWorthToRelay(t *testing.T) {
	for _, c := range []struct {
		hops []int // of neighbors' interest
		want Usefulness
	}{
		{nil, 0},
		{[]int{0}, One},
		{[]int{2}, One / 4},
		{[]int{3}, 0}, // a hop further is beyond reach
		{[]int{0, 0}, 2 * One},
		{[]int{1, 0}, One + One/2},
		{[]int{0, 3, 1, 0, 0}, 2 * One},
		{[]int{2, 2, 2, 2, 2}, One / 2},
	} {
		table := bounded10()
		table.Private(url(0), true) // or it would be relayed at once, and count more
		for i, hops := range c.hops {
			table.Add(now, id(i), true, feeds(0, 1, hops), nil)
		}
		i := table.routes.row(url(0))
		if got := table.relayWorth(i); got != 0 {
			t.Errorf("hops %v: %d although it is private", c.hops, got)
		}
		table.routes.list[i].marks = 0
		if got := table.relayWorth(i); got != c.want {
			t.Errorf("hops %v: %d, want %d", c.hops, got, c.want)
		}
		want := c.want
		if len(c.hops) > 1 {
			want += stays
		}
		if table.noteWanted(i); table.relayWorth(i) != want {
			t.Errorf("hops %v: %d once it is relayed, want %d", c.hops, table.relayWorth(i), want)
		}
	}
}

// Feeds that another neighbor wants as well, or has, and those that are nearer, come first.
func TestWhatIsRelayedFirst(t *testing.T) {
	for name, c := range map[string]struct {
		wants func(t *RoutingTable)
		first int // the first of the feeds that are to be relayed
		count int
	}{
		"two want it": {func(t *RoutingTable) {
			t.Add(now, id(1), true, feeds(0, 30, 0), nil)
			t.Add(now, id(2), true, feeds(20, 25, 0), nil)
		}, 20, 5},
		"one wants it, and it may come from another": {func(t *RoutingTable) {
			t.Add(now, id(1), true, feeds(0, 30, 0), nil)
			t.Add(now, id(2), true, feeds(20, 25, 2), nil)
		}, 20, 5},
		"it is wanted from nearer": {func(t *RoutingTable) {
			t.Add(now, id(1), true, append(feeds(20, 25, 0), feeds(0, 20, 1)...), nil)
		}, 20, 5},
		"it was relayed before": {func(t *RoutingTable) {
			t.Add(now, id(1), true, feeds(20, 30, 0), nil)
			t.Add(now, id(2), true, feeds(20, 30, 0), nil)
			t.Hear(lookup(t, id(1)), feeds(0, 20, 0))
			t.Hear(lookup(t, id(2)), feeds(0, 20, 0))
		}, 20, 10},
	} {
		table := bounded10()
		c.wants(table)
		table.Relay(now, chance())
		got := relayed(table)
		for i := range c.count {
			if !slices.Contains(got, url(c.first+i)) {
				t.Errorf("%s: feed %d is not among %v", name, c.first+i, got)
			}
		}
	}
}

// Relayed feeds give way to those that are worth more.
func TestRelayedGivesWay(t *testing.T) {
	table := bounded10()
	table.Add(now, id(1), true, feeds(0, 30, 0), nil)
	table.Relay(now, chance())
	other, hearer := table.Add(now, id(2), true, nil, nil), table.Add(now, id(3), true, nil, nil)
	for _, c := range []struct{ from, hops int }{{20, 1}, {10, 0}} {
		table.Hear(other, feeds(c.from, c.from+10, c.hops))
		for range 2 { // nothing is left to say the second time
			table.Advertised(hearer, table.Changes(hearer))
		}
		table.Relay(now, chance())
		if changes := table.Changes(hearer); len(changes) < 10 {
			t.Errorf("a neighbor hears %v of it", changes)
		}
		for i, u := range relayed(table) {
			if u != url(c.from+i) {
				t.Errorf("relays %s, want %s and nine more", u, url(c.from))
			}
		}
	}
}

// A neighbor that claims to want everything gets no more of the places than others.
func TestNobodyTakesAllThatIsRelayed(t *testing.T) {
	table := NewRoutingTable(Config{Max: 10, MaxHops: 3, MaxRelayed: 90})
	for i := range 2 { // two of them, so that their feeds are worth more than those of others
		table.Add(now, id(i), false, feeds(1000, 5000, 0), nil)
	}
	for i := 2; i < 9; i++ {
		table.Add(now, id(i), true, feeds(20*i, 20*i+20, 0), nil)
	}
	table.Relay(now, chance())
	honest := 0
	for _, u := range relayed(table) {
		for i := 40; i < 180; i++ {
			if u == url(i) {
				honest++
			}
		}
	}
	if honest < 70 {
		t.Errorf("%d of 90 places go to seven of nine neighbors", honest)
	}
}

// Neighbors repeat what others claim to want, and honest feeds are relayed all the same.
func TestJunkIsRepeatedAndDoesNotCount(t *testing.T) {
	const nodes, follows, feeds, attackers, junk = 60, 20, 200, 3, 500
	rng := chance()
	tables := make([]*RoutingTable, nodes)
	linked := func(i, j int) bool { // in a ring with chords
		d := (i - j + nodes) % nodes
		return slices.Contains([]int{1, 2, 7, 19}, d) || slices.Contains([]int{1, 2, 7, 19}, nodes-d)
	}
	var own [nodes][]int
	for i := range tables {
		tables[i] = NewRoutingTable(Config{Max: 20, MaxHops: 3, MaxRelayed: 96})
		own[i] = rng.Perm(feeds)[:follows]
		for _, k := range own[i] {
			tables[i].Own(url(k), true)
		}
		for j := range tables {
			if linked(i, j) {
				tables[i].Add(now, id(j), true, nil, nil)
			}
		}
		for k := range attackers {
			var claimed protocol.Subset
			for j := range junk {
				claimed = append(claimed, protocol.Interest{Feed: url(1000 + j)})
			}
			tables[i].Add(now, id(200+k), false, claimed, nil)
		}
	}
	for range 10 {
		for i, table := range tables {
			table.Relay(now, rng)
			for j, other := range tables {
				if linked(i, j) {
					n := lookup(table, id(j))
					changes := table.Changes(n)
					other.Hear(lookup(other, id(i)), changes)
					table.Advertised(n, changes)
				}
			}
		}
	}
	offered, relays := 0, 0
	for i, table := range tables {
		for _, k := range own[i] {
			if table.Offering(url(k)) > 0 {
				offered++
			}
		}
		for k := range feeds {
			if j := table.routes.find(url(k)); j != nowhere && table.routes.list[j].marks&isRelayed != 0 {
				relays++
			}
		}
	}
	if share := float64(offered) / (nodes * follows); share < .97 {
		t.Errorf("%.3f of the own feeds are offered by anybody", share)
	}
	if mean := float64(relays) / nodes; mean < 60 {
		t.Errorf("%.1f of 96 places are for feeds that somebody follows", mean)
	}
}

// A neighbor that was told that a feed is wanted may have promised something of it when it is left out.
func TestWhatIsLeftOutIsWelcomeForAWhile(t *testing.T) {
	table := bounded10()
	table.Add(now, id(1), true, feeds(0, 10, 0), nil)
	n := table.Add(now, id(2), true, feeds(20, 30, 0), nil)
	table.Add(now, id(3), true, feeds(20, 30, 0), nil)
	for choice, want := range []int{1, 1, protocol.Withdrawn} {
		if choice > 0 {
			table.Relay(now, chance())
		}
		if got := table.Hops(url(0), n); got != want || table.Wanted(url(0), n) != (want > 0) {
			t.Errorf("after choice %d it is wanted at %d, want %d", choice, got, want)
		}
		if is := slices.Contains(relayed(table), url(0)); is != (choice == 0) {
			t.Errorf("after choice %d it is advertised: %v", choice, is)
		}
	}
}

// Feeds that only one neighbor wants have their turn now and then, and not the same at every node.
func TestOthersAreTried(t *testing.T) {
	first := func(rng *rand.Rand) []feed.URL {
		table := bounded10()
		table.Add(now, id(1), true, feeds(0, 40, 0), nil)
		var before []feed.URL
		had := make(map[feed.URL]bool)
		for i := range 100 {
			table.Relay(now, rng)
			now := relayed(table)
			if same := slices.Equal(now, before); same == (i%tried == 0) {
				t.Errorf("choice %d: %v after %v", i, now, before)
			}
			for _, u := range now {
				had[u] = true
			}
			before = now
		}
		if len(had) != 40 {
			t.Errorf("after 25 turns of 10 of 40 feeds %d had one", len(had))
		}
		return before
	}
	if a, b := first(rand.New(rand.NewPCG(1, 1))), first(rand.New(rand.NewPCG(1, 2))); slices.Equal(a, b) {
		t.Errorf("two nodes relay %v", a)
	}
}

// As many feeds are relayed as there is room for, whatever comes, and only those that somebody wants.
func TestRelayedIsCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := NewRoutingTable(Config{Max: 10, MaxHops: 3, MaxRelayed: 2})
		rng, at := chance(), now
		t.Repeat(map[string]func(*rapid.T){
			"own": func(t *rapid.T) {
				table.Own(url(rapid.IntRange(0, 5).Draw(t, "feed")), rapid.Bool().Draw(t, "own"))
			},
			"mark": func(t *rapid.T) {
				mark := rapid.SampledFrom([]func(feed.URL, bool) bool{table.Private, table.Volunteer,
					table.Prospect}).Draw(t, "mark")
				mark(url(rapid.IntRange(0, 5).Draw(t, "feed")), rapid.Bool().Draw(t, "value"))
			},
			"join": func(t *rapid.T) {
				table.Add(now, id(rapid.IntRange(1, 4).Draw(t, "neighbor")), true, drawSubset(t, 0), nil)
			},
			"leave": func(t *rapid.T) { table.Remove(id(rapid.IntRange(1, 4).Draw(t, "neighbor"))) },
			"hear": func(t *rapid.T) {
				if n := lookup(table, id(rapid.IntRange(1, 4).Draw(t, "neighbor"))); n != nil {
					table.Hear(n, drawSubset(t, protocol.Withdrawn))
				}
			},
			"spare": func(t *rapid.T) {
				table.Spare(url(rapid.IntRange(0, 5).Draw(t, "feed")), rapid.Bool().Draw(t, "spare"))
			},
			"choose": func(t *rapid.T) {
				at = at.Add(20 * time.Minute)
				table.Relay(at, rng)
				if could := wanted(table); table.relayed != min(could, table.places()) {
					t.Fatalf("relays %d of %d, at most %d", table.relayed, could, table.places())
				}
			},
			"": func(t *rapid.T) {
				marked := 0
				for i, r := range table.routes.list {
					if r.marks&isRelayed != 0 {
						marked++
						if table.relayWorth(row(i)) == 0 {
							t.Fatalf("relays %s, of which nobody is to get anything", r.url)
						}
					}
				}
				if marked != table.relayed {
					t.Fatalf("%d feeds are relayed, it counts %d", marked, table.relayed)
				}
				checkRoutes(t, table)
			},
		})
	})
}

// wanted counts the feeds that might be relayed.
func wanted(t *RoutingTable) (count int) {
	for i := range t.routes.list {
		if t.relayWorth(row(i)) > 0 {
			count++
		}
	}
	return count
}
