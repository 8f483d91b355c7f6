package trust

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// A Judgement is the verdict of a poll on claims, in the order in which they were made.
type Judgement struct {
	Shown []Claim // the publisher lists them
	// Genuine are those of Shown that were brought as the publisher has them, but for their dates.
	Genuine []Claim
	Forged  []Claim // missing, first-hand, without excuse
	Excused []Claim // missing, first-hand, excused
	Relayed []Claim // missing, relayed
	// Doubtful are those of Relayed that nothing excuses, by way of one relay: its word against the node that it says
	// polled it. Of several relays any may have made the path up, and the last, our witness, cannot know.
	Doubtful []Claim
}

// A miss is a first-hand claim that was missing, the latest of one network in one feed.
type miss struct {
	feed  feed.URL
	by    protocol.Network
	at    time.Time
	voice bool // it was a witness then
}

// Judge ends the claims of a feed of which a poll that began at begun can tell. listed is what the
// publisher's document lists, the oldest entry first: that of this poll or, where nothing was modified, that of the
// last one.
func (c *Claims) Judge(now, begun time.Time, u feed.URL, listed []Listed) (j Judgement) {
	c.polled[u] = true
	claims := c.of(u)
	if len(listed) == 0 || len(claims) == 0 {
		return j
	}
	// How far back it reaches its old end tells: some publishers keep an old entry before all others.
	shown, alike, reach := make(map[feed.EntryID]*Listed, len(listed)), kindred(listed), int64(listed[0].seen)
	for i := range listed {
		shown[listed[i].Entry] = &listed[i]
	}
	for _, open := range claims {
		made := open.made()
		switch is := shown[made.Entry]; {
		case is != nil:
			j.Shown = append(j.Shown, made)
			if !is.altered {
				j.Genuine = append(j.Genuine, made)
			}
		case begun.Sub(made.At) < ripe:
			continue
		case reach >= open.listed: // it is not in the window any more
		case !made.FirstHand():
			j.Relayed = append(j.Relayed, made)
			if len(made.Via) == 2 && !alike.has(open.title, open.link) && !c.vanishing(now, u) && !c.divided(now, u) {
				j.Doubtful = append(j.Doubtful, made)
			}
		case alike.has(open.title, open.link) || c.vanishing(now, u):
			j.Excused = append(j.Excused, made)
		case c.divided(now, u) && !c.missesBeside(now, u, made.Neighbor().Network()):
			j.Excused = append(j.Excused, made)
			c.missed(now, u, made.Neighbor().Network())
		default:
			j.Forged = append(j.Forged, made)
			c.missed(now, u, made.Neighbor().Network())
		}
		c.end(open)
	}
	return j
}

// missed notes a first-hand claim that was missing.
func (c *Claims) missed(now time.Time, u feed.URL, by protocol.Network) {
	c.misses = slices.DeleteFunc(c.misses, func(m miss) bool { return !m.counts(now) || m.feed == u && m.by == by })
	if len(c.misses) >= maxMisses {
		c.misses = slices.Delete(c.misses, 0, 1)
	}
	c.misses = append(c.misses, miss{u, by, now, c.witnesses.counts(now, by)})
}

func (m *miss) counts(now time.Time) bool { return now.Sub(m.at).Abs() <= dividedFor }

// missesBeside reports whether claims of the network are missing in other feeds too.
func (c *Claims) missesBeside(now time.Time, u feed.URL, by protocol.Network) bool {
	return slices.ContainsFunc(c.misses, func(m miss) bool { return m.by == by && m.feed != u && m.counts(now) })
}

// divided reports whether claims of two witnesses are missing that miss nowhere else: they can hardly be wrong
// alike.
func (c *Claims) divided(now time.Time, u feed.URL) bool {
	missing := 0
	for _, m := range c.misses {
		if m.feed == u && m.voice && m.counts(now) && !c.missesBeside(now, u, m.by) {
			missing++
		}
	}
	return missing > 1
}

// vanishing reports whether own polls saw entries vanish from the middle of the feed's document.
func (c *Claims) vanishing(now time.Time, u feed.URL) bool { return now.Before(c.uneven[u]) }

// Compare looks at two documents of a feed in a row, each with the oldest entry first. Entries leave a
// document at its old end; where one vanishes and an older one stays, the publisher takes entries back, or
// has more than one document. A claim of such a feed may be missing for the same reason.
func (c *Claims) Compare(now time.Time, u feed.URL, before, after []Listed) {
	if rolled(before, after) {
		return
	}
	still, alike := make(map[feed.EntryID]bool, len(after)), kindred(after)
	for _, e := range after {
		still[e.Entry] = true
	}
	older := false // one of those before it is still listed
	for _, e := range before {
		switch {
		case still[e.Entry]:
			older = true
		case older && !alike.has(e.title, e.link):
			c.uneven[u] = now.Add(dividedFor)
			return
		}
	}
}
