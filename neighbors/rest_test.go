package neighbors

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// wantedBy is a table with so many neighbors that want the first feed, and those given beside it.
func wantedBy(c Config, count int, beside ...protocol.Interest) *RoutingTable {
	table := NewRoutingTable(c)
	for i := range count {
		table.Add(now, id(1+i), true, append(feeds(0, 1, 0), beside...), nil)
	}
	return table
}

// often is a clock for choices five minutes apart.
type often struct {
	table *RoutingTable
	rng   *rand.Rand
	now   time.Time
}

func choosing(t *RoutingTable) *often { return &often{t, chance(), now} }

// choose has the table choose the next time.
func (o *often) choose() {
	o.now = o.now.Add(5 * time.Minute)
	o.table.Relay(o.now, o.rng)
}

func relaysFirst(t *RoutingTable) bool { return slices.Contains(relayed(t), url(0)) }

func TestRelaysRestThatNobodyNeeds(t *testing.T) {
	for _, c := range []struct {
		name    string
		wanting int
		happens func(*RoutingTable)
		rests   bool
	}{
		{"nothing comes", 5, func(*RoutingTable) {}, false},
		{"all have it from others", 3, func(table *RoutingTable) { table.Spare(url(0), true) }, true},
		{"not all have it", 5, func(table *RoutingTable) {
			table.Spare(url(0), true)
			table.Spare(url(0), false)
		}, false},
		{"only two want it", 2, func(table *RoutingTable) { table.Spare(url(0), true) }, false},
	} {
		table := wantedBy(Config{Max: 10, MaxHops: 3, MaxRelayed: 96}, c.wanting)
		table.Add(now, id(20), true, feeds(0, 1, 3), nil) // too far to count
		o, was, most := choosing(table), 0, 0
		for i, rest := 0, 0; i < 20*288; i++ {
			c.happens(table)
			o.choose()
			if rest++; relaysFirst(table) {
				was, rest = was+1, 0
			}
			most = max(most, rest)
		}
		part := float64(was) / (20 * 288)
		if rests := part < 1; rests != c.rests {
			t.Errorf("%s: relayed for %.0f%% of the time", c.name, 100*part)
		} else if rests && (part < .05 || part > .2 || most < 8*12 || most > 24*12) {
			t.Errorf("%s: relayed for %.0f%% of the time, and not for %d choices at most; want about an hour of "+
				"thirteen", c.name, 100*part, most)
		}
	}
}

// resting is a table in which the relay of the first feed rests.
func resting(t *testing.T, c Config, wanting int, beside ...protocol.Interest) *often {
	t.Helper()
	o := choosing(wantedBy(c, wanting, beside...))
	for i := 0; relaysFirst(o.table); i++ {
		if i == 100 {
			t.Fatal("the relay does not rest")
		}
		o.table.Spare(url(0), true)
		o.choose()
	}
	return o
}

// A neighbor that may need the feed from us now has it relayed at once, and what was so before speaks for no rest any
// more.
func TestRestsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*RoutingTable)
		ends    bool
	}{
		"a neighbor leaves who had it": {func(t *RoutingTable) { t.Remove(id(2)) }, true},
		"one leaves who did not":       {func(t *RoutingTable) { t.Remove(id(9)) }, false},
		"a neighbor begins to follow it": {func(t *RoutingTable) {
			t.Hear(lookup(t, id(9)), feeds(0, 1, 0))
		}, true},
		"a neighbor hears of one who does": {func(t *RoutingTable) {
			t.Hear(lookup(t, id(9)), feeds(0, 1, 1))
		}, false},
		"two of four do not want it any more":   {func(t *RoutingTable) { withdraw(t, 2, 3) }, true},
		"one of four does not want it any more": {func(t *RoutingTable) { withdraw(t, 2) }, false},
		"we follow it for a while": {func(t *RoutingTable) {
			t.Own(url(0), true)
			t.Own(url(0), false)
		}, true},
	} {
		o := resting(t, Config{Max: 10, MaxHops: 3, MaxRelayed: 96}, 4)
		o.table.Add(now, id(9), true, feeds(5, 6, 0), nil)
		c.happens(o.table)
		if relaysFirst(o.table) != c.ends {
			t.Errorf("%s: relayed %v", name, !c.ends)
		}
		for range 4 * 12 {
			o.choose()
			if c.ends && !relaysFirst(o.table) {
				t.Errorf("%s: it rests again, and nothing came", name)
				break
			}
		}
	}
}

// After a rest a relay is tried: it takes something new that all have from others before it rests again.
func TestARelayIsTriedAfterARest(t *testing.T) {
	o := resting(t, Config{Max: 10, MaxHops: 3, MaxRelayed: 96}, 3)
	for i := 0; !relaysFirst(o.table); i++ {
		if i == 300 {
			t.Fatal("the rest does not end")
		}
		o.choose()
	}
	for range 300 {
		if o.choose(); !relaysFirst(o.table) {
			t.Fatal("it rests again, and nothing came")
		}
	}
}

// The reasons for a rest are forgotten where they may not hold any more.
func TestWhatSpokeForARestIsForgotten(t *testing.T) {
	for name, happens := range map[string]func(*RoutingTable){
		"a neighbor leaves who had it":     func(t *RoutingTable) { t.Remove(id(2)) },
		"a neighbor begins to follow it":   func(t *RoutingTable) { t.Hear(lookup(t, id(9)), feeds(0, 1, 0)) },
		"a neighbor hears of one who does": func(t *RoutingTable) { t.Hear(lookup(t, id(9)), feeds(0, 1, 1)) },
		"two were enough, and then others came": func(t *RoutingTable) {
			withdraw(t, 2, 3)
			t.Hear(lookup(t, id(2)),
				feeds(0, 1, 1))
		},
		"it is followed for a while": func(t *RoutingTable) { t.Own(url(0), true); t.Own(url(0), false) },
		"it was polled for others for a while": func(t *RoutingTable) {
			t.Volunteer(url(0), true)
			t.Volunteer(url(0), false)
		},
		"it was given up, and is relayed anew": func(t *RoutingTable) {
			t.Private(url(0), true)
			t.Private(url(0), false)
		},
		"one has it from others, one does not": func(t *RoutingTable) { t.Spare(url(0), false) },
		"nothing, where it is about another one": func(t *RoutingTable) {
			t.Spare(url(0), false)
			t.Spare(url(1), true)
		},
	} {
		o := choosing(wantedBy(Config{Max: 10, MaxHops: 3, MaxRelayed: 96}, 4, feeds(1, 2, 0)...))
		o.table.Add(now, id(9), true, feeds(5, 6, 0), nil)
		o.table.Spare(url(0), true)
		happens(o.table)
		for range 4 * 12 {
			if o.choose(); !relaysFirst(o.table) {
				t.Errorf("%s: the relay rests", name)
				break
			}
		}
	}
}

// Those that could stand in for each other must not all go at once.
func TestRelaysAreJudgedAtRandom(t *testing.T) {
	after := make(map[int]bool)
	for seed := range uint64(20) {
		o := choosing(wantedBy(Config{Max: 10, MaxHops: 3, MaxRelayed: 96}, 3))
		o.rng = rand.New(rand.NewPCG(seed, 1))
		o.choose()
		count := 0
		for ; relaysFirst(o.table) && count < 100; count++ {
			o.table.Spare(url(0), true)
			o.choose()
		}
		after[count] = true
	}
	if len(after) < 6 {
		t.Errorf("twenty nodes have their relays rest after these numbers of choices: %v", after)
	}
}

func withdraw(t *RoutingTable, neighbors ...int) {
	for _, i := range neighbors {
		t.Hear(lookup(t, id(i)), feeds(0, 1, protocol.Withdrawn))
	}
}

func TestWhatRestsIsWelcomeUntilTheNextChoice(t *testing.T) {
	o := resting(t, Config{Max: 10, MaxHops: 3, MaxRelayed: 96}, 3)
	if !o.table.Wanted(url(0), lookup(o.table, id(1))) {
		t.Error("what a neighbor may have promised is not welcome")
	}
	o.choose()
	if o.table.Wanted(url(0), lookup(o.table, id(1))) {
		t.Error("it is welcome after the next choice")
	}
	if len(o.table.Interested(url(0))) != 3 {
		t.Error("what is here of it goes to nobody")
	}
}

func TestWhatRestsLeavesItsPlace(t *testing.T) {
	o := resting(t, bounded10().config, 3, feeds(1, 20, 0)...)
	if got := relayed(o.table); len(got) != 10 {
		t.Errorf("%d of 10 places are taken", len(got))
	}
}

// Own feeds are there whichever neighbors have what comes; those that become it need not wait.
func TestOwnFeedsDoNotRest(t *testing.T) {
	o := resting(t, Config{Max: 10, MaxHops: 3, MaxRelayed: 96}, 3)
	o.table.Own(url(0), true)
	for range 288 {
		o.table.Spare(url(0), true)
		o.choose()
		if hops := o.table.Hops(url(0), lookup(o.table, id(1))); hops != 0 {
			t.Fatalf("advertised at hop count %d", hops)
		}
	}
}

// Some relays never rest, and always the same ones.
func TestSomeRelaysAreRestless(t *testing.T) {
	restless := []feed.URL{url(14), url(15), url(3)}
	table := NewRoutingTable(Config{Max: 10, MaxHops: 3, MaxRelayed: 96,
		Restless: func(u feed.URL) bool { return slices.Contains(restless, u) }})
	for i := range 3 {
		table.Add(now, id(1+i), true, feeds(0, 40, 0), nil)
	}
	o, always := choosing(table), relayed(table)
	for range 288 {
		for i := range 40 {
			table.Spare(url(i), true)
		}
		o.choose()
		now := relayed(table)
		always = slices.DeleteFunc(always, func(u feed.URL) bool { return !slices.Contains(now, u) })
	}
	slices.Sort(always)
	if want := []feed.URL{url(14), url(15), url(3)}; !slices.Equal(always, want) {
		t.Errorf("always there are %v, want %v", always, want)
	}
}

// Relays are judged after half an hour to an hour and a half, and rest for 8 to 16 judgements.
func TestHowLongRelaysRest(t *testing.T) {
	rng, rests := chance(), make(map[uint8]bool)
	for range 500 {
		table := wantedBy(Config{Max: 10, MaxHops: 3, MaxRelayed: 96}, 5)
		if !table.Relays(url(0)) || table.Relays(url(1)) {
			t.Fatal("another feed is relayed than the one that is wanted")
		}
		table.Spare(url(0), true)
		table.Relay(now, rng)
		if wait := table.judged.Sub(now); wait < 30*time.Minute || wait >= 90*time.Minute {
			t.Errorf("relays are judged again after %v", wait)
		}
		if table.Relays(url(0)) {
			t.Error("it does not rest")
		}
		rests[table.routes.list[table.routes.find(url(0))].rest] = true
	}
	for rest := range rests {
		if rest < 8 || rest > 16 {
			t.Errorf("one rests for %d", rest)
		}
	}
	if len(rests) != 9 {
		t.Errorf("they rest for %v", rests)
	}
}
