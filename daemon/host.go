package daemon

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"feedex/archive"
	"feedex/internal/diskcache"
	"feedex/invitation"
	"feedex/lan"
	"feedex/node"
	"feedex/notify"
	"feedex/protocol"
	"feedex/reader/websub"
	"feedex/reading"
	"feedex/transport"
)

// maxFetching is how many polls are under way at a time, each at another host.
const maxFetching = 256

// A caller carries out calls to peers and trackers: a transport.Client.
type caller interface {
	Call(ctx context.Context, addr, session string, call protocol.Call) (transport.Result, error)
	Reverse(ctx context.Context, to protocol.NodeID) (*transport.ReverseLink, error)
}

// A fetcher polls feeds: a fetch.Client.
type fetcher interface {
	Fetch(ctx context.Context, f node.Fetch) node.Fetched
}

// A host is the program around a node: what carries out the node's effects, and what its owner and readers ask.
type host struct {
	*loop
	filing
	housekeeper archive.Housekeeper
	client      caller
	fetcher     fetcher
	getter      getter
	shown       *diskcache.Files // pictures that pages showed lately
	texts       *fullTexts       // nil before run
	sites       siteFinder
	hub         *websub.Hub    // nil before run
	teller      *notify.Teller // likewise
	fetching    chan struct{}  // a place each for maxFetching polls
	searching   chan struct{}  // a place each for searches under way for neighbors
	workers     sync.WaitGroup
	at          Addresses
	noted       time.Time          // the latest time that was known to be past when the node started
	lastQuery   atomic.Uint64      // tag of the owner's latest query
	prefetched  prefetched         // for first polls
	polled      signal             // that a feed was polled, or that it will not be
	callers     callers            // of the reader address
	known       acquaintances      // places are kept for them
	changes     atomic.Uint64      // counts what pages of the owner may want to show
	news        atomic.Uint64      // counts what there may be to read anew, for everybody
	writes      sync.Map           // by person, how often something of theirs was written
	peers       http.Handler       // answers the calls of other nodes
	hosting     *transport.Hosting // nil for none
	meter       *transport.Meter   // of what passes between the node and others
	meetings    *meetings
	sources     *sources
	forwarding  opening // by IPv4
	firewall    opening // by IPv6
	health      health
	onLAN       *lan.Responder // nil for none

	reversed map[protocol.NodeID]*reversed // reverse links that are open, or being opened; belongs to the loop
}

// newHost makes a host that has no core yet. c has its defaults.
func newHost(c Config, store reading.Database, keeping archive.Housekeeper, client caller, fetcher fetcher) *host {
	h := &host{
		housekeeper: keeping, client: client, fetcher: fetcher, sites: c.sites,
		meetings: newMeetings(&c), sources: newSources(&c),
		forwarding: opening{doubt: make(chan chan struct{})}, firewall: opening{doubt: make(chan chan struct{})},
		fetching: make(chan struct{}, maxFetching),
		// half of those that the archive has at a time: others are for the owner
		searching: make(chan struct{}, min(2, runtime.GOMAXPROCS(0))),
		reversed:  make(map[protocol.NodeID]*reversed),
	}
	h.loop = newLoop(c, store, h)
	h.filing = filing{store, h.write, c.Data, func() { h.changes.Add(1); h.wakeTeller() }}
	return h
}

// serve answers a peer's call. A full queue is a refusal: the peer may come again, we must not fall
// over.
func (h *host) serve(ctx context.Context, r transport.Request) transport.Response {
	if put, ok := r.Call.(protocol.PutEntries); ok {
		_ = put.Bundle.Verify() // here, where nobody waits for it; the node asks again and decides
	}
	if !r.Reversed {
		h.noteDialled(r.From)
	}
	reply := make(chan transport.Response, 1)
	a := arrival{
		event: node.Asked{From: r.From, Session: r.Session, Call: r.Call, Reversed: r.Reversed}, reply: reply,
	}
	select {
	case h.events <- a:
	default:
		return transport.Response{Fault: protocol.Faultf(protocol.Busy, "too many calls wait; try again later")}
	}
	select {
	case resp := <-reply:
		return resp
	case <-ctx.Done():
		return transport.Response{Fault: protocol.Faultf(protocol.Busy, "the call was not answered in time")}
	}
}

// carryOut does what the node wants done. Work that takes time runs in a goroutine of its own; the node bounds how many
// calls it has open, polls and searches wait for a place.
func (h *host) carryOut(ctx context.Context, now time.Time, e node.Effect) {
	switch e := e.(type) {
	case node.Call:
		life, goodbye := h.life, isGoodbye(e.Call)
		if goodbye {
			h.goodbyes.begun()
		}
		h.workers.Go(func() {
			h.send(ctx, arrival{event: h.call(ctx, e), life: life, goodbye: goodbye})
		})
	case node.Reverse:
		h.reverse(ctx, e)
	case node.Release:
		h.release(e.To)
	case node.Fetch:
		h.inPlace(ctx, h.fetching, func() node.Event {
			if got, ok := h.prefetched.take(e, time.Now()); ok && !e.Locate {
				return got
			}
			return h.fetcher.Fetch(ctx, e)
		})
	case node.Search:
		h.inPlace(ctx, h.searching, func() node.Event { return h.search(ctx, e) })
	case node.Tell:
		h.tell(now, e.Note)
	}
}

// revived implements surroundings.
func (h *host) revived(n *node.Node) {
	for to := range h.reversed { // it knows of none
		h.release(to)
	}
	h.noteAcquaintances(n)
}

// rested implements surroundings.
func (h *host) rested() { h.polled.tell() }

// inPlace begins what takes a place, and tells the core that there is now how it ended.
func (h *host) inPlace(ctx context.Context, places chan struct{}, do func() node.Event) {
	life := h.life
	h.workers.Go(func() {
		if enter(ctx, places) {
			defer leavePlace(places)
			h.send(ctx, arrival{event: do(), life: life})
		}
	})
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

// call carries out a call and says how it ended. A tracker, which calls back, is called once the node's port is open.
func (h *host) call(ctx context.Context, c node.Call) node.Answered {
	if c.To.Tracker != "" {
		h.awaitRouter(ctx, trackerPatience)
	}
	begun := time.Now()
	var r transport.Result
	var key protocol.NodeKey
	var err error
	if invitation.IsSite(c.To.Host) {
		r, key, err = h.callSite(ctx, c)
	} else {
		called, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		r, err = h.client.Call(called, c.To.String(), c.Session, c.Call)
	}
	return node.Answered{
		ID: c.ID, Reply: r.Reply, Session: r.Session, Peer: r.Peer, Err: err, Unsent: r.Unsent, Queued: r.Queued,
		RTT: time.Since(begun), Key: key,
	}
}

// search looks through the archive for a neighbor.
func (h *host) search(ctx context.Context, s node.Search) node.Searched {
	ctx, cancel := context.WithTimeout(ctx, s.Time)
	defer cancel()
	begun := time.Now()
	records, err := h.store.Search(ctx, s.Filter)
	return node.Searched{ID: s.ID, Records: records, Took: time.Since(begun), Err: err}
}

// tell passes a note on to the log and to observers.
func (h *host) tell(now time.Time, note node.Note) {
	h.changes.Add(1)
	log := h.config.Log
	switch t := note.(type) {
	case node.Linked:
		h.noteAcquaintances(h.node)
		log.Info("neighbor linked", "peer", t.Peer, "chosen", t.Chosen)
	case node.Unlinked:
		h.noteAcquaintances(h.node)
		log.Info("neighbor lost", "peer", t.Peer, "err", t.Reason)
	case node.SourceChanged:
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
		h.news.Add(1)
		if h.hub != nil {
			h.hub.Wake()
			h.teller.Wake()
		}
		log.Debug("entries arrived", "feed", t.Feed.Redacted(), "peer", t.Source, "entries", len(t.Records))
	case node.Replaced:
		h.polled.tell()
		log.Info("address gave way to the feed it leads to", "address", t.Page.Redacted(), "feed", t.Feed.Redacted())
	case node.Withheld:
		log.Info("feed stays on this node", "feed", t.Feed.Redacted(), "why", t.Why)
	case node.Slipped:
		log.Warn("entries missed between two polls", "feed", t.Feed.Redacted(), "entries", t.Gap.Missing)
	case node.Filled:
		log.Info("missed entries came", "feed", t.Feed.Redacted(), "entries", t.Gap.Filled)
	case node.Waived:
		h.polled.tell()
		log.Debug("first poll left to neighbors", "feed", t.Feed.Redacted(), "next", t.Next.Format(time.RFC3339))
	case node.Polled:
		h.polled.tell()
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
