package poller

import (
	"feedex/archive"
	"feedex/feed"
	"feedex/node/internal/core"
)

// Entries that a feed published before it was followed are filled in unasked: after the first poll from its publisher's
// archive (RFC 5005 §4), where the document leads to one, and then from neighbors that have the feed. The core knows
// how far that is and keeps it; the host does one small step after another.

// pastPatience is after how many failed polls in a row neighbors are asked for the past all the same.
const pastPatience = 3

// wantedPast is the past to fill in of a feed that is followed from now on.
func (m *Machine) wantedPast() archive.Past {
	if m.Config.Backfill == 0 {
		return archive.Past{}
	}
	p := archive.Past{Stage: archive.PastPoll}
	if since := m.Now.Add(-m.Config.Backfill); since.Unix() > 0 {
		p.Since = since
	}
	return p
}

// beginPast notes where the past of the feed is to be found, once a poll has shown the document, or that there is none
// to be had. The caller keeps the feed.
func (m *Machine) beginPast(s *Subscription, doc *feed.Document) {
	p := &s.Past
	switch {
	case p.Stage != archive.PastPoll:
	case doc != nil && doc.PrevArchive != "":
		p.Stage, p.Page = archive.PastPublisher, doc.PrevArchive
	default:
		p.Stage = m.pastAfter(s, archive.PastNetwork)
	}
}

// pastAfter is the stage to go to, or the end where the owner forbids it: that neighbors are asked about the feed.
func (m *Machine) pastAfter(s *Subscription, stage archive.PastStage) archive.PastStage {
	if stage == archive.PastNetwork && (s.Discreet || m.Config.QueryNetwork == core.NeverNetwork) {
		return archive.PastDone
	}
	return stage
}

// Backfilled notes how far the host has come. Before the first poll that is where the publisher's archive begins, where
// the owner had the document read. Work for a subscription that has ended, or by which the past is no longer where it
// began, does not matter.
func (m *Machine) Backfilled(ev core.Backfilled) {
	s := m.Feeds[ev.Feed]
	if s == nil || s.Past != ev.From {
		return
	}
	s.Past = ev.Past
	s.Past.Stage = m.pastAfter(s, ev.Past.Stage)
	m.missPoll(s)
	m.Store.KeepFeed(s.Feed)
}

// pastStatus describes how far the past of the feed is filled in, nil where nothing is to be done about it and nothing
// is lacking. The past of a private feed is its owner's to ask for.
func (m *Machine) pastStatus(s *Subscription) *archive.Past {
	if s.Past.Stage == "" || s.Past.Stage == archive.PastDone && s.Past.Lack == "" || m.Config.Backfill == 0 ||
		s.kept != "" {
		return nil
	}
	past := s.Past
	return &past
}
