package exchange

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// Notices tell those who follow a feed that somebody polled it, so that they need not (polling.Silence). They go from
// follower to follower as bundles do, are worth nothing, and a node that lies with them moves polls of others a little.

// A notice is a protocol.Notice with a time of our own clock.
type notice struct {
	protocol.Notice
	at time.Time // of the poll
}

// fewFollowers is with how many neighbors that follow a feed those that relay it hear of polls as well.
const fewFollowers = 2

// relays reports whether a poll of a feed that the node does not follow is news to those for whom it relays it.
func (m *Machine) relays(u feed.URL, at time.Time) bool {
	last := m.Gossip.polls[u]
	if !m.Table.Wanted(u, nil) || at.Sub(last.at) < max(leastNoticeWait, last.gap/noticePart) {
		return false
	}
	if len(m.Gossip.polls) >= maxTold {
		clear(m.Gossip.polls)
	}
	if gap := at.Sub(last.at); last.at.IsZero() {
		last.gap = 0
	} else if last.gap == 0 {
		last.gap = gap
	} else {
		last.gap += (gap - last.gap) / 8
	}
	last.at = at
	m.Gossip.polls[u] = last
	return true
}

// spacing is the usual time between polls of a feed by anybody.
func (m *Machine) spacing(u feed.URL) time.Duration {
	if m.feeds.Open(u) {
		return m.feeds.Spacing(u)
	}
	return m.Gossip.polls[u].gap
}

type relayedPolls struct {
	at  time.Time
	gap time.Duration
}

// Announce tells neighbors that the node polled a feed when it did, with so many new entries.
func (m *Machine) Announce(u feed.URL, at time.Time, fresh int) {
	m.notify(notice{protocol.Notice{Feed: u, New: fresh}, at}, protocol.NodeID{})
}

// Learned tells a neighbor of which it is known now what calls it has how it stands with us, and of our latest polls.
func (m *Machine) Learned(to *core.Link) {
	m.StateAccount(to)
	if !to.Notices {
		return
	}
	l := Of(to)
	for _, p := range m.feeds.LatestPolls() {
		if hops, ok := l.Peer.Hops(p.Feed); ok && hops == 0 && m.interested(l, p.Feed) {
			m.queueNotice(l, notice{protocol.Notice{Feed: p.Feed}, p.At}, 0, leastNoticeWait)
		}
	}
}

// notify queues the notice for the neighbors that follow the feed, or where none does for those that relay it to one
// that does; not for from, which told it.
func (m *Machine) notify(n notice, from protocol.NodeID) {
	if m.feeds.Private(n.Feed) || m.feeds.Discreet(n.Feed) {
		return
	}
	var to, relays []*link
	for _, p := range m.Table.Interested(n.Feed) {
		l := Of(m.LinkOf(p))
		if hops, _ := p.Hops(n.Feed); l.Notices && p.ID != from && !slices.Contains(n.Path, p.ID) {
			switch hops {
			case 0:
				to = append(to, l)
			case 1:
				relays = append(relays, l)
			}
		}
	}
	if len(to) < fewFollowers && m.feeds.Open(n.Feed) {
		to = append(to, relays...)
	}
	gap := m.spacing(n.Feed)
	wait := leastNoticeWait
	if len(n.Path) > 0 {
		wait = min(max(gap/noticePart, leastNoticeWait), mostNoticeWait)
		wait = m.Between(wait/2, 3*wait/2)
	}
	for _, l := range to {
		m.queueNotice(l, n, gap/noticePart, wait)
	}
}

// queueNotice has the neighbor hear of a poll, unless one of the two has told the other of one about as late. It can
// wait for a part of the usual gap between polls of the feed: others may go with it.
func (m *Machine) queueNotice(l *link, n notice, same, wait time.Duration) {
	if n.at.Sub(l.told[n.Feed]) <= same {
		return
	}
	l.tell(n.Feed, n.at)
	l.notices = slices.DeleteFunc(l.notices, func(other notice) bool { return other.Feed == n.Feed })
	l.notices = append(l.notices, n)
	due := m.Now.Add(wait)
	if l.noticesDue.IsZero() || due.Before(l.noticesDue) {
		l.noticesDue = due
		m.At(due, func() {
			if l.noticesDue.Equal(due) {
				m.sendNotices(l)
			}
		})
	}
}

// leastNoticeWait and mostNoticeWait bound how long a notice waits for others.
const (
	leastNoticeWait = time.Second
	mostNoticeWait  = 3 * time.Minute
	noticePart      = 10
)

// maxTold bounds the feeds of which is known what a neighbor knows.
const maxTold = 1024

// tell notes that the neighbor knows of a poll.
func (l *link) tell(u feed.URL, at time.Time) {
	if l.told == nil || len(l.told) >= maxTold {
		l.told = make(map[feed.URL]time.Time)
	}
	if at.After(l.told[u]) {
		l.told[u] = at
	}
}

// takeNotices takes what the neighbor is to hear out of its queue, as much as one call holds.
func (m *Machine) takeNotices(l *link) (list []protocol.Notice) {
	bytes := 0
	if !l.Notices {
		return nil
	}
	for len(l.notices) > 0 && len(list) < protocol.MaxNotices {
		n := l.notices[0]
		if bytes += n.WireBytes(); bytes > protocol.MaxNoticeBytes {
			break
		}
		l.notices = l.notices[1:]
		m.Counters.NoticesSent++
		if n.Age = m.Now.Sub(n.at).Truncate(time.Second); m.interested(l, n.Feed) {
			list = append(list, n.Notice)
		}
	}
	return list
}

// sendNotices tells a neighbor what waits for it.
func (m *Machine) sendNotices(l *link) {
	l.noticesDue = time.Time{}
	for !l.Over {
		list := m.takeNotices(l)
		if len(list) == 0 {
			return
		}
		m.Ask(l.Link, protocol.Polled{Notices: list}, core.CallTimeout, func(core.Answered) {})
	}
}

// Noticed takes in what a neighbor says of polls, and passes on what is news here.
func (m *Machine) Noticed(from *core.Link, list []protocol.Notice) {
	for i := range list {
		m.noticed(Of(from), list[i])
	}
}

func (m *Machine) noticed(l *link, n protocol.Notice) {
	m.Counters.NoticesHeard++
	at := m.Now.Add(-n.Age)
	l.tell(n.Feed, at)
	same := m.spacing(n.Feed) / noticePart
	l.notices = slices.DeleteFunc(l.notices, func(waiting notice) bool {
		return waiting.Feed == n.Feed && waiting.at.Sub(at) <= same
	})
	if !m.Self.IsZero() && slices.Contains(n.Path, m.Self) || len(n.Path) >= protocol.MaxPath {
		return
	}
	if m.feeds.Open(n.Feed) {
		if !m.feeds.Heard(n.Feed, n.Origin(l.ID()), at) {
			return
		}
	} else if !m.relays(n.Feed, at) {
		return
	}
	n.Path = append(slices.Clip(n.Path), l.ID())
	m.notify(notice{n, at}, l.ID())
}
