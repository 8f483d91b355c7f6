package lab

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"feedex/feed"
	"feedex/node"
)

// A following has the sights that a host had of one of its own feeds. The times are those of the entries that count,
// since the World's start, never where an entry was not seen.
type following struct {
	feed int
	own  []time.Duration // when an own poll first showed the entry
	any  []time.Duration // when the entry was first there, by an own poll or a neighbor
	upTo int             // entries that were out at the latest poll
}

// follow has the host's own feeds measured from now on.
func (h *Host) follow(urls []feed.URL) error {
	for _, u := range urls {
		i, ok := h.world.byURL[u]
		if !ok {
			return fmt.Errorf("%w: %s follows %s, which nobody publishes", ErrConfig, h.Name, u)
		}
		p := h.world.publishers[i]
		f := following{feed: i, own: make([]time.Duration, p.end-p.first), any: make([]time.Duration, p.end-p.first)}
		for j := range f.own {
			f.own[j], f.any[j] = never, never
		}
		h.following = append(h.following, f)
	}
	slices.SortFunc(h.following, func(a, b following) int { return cmp.Compare(a.feed, b.feed) })
	return nil
}

// follows finds what the host saw of a feed, nil if it is not one of its own.
func (h *Host) follows(i int) *following {
	at, ok := slices.BinarySearchFunc(h.following, i, func(f following, i int) int { return cmp.Compare(f.feed, i) })
	if !ok {
		return nil
	}
	return &h.following[at]
}

// polled notes that an own poll shows the document of when so many entries were out.
func (h *Host) polled(i, count int) {
	f := h.follows(i)
	if f == nil {
		return
	}
	p := h.world.publishers[i]
	from, to := p.listed(count)
	for e := max(from, f.upTo, p.first); e < min(to, p.end); e++ {
		f.own[e-p.first] = min(f.own[e-p.first], h.world.now)
	}
	f.upTo = max(f.upTo, count)
}

// arrived notes which entries of own feeds are there.
func (h *Host) arrived(a node.Arrived) {
	i, ok := h.world.byURL[a.Feed]
	if !ok {
		return
	}
	f := h.follows(i)
	if f == nil {
		return
	}
	p := h.world.publishers[i]
	for j := range a.Records {
		ref, ok := h.world.entries[a.Records[j].ID]
		if ok && ref.feed == i && ref.index >= p.first && ref.index < p.end {
			f.any[ref.index-p.first] = min(f.any[ref.index-p.first], h.world.now)
		}
	}
}

// A Sight is how one entry of an own feed came to a host. Times count from the World's start.
type Sight struct {
	Feed      int           // index of the Publisher
	Entry     int           // index among the entries of its Feed
	Published time.Duration // the truth
	Reference time.Duration // when a reference node that polls every ReferenceEvery saw it
	Own       time.Duration // when it would have come without neighbors
	Any       time.Duration // when it came
	Listed    bool          // whether it is still in the document at the end: a later poll would show it
	// Each of the three times before it may be Never.
}

// Never is the time of what did not happen.
const Never = never

// ReferenceEvery is how often the reference node polls. Paper §4.2: "The reference node runs in stand-alone
// mode, fetching all monitored feeds every two minutes."
const ReferenceEvery = 2 * time.Minute

// Sights lists every entry that was published in the host's own feeds after the World's start and before until, in
// order of feed and time. Entries that came later than until count as not come. An entry that nobody could ever have
// read is left out: where more came out within a second than the document holds, as when a project tags all its parts
// at once, only the newest of them were ever in it.
func (h *Host) Sights(until time.Time) []Sight {
	var list []Sight
	end := until.Sub(h.world.config.Start)
	by := func(t time.Duration) time.Duration {
		if t > end {
			return never
		}
		return t
	}
	for _, f := range h.following {
		p := h.world.publishers[f.feed]
		for j := range f.any {
			out := p.out(p.first + j)
			if out >= end {
				break
			}
			if p.gone(p.first+j, out) {
				continue
			}
			list = append(list, Sight{
				Feed: f.feed, Entry: p.first + j, Published: out, Reference: by(p.reference(p.first + j)),
				Own: by(f.own[j]), Any: by(f.any[j]),
				Listed: !p.gone(p.first+j, end),
			})
		}
	}
	return list
}

// out is when entry i was published, since the World's start.
func (p *Publisher) out(i int) time.Duration {
	return time.Unix(p.Feed.Times[i], 0).Sub(p.world.config.Start)
}

// reference is when a node that polls every ReferenceEvery from the World's start sees entry i, Never if it
// was out of the document again by then. It comes in vain while it or the host is down, and nobody throttles it.
func (p *Publisher) reference(i int) time.Duration {
	poll := (p.out(i) + ReferenceEvery - 1) / ReferenceEvery * ReferenceEvery
	for p.world.down(p.site, poll) ||
		p.world.happens(p.world.config.ReferenceDown, 'd', uint64(poll/outage)) {
		poll += ReferenceEvery
	}
	if p.gone(i, poll) {
		return never
	}
	return poll
}

// gone reports whether entry i, which is out, is out of the document at t.
func (p *Publisher) gone(i int, t time.Duration) bool {
	from, _ := p.listed(p.published(p.world.config.Start.Add(t)))
	return i < from
}

// Follows are the indices of the Publishers of the host's own feeds, ascending.
func (h *Host) Follows() []int {
	list := make([]int, len(h.following))
	for i, f := range h.following {
		list[i] = f.feed
	}
	return list
}
