package daemon

import (
	"context"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// leaveTime bounds how long a node that stops waits for its neighbors to hear of it.
const leaveTime = time.Second

// leave has the node tell its neighbors that it goes, and waits a moment for that.
func (h *host) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	if h.command(ctx, node.Leave{}) != nil {
		return
	}
	// The loop looks after it has carried out what the command brought about: the calls have begun.
	told, err := look(ctx, h.loop, func(*node.Node) (<-chan struct{}, error) { return h.goodbyes.wait(), nil })
	if err != nil {
		return
	}
	select {
	case <-told:
	case <-ctx.Done():
	}
}

// isGoodbye reports whether a call tells a neighbor that the link is over.
func isGoodbye(c protocol.Call) bool {
	_, is := c.(protocol.Disconnect)
	return is
}

// goodbyes counts the calls under way that are goodbyes. It belongs to the loop.
type goodbyes struct {
	open int
	none chan struct{} // closed once none are open; nil while nobody waits
}

func (g *goodbyes) begun() { g.open++ }

func (g *goodbyes) ended() {
	g.open--
	g.tell()
}

// wait returns a channel that is closed once no goodbyes are under way.
func (g *goodbyes) wait() <-chan struct{} {
	none := make(chan struct{})
	g.none = none
	g.tell()
	return none
}

func (g *goodbyes) tell() {
	if g.open == 0 && g.none != nil {
		close(g.none)
		g.none = nil
	}
}
