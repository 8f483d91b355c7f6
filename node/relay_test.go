package node

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// A node takes part in no more than so many feeds for others' sake, and chooses anew before each advert.
func TestRelaysAreBounded(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, Config{MaxRelayed: 10}, news)
	a, b, c := hosts[0], hosts[1], hosts[2]
	wants := func(from *testHost, first, count int) {
		var set protocol.Subset
		for i := range count {
			set = append(set, protocol.Interest{Feed: feed.URL(fmt.Sprintf("https://example.com/%d", first+i))})
		}
		a.hears(from, protocol.UpdateSubset{Changes: set})
	}
	relays := func(u string) bool { // what c has of it is welcome
		return a.hears(c, protocol.CheckDID{DID: one(u).DID, Feed: feed.URL(u), Entries: 1}).Reply == protocol.Seen(false)
	}
	wants(b, 0, 10)
	wants(b, 500, 1)
	wants(c, 500, 1)
	if !relays("https://example.com/0") || relays("https://example.com/500") {
		t.Error("it relays another than the ten feeds that were wanted first")
	}
	w.run(300 * time.Second)
	if !relays("https://example.com/500") {
		t.Error("what two neighbors want is not relayed in place of what one wants")
	}
	if got := c.node.linkTo(a.id).peer.Feeds(); got != 1+10 {
		t.Errorf("it advertises %d feeds, want ten beside its own", got)
	}
}
