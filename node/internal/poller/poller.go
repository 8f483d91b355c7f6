// Package poller is the machine that asks publishers: which feeds are followed and how, when each is due, what its
// document shows, and what is missing of it. It tells the exchange what a poll brought.
package poller

import (
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/protocol"
	"feedex/trust"
)

// Exchange is the part of the exchange of entries that the poller needs.
type Exchange interface {
	// Polled holds what neighbors say of a feed against a poll of it that just ended.
	Polled(p trust.OwnPoll)
	// Announce tells neighbors that the node polled a feed when it did, with so many new entries.
	Announce(p core.AnnouncedPoll)
	// Publish offers what a poll of a feed brought first, and the revisions that it showed.
	Publish(u feed.URL, fresh, revised []feed.Entry)
	// ShownOf notes that polls have listed what neighbors had brought.
	ShownOf(shares []archive.Share)
	// Forget drops what neighbors said of a feed that no poll will judge any more.
	Forget(u feed.URL)
	// TellStars tells neighbors of the owner's stars, as far as they are to hear of them.
	TellStars()
}

// Membership is the part of the node's membership in the network that the poller needs.
type Membership interface {
	// AdvertiseSoon tells all neighbors of a change of our own interest.
	AdvertiseSoon()
	// NoteNodes remembers nodes that a source named.
	NoteNodes(source neighbors.Origin, list []protocol.NodeID)
	// FirstSeen counts entries of a feed that a poll lists and the last did not: so many it brought first itself, and
	// others neighbors, at those times.
	FirstSeen(u feed.URL, lastPoll time.Time, polled int, brought []time.Time)
}

// A Machine polls the feeds that the owner follows, and those that neighbors want polled. Make one with New.
type Machine struct {
	*core.Core
	exchange   Exchange
	membership Membership

	Feeds     map[feed.URL]*Subscription // that are polled, for the owner or for others
	led       map[feed.URL]bool          // addresses that led to a feed in this run: whether that was followed before
	hosts     *courtesy.HostQueues       // where they are polled
	outage    courtesy.Outage            // whether our network works
	merits    merits                     // what told polls were worth
	forOthers volunteering               // which feeds are polled for others, and may be
}

// New returns a machine that follows nothing yet.
func New(c *core.Core) *Machine {
	m := &Machine{
		Core: c, Feeds: make(map[feed.URL]*Subscription), led: make(map[feed.URL]bool),
		merits: merits{pollers: make(map[protocol.NodeID]merit), bearers: make(map[protocol.NodeID]merit)},
		outage: courtesy.NewOutage(c.Unseen),
	}
	m.hosts = courtesy.NewHostQueues(c.Unseen, m.privateHost)
	return m
}

// Start takes up the feeds that the archive keeps, with their due times, and what is known of their hosts.
func (m *Machine) Start(feeds []archive.Feed, x Exchange, s Membership) {
	m.exchange, m.membership = x, s
	for _, f := range feeds {
		if f.Subscribed {
			m.resume(f)
		} else {
			m.Table.Private(f.URL, f.Confidential())
		}
	}
	m.resumeVolunteering(feeds)
	m.loadHosts()
}

// usualRoom is how much room an entry may always take of which the feed brings one: some three kilobytes of text.
const usualRoom = 20_000

// Volume is how much a feed brings, as far as own polls have shown.
func (m *Machine) Volume(u feed.URL) (v incentive.DailyVolume) {
	if s := m.openly(u); s != nil && s.Volume.Text > 0 {
		v.Entries, v.Room = s.Volume.Daily, max(archive.Room(2*s.Volume.Text), usualRoom)
		v.Polled = s.LastSuccess
	}
	return v
}

// Brought takes in what neighbors brought first of a feed, which may be followed or not.
func (m *Machine) Brought(u feed.URL, fresh []archive.Record) {
	s := m.Feeds[u]
	if s == nil {
		return
	}
	s.delivered += int64(len(fresh))
	m.fill(s, fresh)
	if s.volunteered() {
		s.brought = m.Now
	}
}

// Filled counts entries of the past that came from others against the gap of their feed, which may be followed or not.
func (m *Machine) Filled(u feed.URL, records []archive.Record) {
	if s := m.Feeds[u]; s != nil {
		m.fill(s, records)
	}
}

// fill counts entries that arrived against the gap of their feed, if there is one. All ways that bring entries may call
// it.
func (m *Machine) fill(s *Subscription, arrived []archive.Record) {
	if s.Gap.Open() {
		m.narrow(s, arrived)
	}
}
