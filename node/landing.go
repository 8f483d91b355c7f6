package node

import (
	"strings"
	"time"

	"feedex/feed"
)

// hostNamed is the host of that name, nil for "".
func (n *Node) hostNamed(name string) *host {
	switch {
	case name == "":
		return nil
	case strings.Contains(name, ":"):
		name = "[" + name + "]"
	}
	return n.hostAt(feed.URL("https://" + name + "/"))
}

// landing counts the request that a poll of the feed makes at the host to which its redirects lead, and returns
// when that may be made; it may be past. The host that is asked first has its own turn for that.
func (n *Node) landing(s *subscription) (at time.Time) {
	h := s.lands
	if h == nil || h == s.host || !h.public {
		return n.now
	}
	if s.turn.IsZero() || s.turn.Before(h.Until) {
		s.turn = later(h.Ready(), n.now)
		h.Take(n.now)
	}
	if at = s.turn; !at.After(n.now) {
		s.turn = time.Time{}
	}
	return at
}

// noteLanding takes note of where the redirects of a feed led, and counts the requests that nobody knew of before.
func (n *Node) noteLanding(s *subscription, ev Fetched) {
	before, counted := s.lands, s.lands
	switch name := strings.TrimSuffix(ev.From, "."); {
	case ev.Status == 0 || name == "":
	case name != s.host.name && !ev.Local:
		s.Lands, s.lands = name, n.hostNamed(name)
	case ev.Err == nil:
		s.Lands, s.lands = "", nil
	}
	for i, r := range ev.Requests {
		h := n.hosts[strings.TrimSuffix(feed.URL(r.URL).Host(), ".")]
		switch {
		case i == 0 || h == nil || !h.public:
		case h == counted && h != s.host:
			counted = nil
		default:
			h.Take(n.now)
		}
	}
	if before != nil && before != s.lands && !before.Until.After(n.now) {
		n.leaveHost(before)
	}
}

// leaveHost forgets a host that nothing leads to any more: a publisher could name another with every poll.
func (n *Node) leaveHost(h *host) {
	for _, s := range n.feeds {
		if s.host == h || s.lands == h {
			return
		}
	}
	if h.asked != "" || len(h.queue) > 0 {
		return
	}
	delete(n.hosts, h.name)
	if h.kept {
		n.store.DropHost(h.name)
	}
}
