package poller

import (
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/feed"
	"feedex/internal/when"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// A volunteered feed is one that the owner does not follow, and that the node polls for neighbors who want it. It is
// polled and spoken of as one that is followed, and its entries are kept as those that are relayed. What neighbors name
// may be anything: so each address is asked for once to find out whether it is a feed, and never again where it is
// none; and a publisher who refuses a node, or wants fewer requests, is asked by no volunteer.

// A patron is a neighbor for which a feed is polled.
type patron struct {
	id  protocol.NodeID
	was time.Time // when it last followed the feed
}

const (
	// VolunteersADay is with how many feeds a day the node begins that it never asked for, and volunteersEach how many
	// it polls at a host.
	VolunteersADay = 4
	volunteersEach = 2
	// VolunteerPatience is for how long nobody may want a volunteered feed: neighbors come and go. volunteerIdle is for
	// how long it may bring nothing.
	VolunteerPatience = time.Hour
	volunteerIdle     = 7 * 24 * time.Hour
	// volunteerRest is for how long the node does not poll a feed for others that brought nothing.
	volunteerRest = 30 * 24 * time.Hour
	// refusalLasts is for how long nothing is volunteered at a host that refused a poll, or wanted fewer.
	refusalLasts = 90 * 24 * time.Hour
)

// volunteering is what the node knows of what it may poll for others.
type volunteering struct {
	begun     []time.Time          // with feeds that it never asked for before, within a day
	refused   map[string]time.Time // hosts that refused a poll, and until when that counts
	untested  map[string]bool      // hosts of which an address was asked for, and has given no feed
	prospects []prospect
	met       map[feed.URL]time.Time // prospects that enough nodes poll, and when that was found out
	former    []formerly             // the oldest first
}

// followed is the subscription of a feed that the owner follows, nil for any other.
func (m *Machine) followed(u feed.URL) *Subscription {
	if s := m.Feeds[u]; s != nil && !s.volunteered() {
		return s
	}
	return nil
}

// volunteered reports whether the feed is polled for others alone.
func (s *Subscription) volunteered() bool { return !s.Volunteered.IsZero() }

// untested reports whether the feed is volunteered, and no poll has shown yet that it is one.
func (s *Subscription) untested() bool { return s.volunteered() && untested(&s.Feed) }

// untested reports whether the node asked for the feed as a volunteer, and no poll has ever shown that it is one.
func untested(f *archive.Feed) bool { return !f.Tried.IsZero() && f.LastSuccess.IsZero() }

// Volunteered are the feeds that are polled for others, sorted.
func (m *Machine) Volunteered() (list []feed.URL) {
	for u, s := range m.Feeds {
		if s.volunteered() {
			list = append(list, u)
		}
	}
	slices.Sort(list)
	return list
}

// resumeVolunteering takes up what the last run polled for others, as many feeds as the owner wants now.
func (m *Machine) resumeVolunteering(feeds []archive.Feed) {
	m.forOthers = volunteering{refused: make(map[string]time.Time), untested: make(map[string]bool),
		met: make(map[feed.URL]time.Time)}
	count := 0
	for _, f := range feeds {
		m.noteRefused(&f)
		if untested(&f) {
			m.forOthers.untested[hostOf(f.URL)] = true
		}
		if m.Now.Sub(f.Tried) < 24*time.Hour {
			m.forOthers.begun = append(m.forOthers.begun, f.Tried)
		}
	}
	for _, f := range feeds {
		if f.Volunteered.IsZero() || f.Subscribed {
			continue
		}
		if count == m.Config.Volunteer || untested(&f) || !m.mayAsk(&f) {
			f.Volunteered = time.Time{}
			m.Store.KeepFeed(f)
			continue
		}
		count++
		m.resume(f)
		s := m.Feeds[f.URL]
		s.brought = f.Volunteered
		for _, text := range strings.Fields(f.Patrons) {
			if id, err := protocol.ParseNodeID(text); err == nil {
				s.patrons = append(s.patrons, patron{id, m.Now})
			}
		}
		if last := m.Store.Arrivals(f.URL, 1); len(last) > 0 {
			s.brought = when.Later(s.brought, time.Unix(last[0].Seen, 0))
		}
	}
	if m.Config.Volunteer > 0 {
		m.reviewVolunteeringLater()
	}
}

// noteRefused notes when a feed was refused for its hosts.
func (m *Machine) noteRefused(f *archive.Feed) {
	until := f.Refused.Add(refusalLasts)
	for _, host := range hostsOf(f) {
		if until.After(m.Now) {
			m.forOthers.refused[host] = when.Later(m.forOthers.refused[host], until)
		}
	}
}

// hostsOf are the hosts that a poll of a feed asks, as far as is known.
func hostsOf(f *archive.Feed) []string {
	hosts := []string{hostOf(f.URL)}
	for _, host := range []string{hostOf(f.At(f.URL)), f.Lands} {
		if host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// hostOf is the host of an address as hosts are compared.
func hostOf(u feed.URL) string { return feed.HostName(u.Host()) }

// mayVolunteer reports whether the node may poll a feed for others that it does not poll. To all others it may as well
// where its owner follows the feed discreetly.
func (m *Machine) mayVolunteer(u feed.URL) bool {
	host := hostOf(u)
	if m.Open(u) || m.forOthers.untested[host] && !m.tests(host) || m.Now.Before(m.forOthers.refused[host]) ||
		m.volunteeredAt(host) >= volunteersEach || !m.outage.Since().IsZero() {
		return false
	}
	f := m.Known(u)
	f.URL = u
	if m.followed(f.Became) != nil {
		return false // it has its publisher's word already, by another name
	}
	return m.mayAsk(&f) && !m.Now.Before(f.Rests)
}

// mayAsk reports whether a feed that the owner does not follow may be asked for, as far as its address and what is
// known of it say. What the owner once kept from others is not, nor what was asked for and gave no feed.
func (m *Machine) mayAsk(f *archive.Feed) bool {
	return !m.PrivateURL(f.URL) && !f.Confidential() && (f.Discreet || !f.Ended &&
		(f.LastPoll.IsZero() || !f.LastSuccess.IsZero()))
}

// tests reports whether a first poll is under way at a host that is to show whether there is a feed.
func (m *Machine) tests(host string) bool {
	for _, s := range m.Feeds {
		if s.untested() && hostOf(s.URL) == host {
			return true
		}
	}
	return false
}

// volunteeredAt counts the feeds of a host that are polled for others.
func (m *Machine) volunteeredAt(host string) (count int) {
	for _, s := range m.Feeds {
		if s.volunteered() && hostOf(s.URL) == host {
			count++
		}
	}
	return count
}

// neverRead reports whether no poll of a feed ever gave a document.
func neverRead(f *archive.Feed) bool { return f.LastSuccess.IsZero() }

// newLeft is with how many feeds the node may begin now that it never asked for.
func (m *Machine) newLeft() int {
	v := &m.forOthers
	v.begun = slices.DeleteFunc(v.begun, func(t time.Time) bool { return m.Now.Sub(t) >= 24*time.Hour })
	return VolunteersADay - len(v.begun)
}

// volunteer begins to poll a feed for others: for those neighbors of standing that follow it now.
func (m *Machine) volunteer(u feed.URL) {
	f := m.Known(u)
	fresh := neverRead(&f)
	f.URL, f.Volunteered, f.Errors, f.LastError, f.Names, f.Page = u, m.Now, 0, "", "", ""
	f.Past = archive.Past{}
	forgetUnread(&f)
	if fresh {
		f.Tried, f.NextPoll = m.Now, m.Now
		m.forOthers.begun = append(m.forOthers.begun, m.Now)
		m.forOthers.untested[hostOf(u)] = true
	}
	news := m.resume(f)
	s := m.Feeds[u]
	s.brought = m.Now
	for _, p := range m.Table.Followers(u) {
		if m.ofStanding(p) {
			s.patrons = append(s.patrons, patron{p.ID, m.Now})
		}
	}
	m.keepPatrons(s)
	if news {
		m.membership.AdvertiseSoon()
	}
}

// giveUp polls a feed for others no more, nor begins to for so long. It is relayed from then on as others are.
func (m *Machine) giveUp(s *Subscription, rest time.Duration) {
	m.stopPolling(s)
	s.Volunteered, s.Patrons, s.Rests = time.Time{}, "", m.Now.Add(rest)
	m.Store.KeepFeed(s.Feed)
	m.exchange.Forget(s.URL)
	spoken := m.Table.Volunteer(s.URL, false)
	if m.Table.Private(s.URL, s.Confidential()) || spoken {
		m.membership.AdvertiseSoon()
	}
}

// volunteerPolled notes that a poll for others brought so many new entries. The first shows that there is a feed.
func (m *Machine) volunteerPolled(s *Subscription, fresh int) {
	if fresh > 0 {
		s.brought = m.Now
	}
	if m.speakOf(s) {
		m.membership.AdvertiseSoon()
	}
}

// unfit reports whether a poll ended so that the feed is polled for others no more: its publisher says that it is to be
// kept, is gone, or lets nodes come less, or there is no feed.
func (m *Machine) unfit(s *Subscription, ev *core.Fetched) bool {
	fit := s.kept == "" && !refuses(s, ev) && ev.Status != courtesy.Gone
	if ev.Status == courtesy.Gone {
		s.Ended = true
	}
	if s.untested() && fit && ev.Err == nil {
		delete(m.forOthers.untested, hostOf(s.URL))
		return false
	}
	return !fit || s.untested()
}

// refuses reports whether an answer says that nodes are not wanted there, or less often.
func refuses(s *Subscription, ev *core.Fetched) bool {
	switch ev.Status {
	case courtesy.Unauthorized, courtesy.Forbidden, courtesy.TooMany:
		return true
	}
	return ev.RetryAfter > 0 || s.Private && !ev.Local
}

// noteRefusal notes that a publisher refused a poll, whomever that was for. What is polled for others at its hosts is
// given up: nobody is to get round a refusal by having others ask.
func (m *Machine) noteRefusal(s *Subscription, ev *core.Fetched) {
	if s.Discreet || !refuses(s, ev) {
		return
	}
	s.Refused = m.Now
	m.noteRefused(&s.Feed)
	for _, u := range m.Volunteered() {
		if other := m.Feeds[u]; other != s && m.Now.Before(m.forOthers.refused[hostOf(u)]) {
			m.giveUp(other, 0)
		}
	}
}
