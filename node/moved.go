package node

import (
	"strings"
	"time"

	"feedex/feed"
)

const (
	// movedPolls and movedFor are how often, and over which time, a feed must be redirected for good to the same
	// address until it is asked for there. Whoever breaks into one answer must not own the feed.
	movedPolls = 3
	movedFor   = 24 * time.Hour
	// aliasFails is how many failures in a row end that.
	aliasFails = 3
)

// noteMoved takes note of where a poll was redirected for good (RFC 9110 §15.4.2, §15.4.9), and after a while asks
// there at once. Entries keep the name of the feed that they were published under.
func (n *Node) noteMoved(s *subscription, ev Fetched) {
	switch to := ev.Moved; {
	case to == "" || secure(s.URL) && !secure(to):
		s.Moved, s.MovedSeen, s.MovedSince = "", 0, time.Time{}
		return
	case to != s.Moved:
		s.Moved, s.MovedSeen, s.MovedSince = to, 1, n.now
		return
	}
	if s.MovedSeen++; s.MovedSeen < movedPolls || n.now.Sub(s.MovedSince) < movedFor {
		return
	}
	if s.Alias = s.Moved; s.Alias == s.URL {
		s.Alias = "" // back again
	}
	s.Moved, s.MovedSeen, s.MovedSince = "", 0, time.Time{}
	s.host = n.hostOf(&s.Feed)
}

// forgetAlias asks for a feed under its own name again where its new address does not work: the old one may know
// better by now. Validators are the new address's, and would mean something else there.
func (n *Node) forgetAlias(s *subscription, ev Fetched) {
	if s.Alias == "" || ev.Status != gone && s.Errors < aliasFails {
		return
	}
	s.Alias, s.Moved, s.MovedSeen, s.MovedSince = "", "", 0, time.Time{}
	s.ETag, s.LastModified, s.Body = "", "", feed.Digest{}
	s.host = n.hostOf(&s.Feed)
}

func secure(u feed.URL) bool { return strings.HasPrefix(string(u), "https:") }
