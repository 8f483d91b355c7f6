package poller

import (
	"cmp"
	"slices"
	"time"

	"feedex/feed"
	"feedex/internal/when"
	"feedex/node/internal/core"
	"feedex/polling"
	"feedex/protocol"
)

// A chorus is who else polls a feed, and when it is the node's turn. Nothing of it is kept: after a restart the next
// poll comes when it was due, until somebody is heard.
type chorus struct {
	polling.Silence
	others pollsHeard
	dates  dates              // whether they tell how long entries waited
	heard  []uint32           // the latest polls of all of them in Unix seconds, for the owner to see
	begun  time.Time          // when the first was heard of
	lags   []time.Duration    // of what came together, see noteLags
	muted  time.Time          // until when nobody moves a poll
	fixed  bool               // nobody moves the next one: it is in the place of a spot poll
	told   core.AnnouncedPoll // the latest that was announced
}

const (
	// maxPollers bounds the nodes of whose polls of one feed is known.
	maxPollers = 1024
	// maxHeard bounds the polls by others that the node remembers of one feed: a kilobyte.
	maxHeard = 256
	// A feed's chorus is of no help where the mean of judgedLags lags or more is mostLag times what it would be if all
	// who are heard polled at random moments. Then nobody is heard for mutedFor intervals: whether notices are
	// lies or come too late, the node is no worse off than without.
	judgedLags = 6
	mostLag    = 1.3
	mutedFor   = 4
)

// silence is since when a node must have polled that still polls the feed.
func (s *Subscription) silence(now time.Time) time.Time { return now.Add(-s.Interval - s.Interval/8) }

// forgetSilent forgets the nodes that it did not hear of for an interval: to Heard who polls again is a newcomer then.
func (s *Subscription) forgetSilent(now time.Time) { s.chorus.others.forget(s.silence(now)) }

// pollers is how many nodes poll the feed, this one included: as many as it heard of within an interval. Where it has
// not listened for so long it takes those that it heard of as a part of all.
func (s *Subscription) pollers(now time.Time) int {
	heard := 0
	for range s.chorus.others.believed(s.silence(now)) {
		heard++
	}
	if listened := max(now.Sub(s.chorus.begun), s.Interval/16); heard > 1 && listened < s.Interval {
		heard = int(float64(heard) * float64(s.Interval) / float64(listened))
	}
	return 1 + heard
}

// shared reports whether others may hear of polls of the feed, and move them.
func (m *Machine) shared(s *Subscription) bool { return !m.Config.Alone && !s.Discreet && s.kept == "" }

// heeds reports whether polls of the feed by others move its own now.
func (m *Machine) heeds(s *Subscription) bool { return m.shared(s) && !m.Now.Before(s.chorus.muted) }

// announce tells neighbors of a poll that was answered, or refused. The second poll of a feed is told however soon it
// comes after the first, where the phase of all later ones was drawn: nodes that start together know nothing of one
// another but for these two.
func (m *Machine) announce(s *Subscription, fresh int) {
	if m.shared(s) {
		s.chorus.told = core.AnnouncedPoll{Feed: s.URL, At: s.Begun, New: fresh}
		m.exchange.Announce(s.chorus.told)
	}
}

// Heard takes in that a node polled a feed, and returns when that was as far as can be told, and whether it is news
// which others who follow the feed are to hear. Of one that is not polled here it only counts who does. A node counts
// once in three quarters of an interval, as none with the same interval polls sooner again, and by what it signed: a
// flood of notices weighs no more than true ones, nor does one that is older than a quarter of the interval. Polls of
// nodes that are disregarded move nothing and are no news.
//
// A poll that was refused counts where its node is known to poll the feed, and makes no poll come sooner: the feed was
// asked, and a publisher that wants fewer requests is to see no other node in place of the one that it refused. It
// binds nobody else: liars could keep everybody away, and limits of publishers are by client.
func (m *Machine) Heard(h core.PollHeard) (at time.Time, news bool) {
	m.prospectPolled(&h)
	s, signer := m.openly(h.Feed), h.Signer()
	if s == nil || !m.shared(s) || s.Interval == 0 || m.Is(h.Origin) || !signer.IsZero() && m.Is(signer) {
		return h.At, false
	}
	c := &s.chorus
	i, at := m.countIn(s, &h)
	if i < 0 || m.merits.judge(&c.others[i]) {
		return at, false
	}
	if len(c.heard) == maxHeard {
		c.heard = slices.Delete(c.heard, 0, 1)
	}
	c.heard = append(c.heard, uint32(at.Unix()))
	if m.Now.Before(c.muted) {
		return at, false
	}
	news = c.Heard(m.Now, at)
	s.forgetSilent(m.Now)
	if most := c.Aside(at, s.Interval, s.pollers(m.Now)); most > 0 {
		c.Ahead = m.pollBetween(s, 0, 2*most) - most
	}
	if s.mayMove() {
		if c.Began.IsZero() { // after a restart
			c.Began = s.NextPoll.Add(-s.Interval)
		}
		if due := c.Due(s.Interval, s.pollers(m.Now)); !h.Refused || due.After(s.NextPoll) {
			m.PollAt(s, when.Later(due, s.NotBefore))
		}
	}
	return at, news
}

// countIn counts who polled the feed, if that counts, and returns which of the others it is, -1 for nobody, and when it
// was.
func (m *Machine) countIn(s *Subscription, h *core.PollHeard) (i int, at time.Time) {
	c := &s.chorus
	i, at = c.others.find(h), h.At
	if i >= 0 {
		if !h.Signer().IsZero() && !h.Own {
			at = c.others[i].dated(at, h.Notice.Signature.At)
		}
		if at.Sub(c.others[i].lastBefore(h)) < s.Interval*3/4 {
			return -1, at
		}
	} else if h.Refused || !c.others.room() {
		return -1, at
	}
	if m.Now.Sub(at) > s.Interval/4 || !h.Proven() {
		return -1, at
	}
	if c.begun.IsZero() {
		c.begun = m.Now
	}
	return c.others.hear(i, h, at, m.Now), at
}

// mayMove reports whether the next poll may be moved by polls of others: not one that is under way, that is to check
// what others said, or that comes after trouble.
func (s *Subscription) mayMove() bool {
	return !s.chorus.fixed && !s.Polling && !s.Queued.Waiting() && !s.Ended && s.Errors == 0 && s.Ordinary.IsZero() &&
		s.regular.IsZero()
}

// pollersForPolicy is pollers as polling.Poll has it: 0, for not known, where nobody was ever heard or nobody is heeded
// now, and 1 where all have missed a turn, as none was heard since the last own poll.
func (m *Machine) pollersForPolicy(s *Subscription) int {
	c := &s.chorus
	switch {
	case !m.heeds(s) || c.begun.IsZero():
		return 0
	case !c.Latest.After(c.Began):
		return 1
	}
	return s.pollers(m.Now)
}

// ownTurn is when a feed is polled next whose policy waits for so long after a poll that just ended, as far as nobody
// is heard until then.
func (m *Machine) ownTurn(s *Subscription, p polling.Poll, wait time.Duration) time.Time {
	c := &s.chorus
	c.fixed = false
	if !m.heeds(s) {
		return m.Now.Add(wait)
	}
	s.forgetSilent(m.Now)
	if m.late(s) {
		c.Silence, c.lags, c.muted = polling.Silence{}, nil, m.Now.Add(mutedFor*s.Interval)
		// Who was made to poll together with others goes apart from them.
		return m.Now.Add(m.pollBetween(s, wait-wait/10, wait+wait/10))
	}
	c.Polled(m.Now, cmp.Or(p.Interval, s.Interval), s.pollers(m.Now))
	c.Clock = nil
	if auto, ok := s.PollPolicy.(polling.Auto); ok {
		c.Clock = auto.Clock(p.History, m.Now)
	}
	c.Began = m.Now.Add(wait - s.Interval) // but for the first poll now
	return c.Due(s.Interval, s.pollers(m.Now))
}

// noteLags takes in how long entries that an own poll lists took to get here from their publication, by whatever way:
// what others bring may be dated as they like. Those that came together count once, with their mean: they waited for
// the same poll. What is older than any poll could leave it came from an absence, or is dated otherwise than it was
// published.
func (m *Machine) noteLags(s *Subscription, waits []entryWait) {
	c := &s.chorus
	if c.begun.IsZero() {
		return
	}
	slices.SortStableFunc(waits, func(a, b entryWait) int { return a.to.Compare(b.to) })
	from := when.Later(c.begun, c.muted).Add(s.Interval)
	for i := 0; i < len(waits); {
		var sum, entries time.Duration
		for at := waits[i].to; i < len(waits) && waits[i].to.Equal(at); i++ {
			lag := at.Sub(waits[i].from)
			if lag >= 0 && lag < s.Interval+s.Interval/4 && !at.Before(from) {
				sum, entries = sum+lag, entries+1
			}
		}
		if entries > 0 {
			c.lags = append(c.lags, sum/entries)
		}
	}
	c.lags = c.lags[max(0, len(c.lags)-2*judgedLags):]
}

// late reports whether entries come later than if nobody heard of anybody.
func (m *Machine) late(s *Subscription) bool {
	c := &s.chorus
	if len(c.lags) < judgedLags {
		return false
	}
	var sum time.Duration
	for _, lag := range c.lags {
		sum += lag
	}
	random := s.Interval / time.Duration(s.pollers(m.Now)+1)
	return float64(sum)/float64(len(c.lags)) > mostLag*float64(random)
}

// Spacing is the usual time between polls of the feed by anybody. Who is silent is forgotten: it is asked for before a
// notice is taken in.
func (m *Machine) Spacing(u feed.URL) time.Duration {
	if s := m.openly(u); s != nil {
		s.forgetSilent(m.Now)
		return s.Interval / time.Duration(s.pollers(m.Now))
	}
	return 0
}

// HeardPollers returns the nodes that were heard to poll feeds lately, with those feeds, as far as neighbors may know
// of them. The lists are in no order.
func (m *Machine) HeardPollers() map[protocol.NodeID]protocol.Subset {
	heard := make(map[protocol.NodeID]protocol.Subset)
	for u, s := range m.Feeds {
		if !m.shared(s) {
			continue
		}
		for p := range s.chorus.others.believed(s.silence(m.Now)) {
			of := heard[p.origin]
			if len(of) == 0 || of[len(of)-1].Feed != u { // several may say that they are there
				heard[p.origin] = append(of, protocol.Interest{Feed: u})
			}
		}
	}
	return heard
}

// PollsHeard returns when others polled the feed, by the word of neighbors since the start: the latest maxHeard. It is
// for the owner alone.
func (m *Machine) PollsHeard(u feed.URL) []time.Time {
	s := m.Feeds[u]
	if s == nil {
		return nil
	}
	var list []time.Time
	for _, at := range s.chorus.heard {
		list = append(list, time.Unix(int64(at), 0))
	}
	return list
}

// LatestPolls are the latest polls of feeds of which neighbors may know, but for those of long ago. Of one that made a
// bundle nothing is new to who hears of it later than that was offered.
func (m *Machine) LatestPolls() (list []core.AnnouncedPoll) {
	for u, s := range m.Feeds {
		if m.shared(s) && s.Errors == 0 && !s.LastSuccess.IsZero() && m.Now.Sub(s.Begun) <= s.Interval/4 {
			p := core.AnnouncedPoll{Feed: u, At: s.Begun}
			if told := s.chorus.told; told.At.Equal(p.At) {
				p.New = told.New
			}
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b core.AnnouncedPoll) int { return cmp.Compare(a.Feed, b.Feed) })
	return list
}
