package node_test

import (
	"errors"
	"testing"
	"time"

	"feedex/guard"
	"feedex/node"
	"feedex/node/internal/membership"
	"feedex/protocol"
)

// joins has a node follow an invitation to another that names a key, and returns how that ended.
func (h *testHost) joins(other protocol.NodeID, key protocol.NodeKey) (got node.Joined) {
	got.Err = errors.New("it never ended")
	h.net.watch = func(by *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			if j, is := e.(node.Joined); is && by == h {
				got = j
			}
		}
	}
	h.step(node.Join{Tag: 7, Host: other.String(), Key: key})
	h.net.run(time.Minute)
	h.net.watch = nil
	return got
}

// An invitation makes neighbors of two nodes that nobody else knows, if the right key is there, and says what is wrong
// otherwise.
func TestInvitations(t *testing.T) {
	w := newNetwork(t)
	a, b, idle := w.add(node.Config{}, news), w.add(node.Config{}, news), w.add(node.Config{})
	w.run(2 * time.Minute)
	key := a.node.Status().Key
	if got := idle.joins(a.id, key); !errors.Is(got.Err, node.ErrNothingToOffer) {
		t.Errorf("without a feed it ended with %v", got.Err)
	}
	if got := b.joins(a.id, protocol.NodeKeyOf(signer(1))); !errors.Is(got.Err, membership.ErrOtherKey) {
		t.Errorf("with another key it ended with %v, %v", got.Peer, got.Err)
	}
	for range 2 { // the second time they are neighbors already
		if got := b.joins(a.id, key); got.Err != nil || got.Peer != a.id || got.Tag != 7 || !a.neighborOf(b.id) ||
			b.keyOf(a.id) != key {
			t.Errorf("it ended with %v, %v", got.Peer, got.Err)
		}
	}
	if got := b.joins(a.id, protocol.NodeKeyOf(signer(1))); !errors.Is(got.Err, membership.ErrOtherKey) ||
		!b.neighborOf(a.id) {
		t.Errorf("of a neighbor with another key it ended with %v", got.Err)
	}
	if got := a.joins(a.id, key); !errors.Is(got.Err, membership.ErrItself) {
		t.Errorf("of its own invitation it ended with %v", got.Err)
	}
	inside := w.play(stranger(8), func(*testHost, node.Call) protocol.Reply { return guard.ErrForbidden })
	if got := b.joins(inside.id, key); got.Err != guard.ErrForbidden {
		t.Errorf("of an address that must not be called it ended with %v", got.Err)
	}
	for i, why := range []protocol.Code{protocol.UnknownMethod, protocol.TooLong} { // of many feeds a tracker says this
		tracker := w.play(stranger(10+i), func(from *testHost, c node.Call) protocol.Reply {
			if _, ok := c.Call.(protocol.WhoAmI); ok {
				return from.id
			}
			return &protocol.RemoteError{Code: why}
		})
		if got := b.joins(tracker.id, protocol.NodeKey{}); got.Err != membership.ErrNoNode {
			t.Errorf("of a tracker it ended with %v", got.Err)
		}
	}
	b.step(node.Sources{Trackers: []string{noTracker}})
	w.run(time.Minute)
	if s := b.node.Status().Sources; len(s) != 1 || s[0].Problem != membership.ErrNoTracker.Error() {
		t.Errorf("of a node that is named as a tracker the owner is told %+v", s)
	}
	if got := b.joins(stranger(9), key); got.Err == nil {
		t.Error("there is nobody, and it ended well")
	}
}
