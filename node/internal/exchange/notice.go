package exchange

import (
	"maps"
	"slices"
	"time"

	"feedex/feed"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// Notices tell those who follow a feed that somebody polled it, so that they need not (polling.Silence). They go from
// follower to follower as bundles do, are worth nothing, and a node that lies with them moves polls of others a little.
// Of polls that brought something new the bundle tells: a node that keeps what it finds takes no turn from others.

// A notice is a protocol.Notice with a time of our own clock.
type notice struct {
	protocol.Notice
	at time.Time // of the poll
}

const (
	// fewFollowers is with how many neighbors that follow a feed those that relay it need not hear of polls as well.
	fewFollowers = 2
	// A notice that is passed on waits for others that go the same way for a part of the usual time between polls of
	// its feed, within bounds, and up to three times as long. One of an own poll would hardly find company.
	waitPart        = 20
	leastNoticeWait = time.Second
	mostNoticeWait  = time.Minute
	// newsPart is by what part of that time a poll must be later than the latest of which a neighbor knows, for others
	// to tell it. Who polled tells it in any case.
	newsPart = 2
	// maxTalks bounds the feeds of whose polls is known what a neighbor knows, and the notices that wait for it.
	maxTalks = 1024
	// forgedFor is for how long nothing that others signed is heard of a neighbor that brought a forged signature.
	forgedFor = time.Minute
	// forgottenAfter is when there may be room for other feeds.
	forgottenAfter = 24 * time.Hour
)

// Announce tells neighbors of an own poll.
func (m *Machine) Announce(p core.AnnouncedPoll) { m.notify(m.ownNotice(p), protocol.NodeID{}) }

// ownNotice is the notice of an own poll.
func (m *Machine) ownNotice(p core.AnnouncedPoll) notice {
	n := notice{protocol.Notice{Feed: p.Feed, New: p.New}, p.At}
	n.Sign(m.Config.Key, p.At)
	return n
}

// Learned tells a neighbor of which it is known now what calls it has how it stands with us, and of our latest polls.
func (m *Machine) Learned(to *core.Link) {
	m.StateAccount(to)
	mine := m.starsToTell()
	m.tellStars(Of(to), mine, starRounds)
	if !to.Notices {
		return
	}
	l := Of(to)
	for _, p := range m.feeds.LatestPolls() {
		if hops, ok := l.Peer.Hops(p.Feed); ok && hops == 0 && m.interested(l, p.Feed) {
			m.queueNotice(l, m.ownNotice(p), leastNoticeWait, 0)
		}
	}
}

// spacing is the usual time between polls of a feed by anybody, zero while that is not known.
func (m *Machine) spacing(u feed.URL) time.Duration {
	if m.feeds.Open(u) {
		return m.feeds.Spacing(u)
	}
	return m.Gossip.polls[u].gap
}

// relayedPolls are the polls of a feed that the node relays.
type relayedPolls struct {
	at  time.Time     // the latest
	gap time.Duration // between them, averaged
}

// relays reports whether a poll of a feed that the node does not follow is news to those for whom it relays it.
func (m *Machine) relays(u feed.URL, at time.Time, verify func() bool) bool {
	last := m.Gossip.polls[u]
	gap := at.Sub(last.at)
	if !m.Table.Wanted(u, nil) || gap < max(leastNoticeWait, last.gap/newsPart) || !verify() {
		return false
	}
	if len(m.Gossip.polls) >= maxTalks {
		clear(m.Gossip.polls)
	}
	switch {
	case last.at.IsZero():
	case last.gap == 0:
		last.gap = gap
	default:
		last.gap += (gap - last.gap) / 8
	}
	last.at = at
	m.Gossip.polls[u] = last
	return true
}

// notify queues the notice for the neighbors that follow the feed, or where none does for those that relay it to one
// that does; not for from, which told it.
func (m *Machine) notify(n notice, from protocol.NodeID) {
	if m.feeds.Private(n.Feed) {
		return
	}
	var followers, relays []*link
	for _, p := range m.Table.Interested(n.Feed) {
		l := Of(m.LinkOf(p))
		if hops, _ := p.Hops(n.Feed); l.Notices && p.ID != from && !l.Passed(n.Path) {
			switch hops {
			case 0:
				followers = append(followers, l)
			case 1:
				relays = append(relays, l)
			}
		}
	}
	if len(followers) < fewFollowers && m.feeds.Open(n.Feed) {
		followers = append(followers, relays...)
	}
	wait, same := leastNoticeWait, time.Duration(0)
	if len(n.Path) > 0 { // what two pass on at the same time crosses
		spacing := m.spacing(n.Feed)
		same = spacing / newsPart
		wait = min(max(spacing/waitPart, wait), mostNoticeWait)
		wait = m.Between(wait, 3*wait)
	}
	for _, l := range followers {
		m.queueNotice(l, n, wait, same)
	}
}

// queueNotice has the neighbor hear of a poll, unless one of the two has told the other of one about as late: of those
// of others, where it is later by same at most.
func (m *Machine) queueNotice(l *link, n notice, wait, same time.Duration) {
	if len(n.Path) > 0 && n.at.Sub(l.talks[n.Feed]) <= same || len(l.notices) >= maxTalks {
		return
	}
	m.told(l, n.Feed, n.at)
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

// told notes that a neighbor and we both know of a poll of a feed, as far as there is room.
func (m *Machine) told(l *link, u feed.URL, at time.Time) {
	latest, known := l.talks[u]
	if !at.After(latest) {
		return
	}
	if l.talks == nil {
		l.talks = make(map[feed.URL]time.Time)
	}
	if !known && len(l.talks) >= maxTalks {
		maps.DeleteFunc(l.talks, func(_ feed.URL, latest time.Time) bool { return m.Now.Sub(latest) > forgottenAfter })
	}
	if known || len(l.talks) < maxTalks {
		l.talks[u] = at
	}
}

// takeNotices takes what the neighbor is to hear out of its queue, as much as goes into so many bytes of a call.
func (m *Machine) takeNotices(l *link, room int) (list protocol.Notices) {
	taken := 0
	for ; l.Notices && taken < len(l.notices) && len(list) < protocol.MaxNotices; taken++ {
		n := l.notices[taken]
		if room -= n.WireBytes(); room < 0 {
			break
		}
		if n.Age = m.Now.Sub(n.at).Truncate(time.Second); m.interested(l, n.Feed) {
			m.Counters.NoticesSent++
			list = append(list, n.Notice)
		}
	}
	if l.notices = slices.Delete(l.notices, 0, taken); len(l.notices) == 0 {
		l.noticesDue = time.Time{}
	}
	return list
}

// sendNotices tells a neighbor what waits for it and has not gone along with anything else.
func (m *Machine) sendNotices(l *link) {
	l.noticesDue = time.Time{}
	for !l.Over {
		list := m.takeNotices(l, protocol.MaxNoticeBytes)
		if len(list) == 0 {
			return
		}
		m.Ask(l.Link, protocol.Notify{Notices: list}, core.CallTimeout, func(a core.Answered) {
			if told, ok := a.Reply.(protocol.Notices); ok {
				m.Noticed(l.Link, told)
			}
		})
	}
}

// AskedPolled answers feedex.polled with what waits for the neighbor.
func (m *Machine) AskedPolled(from *core.Link, ev core.Asked, list []protocol.Notice) {
	m.Noticed(from, list)
	m.Respond(ev, m.takeNotices(Of(from), protocol.MaxNoticeBytes))
}

// Noticed takes in what a neighbor says of polls, and passes on what is news here.
func (m *Machine) Noticed(from *core.Link, list []protocol.Notice) {
	for i := range list {
		m.noticed(Of(from), list[i])
	}
}

func (m *Machine) noticed(l *link, n protocol.Notice) {
	m.Counters.NoticesHeard++
	open := m.feeds.Open(n.Feed)
	if !open && !m.Table.Wanted(n.Feed, nil) {
		return
	}
	at := m.Now.Add(-n.Age)
	m.told(l, n.Feed, at)
	same := m.spacing(n.Feed) / newsPart
	l.notices = slices.DeleteFunc(l.notices, func(waiting notice) bool {
		return waiting.Feed == n.Feed && waiting.at.Sub(at) <= same
	})
	h := core.PollHeard{Feed: n.Feed, Via: l.ID(), Origin: n.Origin(l.ID()).Name(), At: at,
		Refused: n.New == protocol.Refused, Notice: &n, Verify: func() bool { return m.verify(l, &n) }}
	h.Own = h.Origin == l.ID().Name() && (!n.Signed() || n.Signature.Key == l.Key)
	if m.Passed(n.Path) || !m.bySigner(l, &h) {
		return
	}
	at, news := m.feeds.Heard(h)
	if !open {
		news = n.Signed() && m.relays(n.Feed, at, h.Verify)
	}
	if !news || !n.Signed() {
		return
	}
	n.Path = m.outward([]protocol.NodeID{h.Origin})
	m.notify(notice{n, at}, l.ID())
}

// bySigner reports whether a notice that a neighbor tells is of the neighbor itself, or signed by whoever it names,
// as far as that is known without a look at the signature. Anybody could say of others that they polled, or were
// refused, when they did not.
func (m *Machine) bySigner(l *link, h *core.PollHeard) bool {
	switch {
	case h.Own:
		return true
	case !h.Notice.Signed() || m.Now.Before(l.forgedUntil):
		return false
	case h.Origin == l.ID().Name() && !l.Key.IsZero():
		return false // that is not its key
	}
	return !h.Origin.Named() || h.Origin == h.Signer()
}

// verify reports whether the signature of a notice holds. A neighbor that brought one that does not is not heard of
// others for a while: an honest one looks itself, and to look takes longer than to write.
func (m *Machine) verify(l *link, n *protocol.Notice) bool {
	if n.Verify() {
		return true
	}
	l.forgedUntil = m.Now.Add(forgedFor)
	return false
}
