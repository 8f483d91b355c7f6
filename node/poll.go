package node

import (
	"cmp"
	"errors"
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/feed"
	"feedex/neighbors"
	"feedex/polling"
	"feedex/protocol"
)

const (
	// spreadStart is the time over which feeds that fell due while the node was away are polled.
	spreadStart = time.Minute
	// firstRetryPoll is after what time a feed is tried again that nobody answered for at subscribing, and
	// firstRetryAnswered where somebody did, to no avail: its publisher knows of us.
	firstRetryPoll     = time.Minute
	firstRetryAnswered = time.Hour
	// soonestAgain is after what time at the earliest a feed is polled for the second time, unless its interval is
	// no longer than that.
	soonestAgain = 10 * time.Minute
	// newsFor is how long what comes out is news to others who follow the feed, as far as a first poll can tell.
	newsFor = 15 * time.Minute
	// longestBackoff bounds how long a feed that fails is left alone.
	longestBackoff = 24 * time.Hour
)

// pollAt has the feed polled at t, or when its publisher allows it after that.
func (n *Node) pollAt(s *subscription, t time.Time) {
	s.NextPoll = n.allowed(s, t)
	n.at(s.NextPoll, func() { n.fellDue(s) })
}

// fellDue has a feed polled whose time has come, if it still is.
func (n *Node) fellDue(s *subscription) {
	switch late := n.now.Sub(s.NextPoll); {
	case n.feeds[s.URL] != s || s.polling || s.queued.Waiting() || s.Ended || late < 0:
	case late > spreadStart: // this machine slept, and so did all feeds
		n.pollAt(s, n.now.Add(n.pollBetween(s, 0, min(spreadStart, s.Interval))))
	case n.postponed(s):
	default:
		n.serveHost(n.hosts.Enter(s.queued))
	}
}

// fetched takes in how a poll ended.
func (n *Node) fetched(ev Fetched) {
	s := n.feeds[ev.Feed]
	n.noteRequests(s, ev.Requests)
	if n.left {
		return // too late
	}
	if s != nil && s.polling {
		n.polled(s, ev)
	} // else unsubscribed meanwhile
	n.freeHost(ev.Feed)
}

// polled takes in what a poll gave: entries not known before are stored, bundled and offered to the
// neighbors that want them.
//
// Paper §3.4: "After a node fetches a document from a feed server, it filters and stores new entries
// from the document. These new entries are bundled and forwarded to the neighbors that subscribe to
// the corresponding feed."
//
// Differs from the paper: of what the first poll of a feed shows, only what its publisher dates within the last quarter
// of an hour is offered. The rest is new to this node alone: others who follow the feed polled it when they began to.
// Where 189 nodes start together, offering all of it makes four of five calls of the first half hour.
func (n *Node) polled(s *subscription, ev Fetched) {
	s.polling = false
	if ev.Unreached && n.excused(s, ev) {
		return
	}
	if !ev.Unreached {
		n.reached(s)
	}
	first := s.LastPoll.IsZero()
	s.LastPoll = n.now
	s.found = s.found || ev.Status != 0 || ev.Err == nil || ev.Dialed
	s.Private, s.Leads = n.optedOut(s, ev), ev.Secret || s.Leads && ev.Err != nil
	s.notePage(ev)
	if n.speakOf(s) {
		n.advertiseSoon()
	}
	n.noteHosts(s, &ev)
	n.noteDocument(s, &ev)
	if ev.Err != nil {
		if !n.turned(s, ev) {
			n.pollFailed(s, ev)
		}
		return
	}
	n.status.Counters.Polls++
	n.recall(s)
	lastPoll := s.LastSuccess
	d := &taken{Fetched: ev, first: first, since: lastPoll, poll: polling.Poll{At: n.now, Interval: s.Interval}}
	s.slipped = false
	if ev.Document == nil {
		n.status.Counters.NotModified++
		n.pollEnded(s, d)
		return
	}
	n.take(s, d)
	n.keepTaken(s, d)
}

// pollEnded follows from a poll that was answered: the document, if there is one, is stored.
func (n *Node) pollEnded(s *subscription, d *taken) {
	s.Errors, s.LastError, s.LastSuccess = 0, "", n.now
	if d.Document != nil {
		n.listedBy(s, d)
		d.poll.Listed, d.poll.New = len(s.listed), len(d.fresh)
	}
	if !s.Discreet {
		n.firstSeen(s.URL, d.poll.New, d.since, true)
		n.judge(s)
		n.checkAside(s)
		n.releaseShown(s.URL)
	}
	d.poll.History, d.poll.Helped, d.poll.Unchanged = s.history, s.Helped, d.Unchanged
	n.noteMoved(s, d.Moved)
	s.Answered(n.now, d.Status, d.Document, d.Freshness, d.RetryAfter)
	n.beginPast(s, d.Document)
	n.scheduleNext(s, d.poll)
	n.store.KeepFeed(s.Feed)
	n.tell(Polled{Feed: s.URL, New: d.poll.New, Listed: d.poll.Listed, Next: s.NextPoll})
	if len(d.fresh) > 0 {
		n.tell(Arrived{Feed: s.URL, Records: d.fresh})
	}
	n.publish(s, d.first, d.fresh, d.revised)
}

// optedOut reports whether the feed must not leave the node, by how a poll of it ended: the last document, or what came
// with it, says so, or it led to an address that is not public. A page that comes in place of a feed that was read
// before may be anybody's and speaks for itself.
func (n *Node) optedOut(s *subscription, ev Fetched) bool {
	switch {
	case ev.Local:
		return true
	case ev.Document != nil:
		return ev.Private || ev.Document.Private
	case ev.Err != nil && !s.LastSuccess.IsZero():
		return s.Private
	}
	return ev.Private || s.Private
}

// publish offers what an own poll brought, the feed's first or a later one, to the neighbors that want it, unless
// nobody is to know of it.
func (n *Node) publish(s *subscription, first bool, fresh []archive.Record, revised []feed.Entry) {
	if s.Discreet || s.kept != "" {
		return
	}
	var entries []feed.Entry
	for i := range fresh {
		if !first || n.news(&fresh[i]) {
			entries = append(entries, fresh[i].Entry)
		}
	}
	bundles, _ := protocol.Split(s.URL, entries)
	for _, b := range bundles {
		n.stored(b, b.Entries, nil)
		n.spread(b, protocol.NodeID{})
	}
	n.passRevisions(s.URL, revised, nil, protocol.NodeID{})
}

// news reports whether an entry of a feed's first document is one that others who follow the feed may not have. One
// without a date that counts may be of any age.
func (n *Node) news(r *archive.Record) bool {
	t := r.Time()
	dated := t.Equal(r.Entry.Published) || t.Equal(r.Entry.Updated)
	return dated && n.now.Sub(t) <= newsFor
}

// noteClients remembers the nodes that a feed document lists (Paper §3.1, second source).
func (n *Node) noteClients(clients []string) {
	var ids []protocol.NodeID
	for _, text := range clients {
		if id, err := protocol.ParseNodeID(text); err == nil {
			ids = append(ids, id)
		}
	}
	n.noteNodes(neighbors.Listed, ids)
}

// noteDocument keeps the validators that came with an answer, in the transaction that keeps its document. An
// answer that the document is the one that could not be used before is the same failure again; but one that names
// other validators is about another document, which is older than a page that somebody put in its place.
func (n *Node) noteDocument(s *subscription, ev *Fetched) {
	switch {
	case ev.Err == nil && ev.Document == nil && s.Unread:
		ev.Err = errors.New(cmp.Or(s.unread, s.LastError, "the document is still the one that could not be used"))
		if ev.Status == courtesy.Unchanged && (ev.ETag != s.ETag || ev.LastModified != s.LastModified) {
			ev.ETag, ev.LastModified, ev.Body = s.ETag, s.LastModified, s.Body
			if n.now.Sub(s.Unconditional) >= anotherEvery {
				ev.ETag, ev.LastModified, ev.Body = "", "", feed.Digest{}
			}
		}
	case ev.Document != nil:
		s.Unread = false
	case ev.Unusable:
		s.Unread, s.unread = true, ev.Err.Error()
	case ev.Err != nil:
		return
	case s.ETag == "" && s.LastModified == "" && s.Body == feed.Digest{}:
		return // it is about validators that were forgotten while the poll was under way
	}
	s.ETag, s.LastModified, s.Body = ev.ETag, ev.LastModified, ev.Body
}

// scheduleNext asks the policy when to poll next, and keeps away for as long as the publisher asks.
func (n *Node) scheduleNext(s *subscription, p polling.Poll) {
	if n.now.Before(s.ordinary) {
		// That was a spot poll: too soon after the last one to say anything about the feed's pace.
		n.pollAt(s, later(s.ordinary, s.NotBefore))
		return
	}
	s.ordinary = time.Time{}
	wait := s.policy.Interval(p)
	if _, fixed := s.policy.(polling.Fixed); s.slipped && !fixed {
		wait = min(wait, max(p.Interval/2, shortestAfterGap))
	}
	s.Interval = wait
	if p.Interval == 0 {
		// The first poll sets the phase of all later ones. Neighbors that start together must not poll together, or all
		// of them learn of an entry at the same late moment. But no node comes back within minutes unless its owner
		// told it to.
		low := wait / 10
		if wait > soonestAgain {
			low = max(low, soonestAgain)
		}
		wait = n.pollBetween(s, low, low+wait-wait/10)
	}
	n.pollAt(s, later(n.now.Add(wait), s.NotBefore))
}

// pollFailed leaves the feed alone for a growing while. A feed that was never fetched is tried again
// sooner: its owner waits for it. One that is gone for good (RFC 9110 §15.5.11) is polled no more.
func (n *Node) pollFailed(s *subscription, ev Fetched) {
	n.status.Counters.PollsFailed++
	s.Errors++
	s.LastError = ev.Err.Error()
	s.ordinary = time.Time{}
	if ev.Status == courtesy.Gone && s.Alias == "" || n.noFeed(s) {
		s.Ended, s.NextPoll = true, time.Time{}
		n.store.KeepFeed(s.Feed)
		n.tell(Polled{Feed: s.URL, Problem: s.LastError})
		return
	}
	if s.Errors >= pastPatience && s.shown() {
		n.beginPast(s, nil)
	}
	n.forgetAlias(s, ev.Status)
	wait := s.Interval
	if s.LastSuccess.IsZero() || wait == 0 {
		wait = firstRetryAnswered
		if ev.Status == 0 {
			wait = min(firstRetryPoll, s.policy.First())
		}
	}
	for i := 1; i < s.Errors && wait < longestBackoff; i++ {
		wait = min(2*wait, longestBackoff)
	}
	wait = max(wait, s.Terms.Failed(n.now, ev.Freshness, ev.RetryAfter))
	n.pollAt(s, later(n.now.Add(wait+n.pollBetween(s, 0, wait/10)), s.queued.Until()))
	n.store.KeepFeed(s.Feed)
	n.tell(Polled{Feed: s.URL, Next: s.NextPoll, Problem: s.LastError})
}
