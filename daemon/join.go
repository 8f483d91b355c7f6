package daemon

import (
	"context"
	"fmt"

	"feedex/control"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
)

// Join implements control.Owner.
func (h *host) Join(ctx context.Context, j control.JoinRequest) (protocol.NodeID, error) {
	ev := node.Join{Tag: h.lastQuery.Add(1), Host: j.Host, Key: j.Key}
	done := make(chan node.Joined, 1)
	tell := func(e node.Effect) (last bool) {
		r, ok := e.(node.Joined)
		if !ok {
			r.Err = reading.ErrRests
		}
		done <- r
		return true
	}
	if !h.send(ctx, arrival{event: ev, heard: tell}) {
		return protocol.NodeID{}, context.Cause(ctx)
	}
	select {
	case r := <-done:
		if r.Err != nil {
			return r.Peer, fmt.Errorf("join %s: %w", j.Host, r.Err)
		}
		return r.Peer, nil
	case <-ctx.Done(): // the link may come about all the same
		return protocol.NodeID{}, context.Cause(ctx)
	}
}
