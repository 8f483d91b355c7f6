package node

import (
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/polling"
)

// A host is where feeds are polled, one at a time. How many requests it takes is learned, and all its feeds
// share in that: the limits of publishers are by client. Hosts that are not public are let be: several
// publishers may share one that know nothing of each other, or a bridge to others.
type host struct {
	polling.Budget
	name   string
	public bool
	asked  feed.URL        // the feed whose poll is under way, "" for none
	queue  []*subscription // whose turn has come, in order
	waking time.Time       // it is on the agenda then; zero for not
	kept   bool            // the archive has it
	aside  polling.Budget  // as the archive had it, by a clock that was ahead of ours; zero for none
}

// hostOf is the host at which a feed is asked for.
func (n *Node) hostOf(f *archive.Feed) *host {
	at := f.URL
	if f.Alias != "" {
		at = f.Alias
	}
	return n.hostAt(at)
}

// hostAt is the host of a URL.
func (n *Node) hostAt(at feed.URL) *host {
	name := strings.TrimSuffix(at.Host(), ".")
	h := n.hosts[name]
	if h == nil {
		h = &host{name: name, public: !n.privateHost(at)}
		n.hosts[name] = h
	}
	return h
}

// loadHosts takes up what earlier lives learned of the hosts of feeds.
func (n *Node) loadHosts() {
	for _, kept := range n.store.LoadHosts() {
		h := n.hosts[kept.Name]
		if h == nil {
			n.store.DropHost(kept.Name)
			continue
		}
		h.kept = true
		h.recall(n.now, kept.Budget)
	}
}

// recall takes up the budget of an earlier run. What it says of times that cannot be is left aside: its clock was ahead
// of ours.
func (h *host) recall(now time.Time, kept polling.Budget) {
	h.Budget, h.aside = kept, polling.Budget{}
	if h.Until.After(now.Add(longestAway)) {
		h.Until, h.aside = time.Time{}, kept
	}
	if h.Spent.After(later(now, h.Until).Add(polling.Burst * polling.LongestGap)) {
		h.Spent, h.aside = time.Time{}, kept
	}
}

// longestAway is the longest that a publisher can have told us to stay away, and a tenth on top of it.
const longestAway = 33 * 24 * time.Hour

// enqueue has the feed polled when it is its turn at its host.
func (n *Node) enqueue(s *subscription) {
	s.waiting = true
	s.host.queue = append(s.host.queue, s)
	n.serveHost(s.host)
}

// serveHost begins the next poll at the host, or comes back when it may.
func (n *Node) serveHost(h *host) {
	for len(h.queue) > 0 && h.asked == "" {
		if ready := h.Ready(); h.public && ready.After(n.now) {
			n.wakeHost(h, ready)
			return
		}
		s := h.queue[0]
		h.queue = h.queue[1:]
		s.waiting = false
		if n.feeds[s.URL] != s || s.Ended {
			continue // unsubscribed meanwhile
		}
		if at := n.landing(s); at.After(n.now) {
			n.pollAt(s, at)
			continue
		}
		h.asked = s.URL
		n.polls[s.URL] = h
		h.Take(n.now)
		n.request(s)
	}
}

func (n *Node) wakeHost(h *host, at time.Time) {
	if !h.waking.IsZero() && !at.Before(h.waking) {
		return
	}
	h.waking = at
	n.at(at, func() {
		if h.waking.Equal(at) {
			h.waking = time.Time{}
			n.serveHost(h)
		}
	})
}

// freeHost ends the poll of a feed at its host, which may be asked for the next one.
func (n *Node) freeHost(u feed.URL) {
	h := n.polls[u]
	if h == nil {
		return
	}
	delete(n.polls, u)
	h.asked = ""
	n.serveHost(h)
}

// expected is when a feed is polled next: when it is due, or when its host may be asked.
func (s *subscription) expected() time.Time {
	if s.Ended || !s.host.public {
		return s.NextPoll
	}
	return later(s.NextPoll, s.host.Ready())
}

// learnHost takes note of what an answer says about how many requests its host takes. The feed is nil where it was
// no poll.
func (n *Node) learnHost(s *subscription, ev Fetched) {
	h := n.hosts[strings.TrimSuffix(ev.From, ".")]
	if h == nil || !h.public || ev.Status == 0 {
		return // of a host that we have no feed at, the feed alone remembers it
	}
	switch {
	case n.refusal(s, h, ev):
		h.aside = polling.Budget{}
		h.Refused(n.now, ev.RetryAfter)
		h.Until = h.Until.Add(n.between(0, h.Until.Sub(n.now)/10)) // nor all who were told so at once
	case ev.Status < 400:
		if s != nil && s.forbidden {
			h.Forbids = true // for it does not any more
		}
		h.Answered()
	default:
		return
	}
	switch {
	case h.Learned() || h.Until.After(n.now):
		n.store.KeepHost(archive.Host{Name: h.name, Budget: h.Budget})
		h.kept = true
	case h.kept:
		n.store.DropHost(h.name)
		h.kept = false
	}
}

// refusal reports whether the answer says that its host wants fewer requests: 429 (RFC 6585 §4), 503 with a time
// (RFC 9110 §15.6.4), and 403 with a time. Some hosts answer a plain 403 instead of 429. So does one that
// shows a feed to us no more, and that is nothing to its other feeds; where the feed was shown before,
// the host gets a rest once, and what comes after that tells which of the two it was.
func (n *Node) refusal(s *subscription, h *host, ev Fetched) bool {
	switch ev.Status {
	case tooMany:
		return true
	case unavailable:
		return ev.RetryAfter > 0
	case forbidden:
		return ev.RetryAfter > 0 || s != nil && !s.LastSuccess.IsZero() && (s.Errors == 0 || h.Forbids && s.Errors < maxForbidden)
	}
	return false
}

// maxForbidden is how often in a row a feed may be answered 403, by a host that does so in place of 429, until it
// is taken at its word.
const maxForbidden = 3
