package neighbors

import (
	"net/netip"
	"testing"
	"time"

	"feedex/protocol"
)

// Nodes that come by themselves get half of the places; the others are for those that we choose.
func TestHalfOfThePlacesAreOurs(t *testing.T) {
	for _, c := range []struct{ places, came int }{{1, 1}, {2, 1}, {3, 1}, {7, 3}, {10, 5}, {64, 32}} {
		table := NewRoutingTable(Config{Max: c.places, MaxHops: 3, MaxRelayed: 100})
		admitted := 0
		for i := range 100 {
			if table.Admit(id(i), false, false) == nil {
				table.Add(now, id(i), false, feeds(0, 1, 0), nil)
				admitted++
			}
		}
		if admitted != c.came {
			t.Errorf("of %d places %d went to nodes that came, want %d", c.places, admitted, c.came)
		}
		for i := 100; i < 200; i++ {
			if table.Admit(id(i), true, false) == nil {
				table.Add(now, id(i), true, feeds(0, 1, 0), nil)
			}
		}
		if table.Len() != c.places {
			t.Errorf("of %d places %d are taken", c.places, table.Len())
		}
	}
}

// The neighbor that we asked, or that our owner named, is ours, whichever of us connects again.
func TestWhoIsOurs(t *testing.T) {
	table := newTable()
	both := table.Add(now, id(1), false, feeds(0, 1, 0), nil)
	table.Add(now, id(1), true, feeds(0, 1, 0), nil)
	table.Add(now, id(1), false, feeds(0, 1, 0), nil)
	named := table.Add(now, id(2), false, feeds(0, 1, 0), nil)
	named.Static = true
	table.Add(now, id(3), false, feeds(0, 1, 0), nil)
	if got := table.Chosen(); len(got) != 2 || got[0] != both.ID || got[1] != named.ID {
		t.Errorf("ours are %v", got)
	}
}

// Beyond their half nodes that come can only take the place of another that came.
func TestWhoComesTakesThePlaceOfWhoCame(t *testing.T) {
	for _, c := range []struct {
		name   string
		came   int // of ten neighbors the first, each worth more than the next
		chosen bool
		want   int // the neighbor that gives way
	}{
		{"one of our choice replaces the least useful", 5, true, 9},
		{"one that comes as well, while they have less than half", 4, false, 9},
		{"at their half, the least useful of those who came", 5, false, 4},
	} {
		table := newTable()
		own(table, 40)
		for i := range 10 {
			table.Add(now.Add(-24*time.Hour), id(i), i >= c.came, feeds(0, 40-2*i, 0), nil)
		}
		if got := table.Replaceable(now, id(77), c.chosen, feeds(0, 40, 0)); got != lookup(table, id(c.want)) {
			t.Errorf("%s: replaces %s, want %v", c.name, name(got), id(c.want))
		}
	}
}

// As many neighbors as an owner may want, hosted ones included, each have a column of the routes, and take nobody's
// place.
func TestAsManyNeighborsAsThereCanBe(t *testing.T) {
	const places, hosted = 64, 100
	table := NewRoutingTable(Config{Max: places, MaxHosted: hosted, MaxHops: 3, MaxRelayed: 96})
	subset := protocol.Subset{{Feed: "http://example.com/feed"}}
	for i := range places + hosted {
		from := netip.AddrFrom4([4]byte{20, byte(i), 0, 7})
		id := protocol.NewNodeID(from, 7790)
		if i >= places {
			id = protocol.HostedID(from, protocol.NodeKey{1, byte(i)})
		}
		if err := table.Admit(id, true, false); err != nil {
			t.Fatalf("neighbor %d: %v", i, err)
		}
		table.Add(now, id, true, subset, nil)
	}
	if n := len(table.Interested(subset[0].Feed)); n != places+hosted || table.Places() != places {
		t.Errorf("%d neighbors want the feed, and %d places are taken", n, table.Places())
	}
	dialled := protocol.NewNodeID(netip.MustParseAddr("21.0.0.1"), 7790)
	another := protocol.HostedID(dialled.Addr(), protocol.NodeKey{2})
	if table.Admit(dialled, true, false) != ErrFull || table.Admit(another, false, true) != ErrFull {
		t.Error("there is a place more")
	}
	table.Remove(table.All()[places].ID)
	if got := table.Admit(another, false, true); got != nil || table.Places() != places {
		t.Errorf("of one that was hosted the place is taken: %v; the others have %d", got, table.Places())
	}
}

// Homes that are hosted count for none of the places that a network gets of others.
func TestHomesTakeNoPlacesOfTheirNetwork(t *testing.T) {
	table := NewRoutingTable(Config{Max: 8, MaxHosted: 8, MaxHops: 3, MaxRelayed: 96})
	router := netip.MustParseAddr("20.0.0.1")
	for i := range byte(3) {
		table.Add(now, protocol.HostedID(router, protocol.NodeKey{1, i}), false, nil, nil)
	}
	for port := range uint16(maxPerNetwork) {
		id := protocol.NewNodeID(router, 7790+port)
		if err := table.Admit(id, true, false); err != nil {
			t.Fatalf("dialled neighbor %d of their network: %v", port, err)
		}
		table.Add(now, id, true, nil, nil)
	}
	if err := table.Admit(protocol.NewNodeID(router, 7900), true, false); err != ErrCrowded {
		t.Errorf("one more: %v", err)
	}
}
