package poller

import (
	"cmp"

	"feedex/courtesy"
	"feedex/feed"
	"feedex/node/internal/core"
)

// A feed that moves for good while it is read, to another spelling of its address, goes by that name, as it does where
// it moved before (see isNew): neighbors that come to it later know it by no other. Its entries are others to them,
// and what they say of it begins anew. What moves farther keeps its name: who owns one feed could put what they like
// into the past of another.

// noteMoved takes note of where a poll was redirected for good. After a while the feed is asked for there at once, and
// noteMoved reports whether it is to have that name as well, as a whole document shows.
func (m *Machine) noteMoved(s *Subscription, d *taken) (named bool) {
	was := s.Move
	if !s.Redirected(m.Now, s.URL, d.Moved) {
		return false
	}
	if !d.Named || was.Alias != "" || s.Alias == "" || s.Discreet || s.kept != "" || s.volunteered() {
		m.rehost(s)
		return false
	}
	if d.Document == nil || d.Partial {
		s.Move, s.ETag, s.LastModified, s.Body = was, "", "", feed.Digest{}
		return false
	}
	m.rehost(s)
	return len(d.fresh) < d.all // else it may be another feed
}

// rename gives a feed the name by which it is asked for, with what is here of it, where the archive can do so.
func (m *Machine) rename(s *Subscription, d *taken) {
	from, to := s.URL, s.Alias
	if !m.Store.Rename(m.Now, from, to, d.Document.Entries) {
		return
	}
	if other := m.Feeds[to]; other != nil { // it was polled for others by that name
		m.stopPolling(other)
		m.Table.Volunteer(to, false)
	}
	m.stopPolling(s)
	m.speakNoMore(s)
	f := s.Feed
	f.URL, f.Move, f.Lands = to, courtesy.Move{Former: from}, ""
	if f.Page = cmp.Or(s.Page, from); f.Page == to { // it is back where it was
		f.Page = ""
	}
	m.resume(f)
	m.Store.KeepFeed(m.Feeds[to].Feed)
	m.membership.AdvertiseSoon()
	m.exchange.TellStars()
	m.Tell(core.Replaced{Page: from, Feed: to})
}
