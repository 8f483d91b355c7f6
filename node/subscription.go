package node

import (
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/feed"
	"feedex/neighbors"
	"feedex/polling"
	"feedex/trust"
)

// A subscription is a feed of the node's own interest.
type subscription struct {
	archive.Feed
	kept      string               // why it stays on this node, "" where it is exchanged
	undecided bool                 // and its owner is to say whether it does
	policy    polling.Policy       // see archive.Feed.Policy
	recalled  bool                 // the history was rebuilt from the archive
	slipped   bool                 // the last document held no entry that was known before
	history   polling.History      // rebuilt from the archive after a restart
	queued    *courtesy.QueuedFeed // of its hosts
	polling   bool                 // a Fetch is under way
	begun     time.Time            // the last Fetch
	aside     time.Time            // when it is due by a clock that was ahead of ours; zero for not known
	lost      time.Time            // when it was first not reached, since it last was
	found     bool                 // somebody answered in this run, or there is such a host on the Internet
	unread    string               // why the last document could not be used, if that was in this run
	// when it falls due but for a spot poll; zero where there was none since the last time
	ordinary          time.Time
	listed            []trust.Listed // the last document of this run, oldest entry first
	said              []uint64       // what the entries of that document say
	polled, delivered int64          // entries brought first by own polls, and by neighbors
}

// subscribe begins to follow feeds, or changes how they are followed.
func (n *Node) subscribe(wish Subscribe) {
	known := make(map[feed.URL]archive.Feed)
	if len(wish.Feeds) > 0 {
		known = n.knownFeeds() // followed before: its validators still save a download
	}
	for _, u := range wish.Feeds {
		if s := n.feeds[u]; s != nil {
			discreet := s.Discreet
			if n.apply(&wish, &s.Feed) {
				if s.Discreet && !discreet {
					n.hearsay.claims.Forget(u) // as of a feed that is followed no more
				}
				if n.speakOf(s) {
					n.advertiseSoon()
				}
				n.repolicy(s)
				n.store.KeepFeed(s.Feed)
			}
			if s.Ended {
				n.revive(s)
			}
			n.chosen(u)
			continue
		}
		if wish.Standing && n.inPlaceOf(u) {
			continue
		}
		n.follow(u, &wish, known[u], "")
		n.chosen(u)
	}
}

// follow begins to follow a feed of which f is known, the zero Feed for nothing, and which that page named, "" for
// none.
func (n *Node) follow(u feed.URL, wish *Subscribe, f archive.Feed, page feed.URL) {
	f.URL, f.Subscribed, f.Since, f.NextPoll, f.Errors, f.LastError = u, true, n.now, n.now, 0, ""
	f.Ended, f.Past, f.Names = false, n.wantedPast(), ""
	delete(n.became, u)
	forgetUnread(&f)
	n.apply(wish, &f)
	f.Page = page // which says nothing of what the feed was before
	if n.resume(f) {
		n.advertiseSoon()
	}
	s := n.feeds[u]
	n.store.KeepFeed(s.Feed)
	if s.kept != "" {
		n.tell(Kept{Feed: u, Why: s.kept})
	}
}

// knownFeeds are the feeds that are followed, were once, or cover those that are.
func (n *Node) knownFeeds() map[feed.URL]archive.Feed {
	known := make(map[feed.URL]archive.Feed)
	for _, f := range n.store.LoadFeeds() {
		known[f.URL] = f
	}
	return known
}

// apply writes down how the feed is to be followed, and reports whether that changed anything.
func (n *Node) apply(wish *Subscribe, f *archive.Feed) (changed bool) {
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
	if wish.Policy != nil && n.readable(*wish.Policy) {
		f.Policy = *wish.Policy
	}
	if wish.Private != nil {
		f.Withheld, f.Shared = *wish.Private, !*wish.Private
	}
	return *f != before
}

// resume takes up a feed where it was left, and reports whether neighbors are to hear of that.
func (n *Node) resume(f archive.Feed) (news bool) {
	s := &subscription{Feed: f, policy: n.policyOf(&f), queued: n.hosts.Add(f.URL, f.At(f.URL), f.Lands)}
	n.feeds[f.URL] = s
	n.status.Feeds = len(n.feeds)
	news = n.speakOf(s)
	if !f.Ended {
		n.pollAt(s, n.due(s, f.NextPoll))
	}
	return news
}

// due is when a feed is polled that fell due at t by the clock of an earlier run.
func (n *Node) due(s *subscription, t time.Time) time.Time {
	due, last := t, n.now.Add(max(s.policy.Longest(), longestBackoff))
	if s.Errors == 0 && !s.LastPoll.IsZero() {
		// The owner may have chosen a shorter interval since.
		due = earlier(due, s.LastPoll.Add(s.policy.Longest()))
	}
	s.aside = time.Time{}
	switch {
	case due.After(last):
		// A clock that was ahead once must not silence the feed. Or ours is behind, and finds out (see clockJumped).
		due, s.aside = last.Add(n.pollBetween(s, 0, spreadStart)), t
	case due.Before(n.now):
		// No stampede after an absence: every publisher waits its turn.
		due = n.now.Add(n.pollBetween(s, 0, min(spreadStart, s.Interval)))
	}
	if !s.LastPoll.After(n.now) { // or it is not known by which clock it was
		due = later(due, s.NotBefore)
	}
	return due
}

// revive polls a feed again that its publisher had ended.
func (n *Node) revive(s *subscription) {
	s.Ended, s.Errors, s.LastError = false, 0, ""
	if s.Names != "" {
		s.Names, s.Since = "", n.now
	}
	forgetUnread(&s.Feed)
	n.pollAt(s, n.now)
	n.store.KeepFeed(s.Feed)
}

// forgetUnread has a document asked for again that could not be used, whether it changed or not: what became of it is
// decided anew.
func forgetUnread(f *archive.Feed) {
	if f.Unread {
		f.ETag, f.LastModified, f.Body, f.Unread = "", "", feed.Digest{}, false
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// shown reports whether a poll has shown where the feed leads, if only by a refusal or by a public address that lets
// nobody in: neighbors are then all there is to read it by. A name that is not known may belong to an intranet that the
// owner is not in now.
func (s *subscription) shown() bool { return s.found || !s.LastSuccess.IsZero() }

// speakOf sees to it that the feed is advertised if it may be, and reports whether neighbors are to hear something
// new. It may not be before a poll has shown where it leads: a name that sounds public may belong to somebody's
// intranet.
func (n *Node) speakOf(s *subscription) (news bool) {
	s.kept, s.undecided = n.kept(&s.Feed)
	n.table.Weigh(s.URL, s.Weight)
	private, own := s.kept != "", s.kept == "" && s.shown() && s.Names == ""
	if s.Discreet {
		private, own = s.Confidential(), false
	}
	hidden := n.table.Private(s.URL, private)
	return n.table.Own(s.URL, own) || hidden
}

// unsubscribe ends following a feed. Its entries stay.
func (n *Node) unsubscribe(u feed.URL) {
	s := n.feeds[u]
	if s == nil {
		return
	}
	delete(n.feeds, u)
	n.hosts.Leave(s.queued)
	n.status.Feeds = len(n.feeds)
	s.Subscribed = false
	n.store.KeepFeed(s.Feed)
	n.table.Weigh(u, 1)
	if s.Discreet {
		return
	}
	n.hearsay.claims.Forget(u)
	followed := n.table.Own(u, false)
	if n.table.Private(u, s.Confidential()) || followed { // a node that follows it no more does not pass it on either
		n.advertiseSoon()
	}
}
