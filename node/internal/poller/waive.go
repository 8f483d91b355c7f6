package poller

import (
	"feedex/archive"
	"feedex/node/internal/core"
	"feedex/polling"
	"feedex/protocol"
)

// A first poll is waived where neighbors have the feed already: what comes out from then on comes in their bundles, and
// what its document lists with the feed's past, which is filled in from them at once. Addresses that come in a list
// wait for that, up to spreadStart; one that the owner enters is looked at in any case. The word of one owner counts
// for nothing, and where those who say that they have the feed bring nothing of it, it is polled after all.

// await has the first poll of a feed wait until neighbors can have said that they follow it. Where there are none to
// come, or neighbors may not know of the feed, nobody is waited for.
func (m *Machine) await(s *Subscription) {
	if s.awaits = m.waivable(s); s.awaits {
		m.PollAt(s, m.Now.Add(m.pollBetween(s, 0, spreadStart)))
	}
}

// waivable reports whether neighbors can do without the first poll of the feed. Where addresses that are not public
// count they cannot, as nothing but a poll shows then whether the feed is somebody's own.
func (m *Machine) waivable(s *Subscription) bool {
	return m.shared(s) && s.LastPoll.IsZero() && s.Interval == 0 && s.Past.Stage == archive.PastPoll &&
		m.Config.QueryNetwork != core.NeverNetwork && !m.Config.AllowLocal &&
		len(m.Links)+len(m.Config.Trackers) > 0
}

// hasElsewhere reports whether neighbors of two networks say that they follow the feed, or have it from somebody who
// does.
func (m *Machine) hasElsewhere(s *Subscription) bool {
	var one protocol.Network
	for _, p := range m.Table.Interested(s.URL) {
		if hops, ok := p.Hops(s.URL); !ok || hops > 1 {
			continue
		}
		switch network := p.ID.Network(); {
		case one.IsZero():
			one = network
		case network != one:
			return true
		}
	}
	return false
}

// leavesToOthers reports whether the poll that fell due may be waived. Neighbors may name what is in somebody's
// intranet, so the host first looks up where the feed's name leads.
func (m *Machine) leavesToOthers(s *Subscription) bool {
	if !s.awaits || !m.waivable(s) || !m.hasElsewhere(s) {
		s.awaits = false
		return false
	}
	m.PollAt(s, m.Now.Add(Unfinished))
	m.Do(core.Fetch{Feed: s.URL, Locate: true})
	return true
}

// located waives the first poll of a feed whose name leads to the public Internet, or has it polled now. The phase of
// all later polls is drawn from the whole interval: nobody was asked yet, and others that start now wait as well.
func (m *Machine) located(s *Subscription, public bool) {
	if m.Left || s == nil || !s.awaits {
		return
	}
	s.awaits = false
	if !public || !m.waivable(s) || !m.hasElsewhere(s) {
		m.PollAt(s, m.Now)
		return
	}
	m.Counters.PollsWaived++
	s.found, s.waived = true, m.Now
	s.Interval = min(polling.MostStretch*s.PollPolicy.First(), s.PollPolicy.Longest())
	m.beginPast(s, nil)
	wait := m.pollBetween(s, 0, s.Interval)
	s.chorus.Began = m.Now.Add(wait - s.Interval)
	m.PollAt(s, m.Now.Add(wait))
	if m.speakOf(s) {
		m.membership.AdvertiseSoon()
	}
	m.Store.KeepFeed(s.Feed)
	m.Tell(core.Waived{Feed: s.URL, Next: s.NextPoll})
}

// missPoll has a feed polled whose first poll was waived, where those who were to have it have brought nothing of it.
func (m *Machine) missPoll(s *Subscription) {
	if !s.waived.IsZero() && s.LastPoll.IsZero() && s.Past.Filled == 0 {
		if !s.missed {
			s.missed = true
			m.Counters.PollsWaived--
		}
		m.PollAt(s, m.Now)
	}
}
