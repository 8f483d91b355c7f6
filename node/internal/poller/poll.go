package poller

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/feed"
	"feedex/internal/when"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/polling"
	"feedex/protocol"
	"feedex/trust"
)

// ReserveRequest counts a request of the owner's at the host of u, beside the polls, and returns when it may be made.
// Where that is more than a minute after now it is not counted and not to be made: the host wants to be left alone.
func (m *Machine) ReserveRequest(now time.Time, u feed.URL) (at time.Time, ok bool) {
	return m.hosts.Request(now, u)
}

// Rests is until when the host of u wants to be left alone, the zero time where it does not say so.
func (m *Machine) Rests(now time.Time, u feed.URL) time.Time { return m.hosts.Rests(now, u) }

// pollBetween is Between for when the feed is polled.
func (m *Machine) pollBetween(s *Subscription, low, high time.Duration) time.Duration {
	if s.Discreet {
		return core.Drawn(m.Unseen, low, high)
	}
	return core.Drawn(m.Rng, low, high)
}

// excused reports whether nobody can tell if it is the publisher's fault that a poll reached nobody, and has the
// feed tried again soon.
func (m *Machine) excused(s *Subscription, ev core.Fetched) bool {
	if s.lost.IsZero() {
		s.lost = s.Begun
	}
	if !m.outage.Excuses(m.Now, s.Queued.Host(), s.lost) {
		return false
	}
	s.LastError, s.NotBefore = ev.Err.Error(), m.Now
	m.Counters.PollsFailed++
	m.PollAt(s, m.outage.Next())
	m.Store.KeepFeed(s.Feed)
	m.Tell(core.Polled{Feed: s.URL, Next: s.NextPoll, Problem: s.LastError})
	return true
}

// reached takes note that somebody answered: our network works.
func (m *Machine) reached(s *Subscription) {
	s.lost = time.Time{}
	m.outage.Reached(m.Now)
}

// postponed reports whether a feed that fell due has to wait for the network, and sees to it that it does.
func (m *Machine) postponed(s *Subscription) bool {
	if !m.outage.Postpones(m.Now) {
		return false
	}
	m.PollAt(s, m.outage.Next().Add(m.pollBetween(s, 0, spreadStart)))
	return true
}

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
	// NewsFor is how long what comes out is news to others who follow the feed, as far as a first poll can tell.
	NewsFor = 15 * time.Minute
	// SpotAfter is when a spot poll can tell: claims are not judged before.
	SpotAfter = time.Hour
	// LongestBackoff bounds how long a feed that fails is left alone.
	LongestBackoff = 24 * time.Hour
)

// PollAt has the feed polled at t, or when its publisher allows it after that.
func (m *Machine) PollAt(s *Subscription, t time.Time) {
	s.NextPoll = m.allowed(s, t)
	if !s.wakeAt.IsZero() && !s.NextPoll.Before(s.wakeAt) {
		return // fellDue sees then that the feed was put off
	}
	if !s.wakeAt.IsZero() {
		m.Timers.Cancel(s.wake)
	}
	s.wakeAt = s.NextPoll
	s.wake = m.At(s.wakeAt, func() {
		s.wakeAt = time.Time{}
		m.fellDue(s)
	})
}

// fellDue has a feed polled whose time has come, if it still is.
func (m *Machine) fellDue(s *Subscription) {
	switch late := m.Now.Sub(s.NextPoll); {
	case m.Feeds[s.URL] != s || s.Polling || s.Queued.Waiting() || s.Ended:
	case late < 0:
		m.PollAt(s, s.NextPoll)
	case late > spreadStart: // this machine slept, and so did all feeds
		m.PollAt(s, m.Now.Add(m.pollBetween(s, 0, min(spreadStart, s.Interval))))
	case m.postponed(s):
	case m.leavesToOthers(s):
	default:
		m.serveHost(m.hosts.Enter(s.Queued))
	}
}

// Fetched takes in how a poll ended.
func (m *Machine) Fetched(ev core.Fetched) {
	s := m.Feeds[ev.Feed]
	if ev.Located {
		m.located(s, ev.Dialed)
		return
	}
	m.noteRequests(s, ev.Requests)
	if m.Left {
		return // too late
	}
	if s != nil && s.Polling { // else unsubscribed meanwhile
		if s = m.polledAs(s, &ev); s != nil {
			m.polled(s, ev)
		}
	}
	m.freeHost(ev.Feed)
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
func (m *Machine) polled(s *Subscription, ev core.Fetched) {
	s.Polling = false
	regular := s.regular
	s.regular = time.Time{}
	if ev.Unreached && !s.untested() && m.excused(s, ev) {
		return
	}
	if !ev.Unreached {
		m.reached(s)
	}
	first := s.LastPoll.IsZero()
	s.LastPoll = m.Now
	s.found = s.found || ev.Status != 0 || ev.Err == nil || ev.Dialed
	s.Private, s.Leads = m.optedOut(s, ev), ev.Secret || s.Leads && ev.Err != nil
	again := ev.Err == nil && ev.Document == nil && s.Unread
	if !again && (ev.Err == nil || ev.Status != courtesy.Unchanged) { // else the page is as it was
		s.Names = ev.Names
	}
	if m.speakOf(s) {
		m.membership.AdvertiseSoon()
	}
	m.noteHosts(s, &ev)
	m.noteDocument(s, &ev)
	if m.noteRefusal(s, &ev); s.volunteered() && m.unfit(s, &ev) {
		m.giveUp(s, 0)
		return
	}
	if ev.Err != nil {
		m.pollFailed(s, ev)
		return
	}
	m.Counters.Polls++
	m.recall(s)
	lastPoll := s.LastSuccess
	d := &taken{Fetched: ev, first: first, since: lastPoll, regular: regular,
		poll: polling.Poll{At: m.Now, Interval: s.Interval}}
	s.Slipped = false
	if ev.Document == nil {
		m.Counters.NotModified++
		m.pollEnded(s, d)
		return
	}
	m.take(s, d)
	m.keepTaken(s, d)
}

// pollEnded follows from a poll that was answered: the document, if there is one, is stored.
func (m *Machine) pollEnded(s *Subscription, d *taken) {
	s.Errors, s.LastError, s.LastSuccess = 0, "", m.Now
	if d.Document != nil {
		m.listedBy(s, d)
		d.poll.Listed, d.poll.New = len(s.LastListed), len(d.fresh)
	}
	if s.volunteered() {
		m.volunteerPolled(s, d.poll.New)
	} else if !s.Discreet && s.kept == "" && d.reaches { // or nobody can know of it
		slices.SortFunc(d.brought, time.Time.Compare)
		m.membership.FirstSeen(s.URL, d.since, d.poll.New, d.brought)
	}
	if !s.Discreet {
		m.exchange.Polled(trust.OwnPoll{Feed: s.URL, Begun: s.Begun, Before: d.before, Listed: s.LastListed,
			Replaced: d.Document != nil && !d.Partial})
	}
	m.weigh(s, d)
	m.noteLags(s, d.waits)
	d.poll.History, d.poll.Helped, d.poll.Unchanged = s.History, s.Helped, d.Unchanged
	d.poll.Pollers = m.pollersForPolicy(s)
	named := m.noteMoved(s, d)
	s.Answered(m.Now, d.Status, d.Document, d.Freshness, d.RetryAfter)
	if !s.waived.IsZero() && d.since.IsZero() && d.Document != nil && d.Document.PrevArchive != "" {
		s.Past = m.wantedPast() // it began without a document
	}
	m.beginPast(s, d.Document)
	if d.regular.After(m.Now) && !d.since.IsZero() {
		m.PollAt(s, when.Later(d.regular, s.NotBefore))
	} else {
		m.scheduleNext(s, d.poll)
	}
	m.Store.KeepFeed(s.Feed)
	m.Tell(core.Polled{Feed: s.URL, New: d.poll.New, Listed: d.poll.Listed, Next: s.NextPoll})
	if len(d.fresh) > 0 {
		m.Tell(core.Arrived{Feed: s.URL, Records: d.fresh})
	}
	if !m.publish(s, d.first, d.fresh, d.revised) {
		m.announce(s, d.poll.New)
	}
	if named {
		m.rename(s, d)
	}
}

// optedOut reports whether the feed must not leave the node, by how a poll of it ended: the last document, or what came
// with it, says so, or it led to an address that is not public. What comes in place of a feed that was read before may
// be anybody's and speaks for itself: networks with a login lead everything to a page, at an address of their own.
func (m *Machine) optedOut(s *Subscription, ev core.Fetched) bool {
	switch {
	case ev.Err != nil && !s.LastSuccess.IsZero():
		return s.Private
	case ev.Local:
		return true
	case ev.Document != nil:
		return ev.Private || ev.Document.Private
	}
	return ev.Private || s.Private
}

// publish offers what an own poll brought, the feed's first or a later one, to the neighbors that want it, unless
// nobody is to know of it, and reports whether there was anything new among it.
func (m *Machine) publish(s *Subscription, first bool, fresh []archive.Record, revised []feed.Entry) (news bool) {
	if s.Discreet || s.kept != "" {
		return false
	}
	var entries []feed.Entry
	for i := range fresh {
		if !first || m.news(s, &fresh[i]) {
			entries = append(entries, fresh[i].Entry)
		}
	}
	m.exchange.Publish(s.URL, entries, revised)
	return len(entries) > 0
}

// news reports whether an entry of a feed's first document is one that others who follow the feed may not have. One
// without a date that counts may be of any age. What came out after the first poll was waived is news.
func (m *Machine) news(s *Subscription, r *archive.Record) bool {
	t := r.Time()
	dated := t.Equal(r.Entry.Published) || t.Equal(r.Entry.Updated)
	return dated && (m.Now.Sub(t) <= NewsFor || !s.waived.IsZero() && t.After(s.waived))
}

// noteClients remembers the nodes that a feed document lists (Paper §3.1, second source).
func (m *Machine) noteClients(clients []string) {
	var ids []protocol.NodeID
	for _, text := range clients {
		if id, err := protocol.ParseNodeID(text); err == nil {
			ids = append(ids, id)
		}
	}
	m.membership.NoteNodes(neighbors.Listed, ids)
}

// noteDocument keeps the validators that came with an answer, in the transaction that keeps its document. An
// answer that the document is the one that could not be used before is the same failure again; but one that names
// other validators is about another document, which is older than a page that somebody put in its place.
func (m *Machine) noteDocument(s *Subscription, ev *core.Fetched) {
	switch {
	case ev.Err == nil && ev.Document == nil && s.Unread:
		ev.Err = errors.New(cmp.Or(s.unread, s.LastError, "the document is still the one that could not be used"))
		if ev.Status == courtesy.Unchanged && (ev.ETag != s.ETag || ev.LastModified != s.LastModified) {
			ev.ETag, ev.LastModified, ev.Body = s.ETag, s.LastModified, s.Body
			if m.Now.Sub(s.Unconditional) >= anotherEvery {
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
func (m *Machine) scheduleNext(s *Subscription, p polling.Poll) {
	if m.Now.Before(s.Ordinary) {
		// A spot poll comes too soon after the last one to say anything about the feed's pace.
		m.PollAt(s, when.Later(s.Ordinary, s.NotBefore))
		return
	}
	s.Ordinary = time.Time{}
	wait := s.PollPolicy.Interval(p)
	if _, fixed := s.PollPolicy.(polling.Fixed); s.Slipped && !fixed {
		wait = min(wait, max(p.Interval/2, shortestAfterGap))
	}
	if spared := sparedByHelp(s.PollPolicy, p, wait, s.NotBefore.Sub(m.Now)); spared > 0 {
		m.Counters.PollsSpared += spared
		m.Store.KeepSpared(m.Now, spared)
	}
	s.Interval = wait
	if p.Interval == 0 || p.Pollers > 1 && wait > 2*p.Interval {
		// The first poll sets the phase of all later ones. Neighbors that start together must not poll together, or all
		// of them learn of an entry at the same late moment; nor must those of which the intervals have become longer
		// than the time within which they started. But no node comes back within minutes unless its owner told it to.
		low := wait / 10
		if wait > soonestAgain {
			low = max(low, soonestAgain)
		}
		wait = m.pollBetween(s, low, low+wait-wait/10)
	}
	m.PollAt(s, when.Later(m.ownTurn(s, p, wait), s.NotBefore))
}

// sparedByHelp is how many polls more there would be, in the time until the next one, if neighbors brought nothing of
// the feed. Alone, too, the node would come no sooner than the publisher lets it.
func sparedByHelp(policy polling.Policy, p polling.Poll, wait, soonest time.Duration) float64 {
	if p.Helped <= 0 {
		return 0
	}
	p.Helped, p.Pollers = 0, 0
	return max(0, float64(max(wait, soonest))/float64(max(policy.Interval(p), soonest))-1)
}

// pollFailed leaves the feed alone for a growing while. A feed that was never fetched is tried again
// sooner: its owner waits for it. One that is gone for good (RFC 9110 §15.5.11), or was a page for long, is polled no
// more.
func (m *Machine) pollFailed(s *Subscription, ev core.Fetched) {
	if !s.volunteered() && m.readdressed(s, ev) {
		return
	}
	m.Counters.PollsFailed++
	s.Errors++
	s.LastError = ev.Err.Error()
	s.Ordinary = time.Time{}
	if ev.Status == courtesy.Gone && s.Move.Gone() || m.noFeed(s, ev) {
		s.Ended, s.NextPoll = true, time.Time{}
		m.Store.KeepFeed(s.Feed)
		m.Tell(core.Polled{Feed: s.URL, Problem: s.LastError})
		return
	}
	if s.Errors >= pastPatience && s.Shown() {
		m.beginPast(s, nil)
	}
	m.forgetAlias(s, ev.Status)
	wait := s.Interval
	if s.LastSuccess.IsZero() || wait == 0 {
		wait = firstRetryAnswered
		if ev.Status == 0 {
			wait = min(firstRetryPoll, s.PollPolicy.First())
		}
	}
	for i := 1; i < s.Errors && wait < LongestBackoff; i++ {
		wait = min(2*wait, LongestBackoff)
	}
	wait = max(wait, s.Terms.Failed(m.Now, ev.Freshness, ev.RetryAfter))
	m.PollAt(s, when.Later(m.Now.Add(wait+m.pollBetween(s, 0, wait/10)), m.hosts.Until(s.Queued)))
	if ev.Status == courtesy.TooMany || ev.RetryAfter > 0 {
		m.announce(s, protocol.Refused)
	}
	m.Store.KeepFeed(s.Feed)
	m.Tell(core.Polled{Feed: s.URL, Next: s.NextPoll, Problem: s.LastError})
}

// SpotPoll sees to it that an own feed is polled soon after a claim, to check it: a neighbor that nobody
// knows yet must not forge for as long as a feed sleeps.
//
// A publisher pays for it with a request that it would not have had. It is a conditional one like all others, there is
// at most one between two ordinary ones, only while newcomers or nodes that a witness speaks against claim to have
// polled the feed or a neighbor brings more of it than its quota allows, and never where the publisher asked for rest
// or fails. The ordinary poll falls due as it would have.
func (m *Machine) SpotPoll(u feed.URL) {
	s := m.openly(u)
	if s == nil || s.Polling || s.Errors > 0 || s.LastSuccess.IsZero() || !s.Ordinary.IsZero() {
		return
	}
	at := when.Later(m.Now.Add(SpotAfter+m.Between(0, SpotAfter/10)), s.NotBefore)
	if at.Before(s.NextPoll) {
		s.Ordinary = s.NextPoll
		m.PollAt(s, at)
	} else {
		s.chorus.fixed = true
	}
}
