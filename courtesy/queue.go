package courtesy

import (
	"slices"
	"strings"
	"time"

	"feedex/feed"
	"feedex/internal/when"
)

// Enter has a feed whose time has come wait for its turn at its host, which is the one to ask for the next Turn.
func (t *HostQueues) Enter(v *QueuedFeed) *HostQueue {
	v.waiting = true
	v.at.queue = append(v.at.queue, v)
	return v.at
}

// Next takes the feed whose turn it is out of the queue of a host. Its poll begins now, and lasts until End; or later,
// at, which is when it is to enter again: the host to which its redirects lead has others first. Where it is nobody's
// turn, nil, at is when to ask again, the zero time where nobody waits or a poll is under way.
func (t *HostQueues) Next(now time.Time, h *HostQueue) (v *QueuedFeed, at time.Time) {
	if len(h.queue) == 0 || h.asked {
		return nil, time.Time{}
	}
	if ready := h.Ready(); h.public && ready.After(now) {
		return nil, ready
	}
	v = h.queue[0]
	h.strike(v)
	if at = t.landing(now, v); at.After(now) {
		return v, at
	}
	h.asked = true
	t.polls[v.Feed] = h
	h.Take(now)
	return v, now
}

// strike takes a feed out of the queue.
func (h *HostQueue) strike(v *QueuedFeed) {
	v.waiting = false
	h.queue = slices.DeleteFunc(h.queue, func(other *QueuedFeed) bool { return other == v })
}

// landing counts the request that a poll of the feed makes at the host to which its redirects lead, and returns
// when that may be made; it may be past. What the host refuses to its own feeds it refuses to those who are led there.
func (t *HostQueues) landing(now time.Time, v *QueuedFeed) (at time.Time) {
	h := v.lands
	if h == nil || !h.public {
		return now
	}
	if until := t.Until(v); v.reserved.IsZero() || v.reserved.Before(until) {
		v.reserved = when.Later(when.Later(h.Ready(), until), now)
		h.Take(when.Later(now, until)) // so that not all who wait for it come at once
	}
	if at = v.reserved; !at.After(now) {
		v.reserved = time.Time{}
	}
	return at
}

// Await reports whether somebody must come back for the next Turn of the host at that time: not the zero time, nor
// where that was said of an earlier time that has not come.
func (h *HostQueue) Await(at time.Time) bool {
	if at.IsZero() || !h.waking.IsZero() && !at.Before(h.waking) {
		return false
	}
	h.waking = at
	return true
}

// Awaited reports whether somebody still has to come back at that time.
func (h *HostQueue) Awaited(at time.Time) bool {
	if !h.waking.Equal(at) {
		return false
	}
	h.waking = time.Time{}
	return true
}

// End ends the poll of a feed, and returns the host that may be asked for the next Turn, nil for none.
func (t *HostQueues) End(u feed.URL) *HostQueue {
	h := t.polls[u]
	if h != nil {
		delete(t.polls, u)
		h.asked = false
	}
	return h
}

// longestWait is how long the owner waits for a turn at a publisher's host.
const longestWait = time.Minute

// Request counts a request of the owner's at the host of u, beside the polls, and returns when it may be made. Where
// that is more than a minute after now it is not counted and not to be made: the host wants to be left alone.
func (t *HostQueues) Request(now time.Time, u feed.URL) (at time.Time, ok bool) {
	h := t.about(feed.HostName(u.Host()))
	if h == nil || !h.public {
		return now, true // no feed is polled there, or it is the owner's own
	}
	if at = when.Later(h.Ready(), now); at.Sub(now) > longestWait {
		return at, false
	}
	h.Take(now)
	return at, true
}

// Rests is until when the host of u wants to be left alone, the zero time where it does not say so.
func (t *HostQueues) Rests(now time.Time, u feed.URL) time.Time {
	if h := t.about(feed.HostName(u.Host())); h != nil && h.Until.After(now) {
		return h.Until
	}
	return time.Time{}
}

// Waiting reports whether the feed waits for its turn.
func (v *QueuedFeed) Waiting() bool { return v.waiting }

// Host is the name of the host at which the feed is asked for.
func (v *QueuedFeed) Host() string { return v.at.name }

// Lands is the name of the host to which its redirects lead, "" where that is no other.
func (v *QueuedFeed) Lands() string {
	if v.lands == nil {
		return ""
	}
	return strings.TrimPrefix(v.lands.name, ledMark)
}

// Ready is when the feed's host may be asked, the zero time where that is let be; it may be past.
func (v *QueuedFeed) Ready() time.Time {
	if !v.at.public {
		return time.Time{}
	}
	return v.at.Ready()
}

// Until is when the last of the feed's hosts may be asked again that refused; it may be past, and the zero time.
func (t *HostQueues) Until(v *QueuedFeed) (until time.Time) {
	for _, h := range []*HostQueue{v.at, v.lands, t.named[v.Lands()]} {
		if h != nil && h.public {
			until = when.Later(until, h.Budget.Until)
		}
	}
	return until
}
