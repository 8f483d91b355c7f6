package neighbors

import (
	"fmt"
	"testing"

	"feedex/feed"
	"feedex/protocol"
)

// A neighbor that advertises ever other feeds and withdraws them at once leaves nothing behind: not in our set, and
// not in what the others are still to be told.
func TestFeedsThatComeAndGoLeaveNothing(t *testing.T) {
	table := newTable()
	var all []*Neighbor
	for i := range 3 {
		all = append(all, table.Add(now, id(i), false, nil, nil))
	}
	for round := range 10 {
		var come, gone protocol.Subset
		for i := range 100 {
			u := feed.URL(fmt.Sprintf("https://example.com/%d/%d", round, i))
			come = append(come, protocol.Interest{Feed: u})
			gone = append(gone, protocol.Interest{Feed: u, Hops: protocol.Withdrawn})
		}
		table.Hear(all[0], come)
		if round == 0 && len(table.Changes(all[1])) != len(come) {
			t.Fatal("what it wants is not advertised to the others")
		}
		table.Hear(all[0], gone)
	}
	for i, n := range all {
		if changes := table.Changes(n); len(changes) > 0 || len(table.routes.list) > 0 {
			t.Errorf("neighbor %d is to be told of %d feeds, %d are wanted", i, len(changes), len(table.routes.list))
		}
	}
}
