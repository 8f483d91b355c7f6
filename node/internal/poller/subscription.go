package poller

import (
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/feed"
	"feedex/internal/when"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/polling"
	"feedex/trust"
)

// policyOf is by which policy the feed is polled: the one chosen for it, or else the node's own. One that this
// version cannot read is none.
func (m *Machine) policyOf(f *archive.Feed) polling.Policy {
	if f.Policy != "" {
		if p, err := m.Config.Polling.Policy(f.Policy); err == nil {
			return p
		}
	}
	return m.Config.Policy
}

// readable reports whether a policy may be chosen by that name.
func (m *Machine) readable(policy string) bool {
	_, err := m.Config.Polling.Policy(policy)
	return policy == "" || err == nil
}

// repolicy has the feed polled as its owner wants it from now on. The next poll is no later than the policy would
// ever have it, nor sooner than the publisher wants.
func (m *Machine) repolicy(s *Subscription) {
	s.PollPolicy = m.policyOf(&s.Feed)
	if !s.Polling && s.Errors == 0 && !s.LastPoll.IsZero() {
		due := when.Later(s.LastPoll.Add(s.PollPolicy.Longest()), s.NotBefore)
		if due.Before(s.NextPoll) {
			m.PollAt(s, when.Later(due, m.Now))
		}
	}
}

// A Subscription is a feed that is polled: of the node's own interest, or volunteered.
type Subscription struct {
	archive.Feed
	kept       string               // why it stays on this node, "" where it is exchanged
	undecided  bool                 // and its owner is to say whether it does
	PollPolicy polling.Policy       // see archive.Feed.Policy
	recalled   bool                 // the history was rebuilt from the archive
	Slipped    bool                 // the last document held no entry that was known before
	History    polling.History      // rebuilt from the archive after a restart
	Queued     *courtesy.QueuedFeed // of its hosts
	Polling    bool                 // a Fetch is under way
	Begun      time.Time            // the last Fetch
	lost       time.Time            // when it was first not reached, since it last was
	found      bool                 // somebody answered in this run, or there is such a host on the Internet
	unread     string               // why the last document could not be used, if that was in this run
	// when it falls due but for a spot poll; zero where there was none since the last time
	Ordinary time.Time
	// when it would fall due, had its owner not had it polled now; zero where they had not
	regular           time.Time
	chorus            chorus         // who else polls it
	awaits            bool           // its first poll waits for neighbors, or for whether its name is public
	waived            time.Time      // when its first poll was left to them
	missed            bool           // and it was made after all
	wake              core.TimerID   // the task that calls fellDue
	wakeAt            time.Time      // when that is to be done, zero for never
	LastListed        []trust.Listed // the last document of this run, oldest entry first
	said              []uint64       // what the entries of that document say
	patrons           []patron       // where it is volunteered
	brought           time.Time      // when there last was something new of it then
	readdressed       time.Time      // when queries alone last were reason to store extras anew
	polled, delivered int64          // entries brought first by own polls, and by neighbors
}

// Subscribe begins to follow feeds, or changes how they are followed. What an address became that had moved is meant by
// that address; a page is asked again what it names now, where its owner says it again.
func (m *Machine) Subscribe(wish core.Subscribe) {
	for _, u := range wish.Feeds {
		if s := m.meant(u); s != nil {
			m.change(s, &wish)
		} else if known := m.Known(u); !wish.Standing || m.followed(known.Became) == nil {
			m.follow(u, &wish, known, "") // followed before: its validators still save a download
		}
		m.chosen(u)
	}
}

// change has a feed be followed as its owner wishes from now on.
func (m *Machine) change(s *Subscription, wish *core.Subscribe) {
	discreet := s.Discreet
	if m.apply(wish, &s.Feed) {
		if s.Discreet && !discreet {
			m.exchange.Forget(s.URL) // as of a feed that is followed no more
		}
		if m.speakOf(s) {
			m.membership.AdvertiseSoon()
		}
		m.repolicy(s)
		m.Store.KeepFeed(s.Feed)
		m.exchange.TellStars()
	}
	if s.Ended {
		m.revive(s)
	}
	if s.awaits && len(wish.Feeds) == 1 {
		s.awaits = false
		m.PollAt(s, m.Now)
	}
}

// follow begins to follow a feed, and returns it, of which f is known, the zero Feed for nothing, and which that page
// named, "" for none.
func (m *Machine) follow(u feed.URL, wish *core.Subscribe, f archive.Feed, page feed.URL) *Subscription {
	if s := m.Feeds[u]; s != nil {
		m.stopPolling(s)
		f = s.Feed
	}
	f.Volunteered, f.Patrons = time.Time{}, ""
	f.URL, f.Subscribed, f.Since, f.Errors, f.LastError = u, true, m.Now, 0, ""
	f.NextPoll = when.Later(m.Now, m.readAgain(&f)) // what is here is news to whoever wants it again
	f.Ended, f.Past, f.Names, f.Backlog, f.BacklogOf = false, m.wantedPast(), "", archive.UsualBacklog, 0
	f.Became = ""
	delete(m.led, u)
	forgetUnread(&f)
	m.apply(wish, &f)
	f.Page = page // which says nothing of what the feed was before
	if m.resume(f) {
		m.membership.AdvertiseSoon()
	}
	if m.Table.Volunteer(u, false) { // which nobody notices, but where it is followed discreetly
		m.membership.AdvertiseSoon()
	}
	s := m.Feeds[u]
	if len(wish.Feeds) > 1 {
		m.await(s)
	}
	m.Store.KeepFeed(s.Feed)
	m.exchange.TellStars()
	if s.kept != "" {
		m.Tell(core.Withheld{Feed: u, Why: s.kept, Undecided: s.undecided})
	}
	return s
}

// Known returns the record of a feed that is polled, or was once; the zero Feed for nothing.
func (m *Machine) Known(u feed.URL) archive.Feed { return m.Store.LoadFeed(u) }

// apply writes down how the feed is to be followed, and reports whether that changed anything.
func (m *Machine) apply(wish *core.Subscribe, f *archive.Feed) (changed bool) {
	before := *f
	if wish.Weight != 0 {
		f.Weight = min(max(wish.Weight, 1), neighbors.MaxWeight)
	}
	if wish.Discreet != nil && *wish.Discreet != f.Discreet {
		f.Barred, f.Discreet = *wish.Discreet && f.Confidential(), *wish.Discreet
		if !f.Discreet { // others may know of altered entries, which a poll sets right that brings the document
			f.ETag, f.LastModified, f.Body = "", "", feed.Digest{}
		}
	}
	if wish.Policy != nil && m.readable(*wish.Policy) {
		f.Policy = *wish.Policy
	}
	if wish.Backlog != archive.UsualBacklog && (f.Backlog == archive.UsualBacklog ||
		max(f.BacklogOf, 1) == max(wish.BacklogOf, 1)) {
		f.Backlog, f.BacklogOf = wish.Backlog, wish.BacklogOf // who chose first has chosen
	}
	if wish.Sharing != nil {
		f.Sharing = *wish.Sharing
	}
	if wish.Private != nil {
		f.Withheld, f.Shared = *wish.Private, !*wish.Private
	}
	return *f != before
}

// resume takes up a feed where it was left, and reports whether neighbors are to hear of that.
func (m *Machine) resume(f archive.Feed) (news bool) {
	if setBack(&f, m.Now) {
		m.Store.KeepFeed(f) // lest every start puts the next poll off
	}
	s := &Subscription{Feed: f, PollPolicy: m.policyOf(&f), Queued: m.hosts.Add(f.URL, f.At(f.URL), f.Lands)}
	m.Feeds[f.URL] = s
	news = m.speakOf(s)
	if !f.Ended {
		m.PollAt(s, m.due(s, f.NextPoll))
	}
	return news
}

// setBack corrects what was noted by a clock that was ahead, if anything was: the last poll counts as one of now, and
// what is owed to its publisher begins with it. A poll that was under way counts as one that was cut off now, and what
// the owner subscribed to meanwhile as subscribed to now. What was noted before stays.
func setBack(f *archive.Feed, now time.Time) (changed bool) {
	ahead := max(0, f.LastPoll.Sub(now), f.Since.Sub(now))
	changed = ahead > 0
	for _, t := range []*time.Time{&f.Since, &f.LastPoll, &f.LastSuccess, &f.NextPoll, &f.NotBefore, &f.Unconditional} {
		if changed && t.After(now) {
			*t = t.Add(-ahead)
		}
	}
	if f.NotBefore.After(now.Add(courtesy.LongestAway)) {
		f.NextPoll = now.Add(Unfinished)
		f.NotBefore, changed = f.NextPoll, true
	}
	return changed
}

// due is when a feed is polled that fell due at t by the clock of an earlier run.
func (m *Machine) due(s *Subscription, t time.Time) time.Time {
	due, last := t, m.Now.Add(max(s.PollPolicy.Longest(), LongestBackoff))
	if s.Errors == 0 && !s.LastPoll.IsZero() {
		// The owner may have chosen a shorter interval since.
		due = when.Earlier(due, s.LastPoll.Add(s.PollPolicy.Longest()))
	}
	switch {
	case due.After(last): // by a clock that was ahead
		due = last.Add(m.pollBetween(s, 0, spreadStart))
	case due.Before(m.Now), s.LastPoll.IsZero() && s.Interval > 0:
		// No stampede after an absence: every publisher waits its turn. A first poll is waived for one run: the feed is
		// not spoken of in the next one before a poll shows again where it leads.
		due = m.Now.Add(m.pollBetween(s, 0, min(spreadStart, s.Interval)))
	}
	return when.Later(due, s.NotBefore)
}

// revive polls a feed again that its publisher had ended.
func (m *Machine) revive(s *Subscription) {
	s.Ended, s.Errors, s.LastError = false, 0, ""
	if s.Names != "" {
		s.Names, s.Since = "", m.Now
	}
	forgetUnread(&s.Feed)
	m.PollAt(s, when.Later(m.Now, s.NotBefore))
	m.Store.KeepFeed(s.Feed)
}

// forgetUnread has a document asked for again that could not be used, whether it changed or not: what became of it is
// decided anew.
func forgetUnread(f *archive.Feed) {
	if f.Unread {
		f.ETag, f.LastModified, f.Body, f.Unread = "", "", feed.Digest{}, false
	}
}

// Shown reports whether a poll has shown where the feed leads, if only by a refusal or by a public address that lets
// nobody in: neighbors are then all there is to read it by. A name that is not known may belong to an intranet that the
// owner is not in now.
func (s *Subscription) Shown() bool { return s.found || !s.LastSuccess.IsZero() }

// speakOf sees to it that the feed is advertised if it may be, and reports whether neighbors are to hear something
// new. It may not be before a poll has shown where it leads: a name that sounds public may belong to somebody's
// intranet.
func (m *Machine) speakOf(s *Subscription) (news bool) {
	s.kept, s.undecided = m.kept(&s.Feed)
	if s.volunteered() {
		return m.Table.Volunteer(s.URL, s.kept == "" && !s.LastSuccess.IsZero())
	}
	m.Table.Weigh(s.URL, s.Weight)
	private, own := s.kept != "", s.kept == "" && s.Shown() && s.Names == ""
	if s.Discreet {
		private, own = s.Confidential(), false
	}
	hidden := m.Table.Private(s.URL, private)
	return m.Table.Own(s.URL, own) || hidden
}

// Unsubscribe ends following a feed. Its entries stay.
func (m *Machine) Unsubscribe(u feed.URL) {
	s := m.followed(u)
	if s == nil {
		return
	}
	m.stopPolling(s)
	if s.Subscribed = false; s.Polling {
		s.NotBefore = time.Time{} // which was for a crash
	}
	m.Store.KeepFeed(s.Feed)
	m.exchange.TellStars()
	m.speakNoMore(s)
}

// speakNoMore has neighbors know nothing of a feed that is followed no more.
func (m *Machine) speakNoMore(s *Subscription) {
	m.Table.Weigh(s.URL, 1)
	if s.Discreet {
		return
	}
	m.exchange.Forget(s.URL)
	followed := m.Table.Own(s.URL, false)
	// a node that follows it no more does not pass it on either
	if m.Table.Private(s.URL, s.Confidential()) || followed {
		m.membership.AdvertiseSoon()
	}
}

// stopPolling has the feed polled no more.
func (m *Machine) stopPolling(s *Subscription) {
	delete(m.Feeds, s.URL)
	m.hosts.Leave(s.Queued)
}

// AnyOpen reports whether one of the feeds that are polled, and that neighbors may know of, is such.
func (m *Machine) AnyOpen(such func(u feed.URL) bool) bool {
	for u, s := range m.Feeds {
		if !s.Discreet && such(u) {
			return true
		}
	}
	return false
}
