package poller

import (
	"maps"
	"slices"
	"strings"
	"time"

	"feedex/feed"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// Which feeds are polled for others follows from what neighbors of standing follow and hardly anybody polls. A node
// that polls a feed for others advertises it as its own, which has two consequences. Adverts alone would have each
// volunteer's neighbor volunteer for the same feed: hence a prospect is watched for a while, as its bundles and notices
// name the nodes that poll it. And two volunteers would poll for each other when nobody follows the feed any more:
// hence a feed is polled for those that followed it before the node did, and for nobody who came later. So who polls
// for whom leads to somebody who follows the feed, in no circle, and ends with them.

// A prospect is a feed that may be polled for others.
type prospect struct {
	feed    feed.URL
	since   time.Time
	pollers []protocol.NodeID // that were heard of, enoughPollers at most
}

// A formerly is a feed that was given up because its last patrons went.
type formerly struct {
	feed    feed.URL
	patrons []protocol.NodeID
}

const (
	// VolunteerWatch is for how long a feed is a prospect first: some intervals between polls.
	VolunteerWatch = 12 * time.Hour
	// maxProspects bounds the prospects, which neighbors may fill with what they like.
	maxProspects = 16
	// enoughPollers is by how many nodes a feed is polled that needs no volunteer, and metFor for how long it is no
	// prospect then.
	enoughPollers = 3
	metFor        = 7 * 24 * time.Hour
	// maxFormer bounds the feeds of which is known for whom they were polled.
	maxFormer = 1024
)

// reviewVolunteeringLater reviews what is polled for others once in an advert's time.
func (m *Machine) reviewVolunteeringLater() {
	m.After(m.Config.AdvertInterval, func() {
		m.reviewVolunteered()
		m.reviewProspects()
		m.reviewVolunteeringLater()
	})
}

// ofStanding reports whether feeds are polled for a neighbor: it has earned what shows that it is no stranger.
func (m *Machine) ofStanding(p *neighbors.Neighbor) bool {
	return !m.Ledger.OnProbation(m.Ledger.HolderOf(p.ID))
}

// follows reports whether a node of that id is among neighbors that follow a feed.
func follows(list []*neighbors.Neighbor, id protocol.NodeID) bool {
	return slices.ContainsFunc(list, func(n *neighbors.Neighbor) bool { return n.ID == id })
}

// reviewVolunteered gives up the feeds that no patron wants any more, and those that bring nothing. While there are no
// neighbors nobody can say what is wanted.
func (m *Machine) reviewVolunteered() {
	for _, u := range m.Volunteered() {
		s := m.Feeds[u]
		was := s.patrons
		m.reviewPatrons(s)
		switch {
		case m.Now.Sub(s.brought) > volunteerIdle:
			m.giveUp(s, volunteerRest)
		case len(s.patrons) == 0:
			m.noteFormer(u, was)
			m.giveUp(s, 0)
		case len(s.patrons) < len(was):
			m.keepPatrons(s)
		}
	}
}

// reviewPatrons notes which patrons still follow the feed, and lets go of those that do not.
func (m *Machine) reviewPatrons(s *Subscription) {
	var left []patron
	followers := m.Table.Followers(s.URL)
	for _, p := range s.patrons {
		if len(m.Links) == 0 || follows(followers, p.id) {
			p.was = m.Now
		}
		if m.Now.Sub(p.was) <= VolunteerPatience {
			left = append(left, p)
		}
	}
	s.patrons = left
}

// noteFormer remembers for whom a feed was polled, in place of what was remembered of it, or of the oldest.
func (m *Machine) noteFormer(u feed.URL, patrons []patron) {
	f := formerly{feed: u}
	for _, p := range patrons {
		f.patrons = append(f.patrons, p.id)
	}
	list := slices.DeleteFunc(m.forOthers.former, func(other formerly) bool { return other.feed == u })
	m.forOthers.former = append(list[max(0, len(list)-maxFormer+1):], f)
}

// keepPatrons keeps for whom a feed is polled.
func (m *Machine) keepPatrons(s *Subscription) {
	var texts []string
	for _, p := range s.patrons {
		texts = append(texts, p.id.String())
	}
	s.Patrons = strings.Join(texts, " ")
	m.Store.KeepFeed(s.Feed)
}

// reviewProspects begins to poll prospects whose time has come, and fills their places with others.
func (m *Machine) reviewProspects() {
	v := &m.forOthers
	maps.DeleteFunc(v.met, func(_ feed.URL, at time.Time) bool { return m.Now.Sub(at) >= metFor })
	unmet := m.Table.Unmet(m.Rng, m.ofStanding)
	wanted := make(map[feed.URL]bool, len(unmet))
	for _, d := range unmet {
		wanted[d.Feed] = true
	}
	places := m.Config.Volunteer - len(m.Volunteered())
	v.prospects = slices.DeleteFunc(v.prospects, func(p prospect) bool {
		over := places <= 0 || !wanted[p.feed] || !m.mayVolunteer(p.feed)
		switch {
		case over:
		case m.prospectPollers(&p) >= enoughPollers:
			v.met[p.feed], over = m.Now, true
		case m.ripe(&p):
			m.volunteer(p.feed)
			places, over = places-1, true
		}
		if over {
			m.Table.Prospect(p.feed, false)
		}
		return over
	})
	for _, d := range unmet {
		if len(v.prospects) == maxProspects || places <= 0 {
			return
		}
		if m.mayWatch(d.Feed) {
			v.prospects = append(v.prospects, prospect{feed: d.Feed, since: m.Now})
			m.Table.Prospect(d.Feed, true)
		}
	}
}

// ripe reports whether the node begins now to poll a prospect for others: it was watched for long enough, or somebody
// is back for whom it was polled before. What the owner follows discreetly it never does.
func (m *Machine) ripe(p *prospect) bool {
	known := m.Known(p.feed)
	if known.Discreet || m.tests(hostOf(p.feed)) || neverRead(&known) && m.newLeft() <= 0 {
		return false
	}
	if m.Now.Sub(p.since) >= VolunteerWatch {
		return true
	}
	followers := m.Table.Followers(p.feed)
	back := func(id protocol.NodeID) bool { return follows(followers, id) }
	return slices.ContainsFunc(m.forOthers.former, func(f formerly) bool {
		return f.feed == p.feed && slices.ContainsFunc(f.patrons, back)
	})
}

// mayWatch reports whether a feed that neighbors want may become a prospect.
func (m *Machine) mayWatch(u feed.URL) bool {
	v := &m.forOthers
	isOne := func(p prospect) bool { return p.feed == u }
	return v.met[u].IsZero() && !slices.ContainsFunc(v.prospects, isOne) && m.mayVolunteer(u)
}

// prospectPollers counts the nodes that poll a prospect, which this one does not, as far as is known: neighbors that
// follow it, and those of which bundles and notices tell.
func (m *Machine) prospectPollers(p *prospect) int {
	followers := m.Table.Followers(p.feed)
	count := len(followers)
	for _, id := range p.pollers {
		if !follows(followers, id) {
			count++
		}
	}
	return count
}

// prospectPolled notes that a node polled a feed, where that is a prospect.
func (m *Machine) prospectPolled(h *core.PollHeard) {
	for i := range m.forOthers.prospects {
		p := &m.forOthers.prospects[i]
		if p.feed == h.Feed && len(p.pollers) < enoughPollers && !m.Is(h.Origin) &&
			!slices.Contains(p.pollers, h.Origin) && h.Proven() {
			p.pollers = append(p.pollers, h.Origin)
		}
	}
}
