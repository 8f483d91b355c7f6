package node_test

import (
	"net/netip"
	"testing"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// An attacker with sixty addresses connects for a moment each from twenty ports: do we still remember our
// neighbors after a crash?
func TestAFloodDoesNotMakeUsForget(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(6, node.Config{}, news)
	a := hosts[0]
	w.run(10 * time.Hour)
	for i := range 60 {
		for port := range 20 {
			id := protocol.NewNodeID(netip.AddrFrom4([4]byte{66, 6, 6, byte(i)}), uint16(2000+port))
			w.play(id, func(_ *testHost, c node.Call) protocol.Reply {
				if _, ok := c.Call.(protocol.Vouch); ok {
					return protocol.Vouched(true)
				}
				return protocol.OK{}
			})
			r := a.answerTo(id, "s", wantsNews())
			if r.Fault != nil {
				t.Fatal(i, port, r.Fault)
			}
			if !a.neighborOf(id) {
				t.Fatal(i, port, "not linked")
			}
			w.run(time.Second)
			a.answerTo(id, "s", protocol.Disconnect{})
		}
	}
	a.config.Trackers = nil
	w.run(time.Minute)
	a.kill()
	a.start()
	w.run(10 * time.Minute)
	honest := 0
	for _, id := range a.node.LinkIDs() {
		if w.hosts[id].script == nil {
			honest++
		}
	}
	if honest < 4 {
		t.Errorf("after a crash %d of 5 honest neighbors were found again", honest)
	}
}
