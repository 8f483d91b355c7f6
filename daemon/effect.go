package daemon

import (
	"context"
	"time"

	"feedex/node"
	"feedex/transport"
)

// carryOut does what the node wants done. What takes time runs in a goroutine of its own; the node
// bounds how many calls it has open, polls and searches wait for a place.
func (h *host) carryOut(ctx context.Context, now time.Time, e node.Effect) {
	life := h.life
	switch e := e.(type) {
	case node.Respond:
		h.respond(e)
	case node.Call:
		goodbye := isGoodbye(e.Call)
		if goodbye {
			h.goodbyes.begun()
		}
		h.workers.Go(func() {
			h.send(ctx, arrival{event: h.call(ctx, e), life: life, goodbye: goodbye})
		})
	case node.Fetch:
		h.workers.Go(func() {
			if got, ok := h.prefetched.take(e, time.Now()); ok {
				h.send(ctx, arrival{event: got, life: life})
				return
			}
			if !enter(ctx, h.fetching) {
				return
			}
			defer leavePlace(h.fetching)
			h.send(ctx, arrival{event: h.fetcher.Fetch(ctx, e), life: life})
		})
	case node.Search:
		h.workers.Go(func() {
			if !enter(ctx, h.searching) {
				return
			}
			defer leavePlace(h.searching)
			h.send(ctx, arrival{event: h.search(ctx, e), life: life})
		})
	case node.Results:
		h.tellQuery(e)
	case node.Pulled:
		h.tellPull(e)
	case node.Tell:
		h.tell(now, e.Note)
	}
}

// enter takes a place, or reports that ctx ended first.
func enter(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func leavePlace(places chan struct{}) { <-places }

// respond answers a peer's call, if the peer still waits.
func (h *host) respond(r node.Respond) {
	if reply := h.asked[r.Tag]; reply != nil {
		delete(h.asked, r.Tag)
		reply <- transport.Response{Reply: r.Reply, Session: r.Session, Fault: r.Fault}
	}
}

// call carries out a call and says how it ended.
func (h *host) call(ctx context.Context, c node.Call) node.Answered {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	begun := time.Now()
	r, err := h.client.Call(ctx, c.To.String(), c.Session, c.Call)
	return node.Answered{
		ID: c.ID, Reply: r.Reply, Session: r.Session, Peer: r.Peer, Err: err, Unsent: r.Unsent, Queued: r.Queued,
		RTT: time.Since(begun),
	}
}

// search looks through the archive for a neighbor.
func (h *host) search(ctx context.Context, s node.Search) node.Found {
	ctx, cancel := context.WithTimeout(ctx, s.Time)
	defer cancel()
	begun := time.Now()
	records, err := h.store.Search(ctx, s.Filter)
	return node.Found{ID: s.ID, Records: records, Took: time.Since(begun), Err: err}
}

// tell passes a note on to the log and to observers.
func (h *host) tell(now time.Time, note node.Note) {
	h.changes.Add(1)
	log := h.config.Log
	switch t := note.(type) {
	case node.Linked:
		h.noteAcquaintances()
		log.Info("neighbor linked", "peer", t.Peer, "chosen", t.Chosen)
	case node.Unlinked:
		h.noteAcquaintances()
		log.Info("neighbor lost", "peer", t.Peer, "err", t.Reason)
	case node.Sought:
		if t.Problem != "" {
			log.Warn("no neighbors from there", "peer", t.Name, "err", t.Problem)
		} else {
			log.Info("of use again", "peer", t.Name)
		}
	case node.Suspect:
		log.Warn("neighbor misbehaved", "peer", t.Peer, "err", t.What)
	case node.Warned:
		log.Warn("neighbors keep entries from us", "what", t.Warning)
	case node.Arrived:
		if h.hub != nil {
			h.hub.Wake()
		}
		log.Debug("entries arrived", "feed", t.Feed.Redacted(), "peer", t.Source, "entries", len(t.Records))
	case node.Replaced:
		log.Info("page gave way to the feed that it names", "page", t.Page.Redacted(), "feed", t.Feed.Redacted())
	case node.Kept:
		log.Info("feed stays on this node", "feed", t.Feed.Redacted(), "why", t.Why)
	case node.Slipped:
		log.Warn("entries missed between two polls", "feed", t.Feed.Redacted(), "entries", t.Gap.Missing)
	case node.Filled:
		log.Info("missed entries came", "feed", t.Feed.Redacted(), "entries", t.Gap.Filled)
	case node.Polled:
		switch {
		case t.Problem != "" && t.Next.IsZero():
			log.Warn("feed is polled no more", "feed", t.Feed.Redacted(), "err", t.Problem)
		case t.Problem != "":
			log.Warn("poll failed", "feed", t.Feed.Redacted(), "err", t.Problem, "next", t.Next.Format(time.RFC3339))
		default:
			log.Debug("feed polled", "feed", t.Feed.Redacted(), "new", t.New, "next", t.Next.Format(time.RFC3339))
		}
	}
	if h.config.Observe != nil {
		h.config.Observe(now, note)
	}
}
