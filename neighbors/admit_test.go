package neighbors

import (
	"testing"
	"time"
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
