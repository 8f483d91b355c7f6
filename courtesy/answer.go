package courtesy

import (
	"time"

	"feedex/feed"
	"feedex/grade"
)

// maxForbidden is how often in a row a feed may be answered 403, by a host that does so in place of 429, until it
// is taken at its word.
const maxForbidden = 3

// An Outcome is how a request to publishers ended, as far as it matters to hosts.
type Outcome struct {
	From       string          // the host that gave the last answer, in lower case and without a port
	Status     int             // of that, 0 where nobody answered
	RetryAfter time.Duration   // how long it asks us to stay away, 0 where it does not
	Failed     bool            // it was of no use
	Local      bool            // it came, or would have come, from an address that is not public
	Requests   []grade.Request // that it took, in order
}

// PastPolls is how polls of a feed went before.
type PastPolls struct {
	Shown  bool // it was read once
	Errors int  // failures in a row
}

// Polled takes note of the answer to a poll of a feed with that record.
func (t *HostQueues) Polled(now time.Time, v *QueuedFeed, a Outcome, r PastPolls) {
	t.landed(now, v, a)
	h := t.named[feed.HostName(a.From)]
	if v.lands != nil && v.lands.name == ledMark+feed.HostName(a.From) {
		h, r = v.lands, PastPolls{} // it has shown nothing that it could show no more
	}
	t.learn(now, h, a, r, v.forbidden)
	v.forbidden = a.Status == Forbidden
}

// OwnerFetched takes note of the answer to a request of the owner's, beside the polls (see Visit): it is the same
// client that asks.
func (t *HostQueues) OwnerFetched(now time.Time, a Outcome) {
	name := feed.HostName(a.From)
	h := t.about(name)
	if len(a.Requests) > 0 && feed.HostName(feed.URL(a.Requests[0].URL).Host()) != name {
		h = t.named[ledMark+name]
	}
	t.learn(now, h, a, PastPolls{}, false)
}

// landed takes note of where the redirects of a feed led, and counts the requests that nobody knew of before.
func (t *HostQueues) landed(now time.Time, v *QueuedFeed, a Outcome) {
	before, counted := v.lands, v.lands
	switch name := feed.HostName(a.From); {
	case a.Status == 0 || name == "":
	case name != v.at.name && !a.Local:
		t.change(&v.lands, t.ledTo(name))
	case !a.Failed:
		t.change(&v.lands, nil)
	}
	for i, r := range a.Requests {
		switch name := feed.HostName(feed.URL(r.URL).Host()); {
		case i == 0:
		case counted != nil && counted.name == ledMark+name:
			counted = nil
		case v.lands != nil && v.lands.name == ledMark+name:
			v.lands.Take(now)
		default:
			if h := t.named[name]; h != nil && h.public {
				h.Take(now)
			}
		}
	}
	if before != nil && before.users == 0 && !before.Until.After(now) {
		delete(t.named, before.name) // a publisher could name another with every poll
		t.forget(before)
	}
}

// learn takes note of what an answer says about how many requests the host takes that gave it. Whether the answer
// before was 403 is told by forbade.
func (t *HostQueues) learn(now time.Time, h *HostQueue, a Outcome, r PastPolls, forbade bool) {
	if h == nil || !h.public || a.Status == 0 {
		return // of a host that we have no feed at, the feed alone remembers it
	}
	switch {
	case refused(a, r, h.Forbids):
		h.Refused(now, a.RetryAfter)
		h.Until = h.Until.Add(upTo(t.rng, h.Until.Sub(now)/10)) // nor all nodes that were told so at once
	case a.Status < 400:
		h.Forbids = h.Forbids || forbade // for it does not any more
		h.Answered()
	default:
		return
	}
	if h.Learned() || h.Until.After(now) {
		h.kept = true
		t.keep = append(t.keep, KnownHost{h.name, h.Budget})
	} else {
		t.forget(h)
	}
}

// refused reports whether the answer says that its host wants fewer requests: 429 (RFC 6585 §4), 503 with a time
// (RFC 9110 §15.6.4), and 403 with a time. Some hosts answer a plain 403 instead of 429. So does one that
// shows a feed to us no more, and that is nothing to its other feeds; where the feed was shown before,
// the host gets a rest once, and what comes after that tells which of the two it was. One that is known for it,
// forbids, gets more.
func refused(a Outcome, r PastPolls, forbids bool) bool {
	switch a.Status {
	case TooMany:
		return true
	case unavailable:
		return a.RetryAfter > 0
	case Forbidden:
		return a.RetryAfter > 0 || r.Shown && (r.Errors == 0 || forbids && r.Errors < maxForbidden)
	}
	return false
}
