package node

import (
	"maps"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
)

const (
	// coverPatience is for how long nobody may want a cover feed until another takes its place: neighbors
	// come and go.
	coverPatience = time.Hour
	// coverIdle is for how long a cover feed may bring nothing, and is not chosen again then: two nodes that
	// hear of it from each other would keep up an interest that nobody has.
	coverIdle = 7 * 24 * time.Hour
)

// covers are the feeds that the node advertises at hop count 0 although it does not follow them, so that a
// neighbor cannot tell by the hop count which ones it does follow. They are relayed, not polled, and outlive
// the run: in a set that changes, what stays would be the truth.
type covers struct {
	list []cover                // in the order in which they were chosen
	idle map[feed.URL]time.Time // until when a feed that brought nothing is not chosen again
}

// A cover is one of these feeds.
type cover struct {
	feed            feed.URL
	wanted, brought time.Time // when a neighbor last wanted it, and last brought some of it
}

// resumeCovers takes up the cover feeds of the last run.
func (n *Node) resumeCovers(feeds []archive.Feed) {
	n.covers.idle = make(map[feed.URL]time.Time)
	for _, f := range feeds {
		if f.Cover {
			n.covers.list = append(n.covers.list, cover{f.URL, n.now, n.now})
			n.table.Cover(f.URL, len(n.covers.list) <= n.config.CoverFeeds && !n.privateURL(f.URL))
		}
	}
	if n.config.CoverFeeds > 0 || len(n.covers.list) > 0 {
		n.chooseCoversLater()
	}
}

// chooseCoversLater reviews the choice once in an advert's time.
func (n *Node) chooseCoversLater() {
	n.after(n.config.AdvertInterval, func() {
		n.chooseCovers()
		if n.config.CoverFeeds > 0 {
			n.chooseCoversLater()
		}
	})
}

// chooseCovers lets go of the cover feeds that are of no use any more, and takes the most popular others in
// their place. The next adverts tell.
func (n *Node) chooseCovers() {
	c := &n.covers
	var kept, dropped []cover
	for _, v := range c.list {
		if len(n.table.Interested(v.feed)) > 0 {
			v.wanted = n.now
		}
		if n.covering(v) && len(kept) < n.config.CoverFeeds {
			kept = append(kept, v)
		} else {
			dropped = append(dropped, v)
		}
	}
	if c.list = kept; len(dropped) == 0 && len(kept) == n.config.CoverFeeds {
		return
	}
	known := n.knownFeeds()
	for _, v := range dropped {
		n.keepCover(known[v.feed], v.feed, false)
	}
	for _, u := range n.table.Popular() {
		if len(c.list) == n.config.CoverFeeds {
			return
		}
		if f := known[u]; n.now.After(c.idle[u]) && n.openly(u) == nil && !f.Confidential() && !n.privateURL(u) {
			n.keepCover(f, u, true)
			c.list = append(c.list, cover{u, n.now, n.now})
		}
	}
}

// covering reports whether the feed is still of use as a cover feed.
func (n *Node) covering(v cover) bool {
	if n.now.Sub(v.brought) > coverIdle {
		maps.DeleteFunc(n.covers.idle, func(_ feed.URL, until time.Time) bool { return n.now.After(until) })
		n.covers.idle[v.feed] = n.now.Add(coverIdle)
		return false
	}
	openly := n.openly(v.feed) != nil // then it needs no pretext
	return !openly && !n.privateURL(v.feed) && n.now.Sub(v.wanted) <= coverPatience
}

// keepCover makes a feed, of which f is what is known, a cover feed, or ends that.
func (n *Node) keepCover(f archive.Feed, u feed.URL, on bool) {
	if s := n.feeds[u]; s != nil {
		s.Cover = on
		f = s.Feed
	}
	f.URL, f.Cover = u, on
	n.table.Cover(u, on)
	n.store.KeepFeed(f)
}

// coverBrought notes that a neighbor brought new entries of the feed.
func (n *Node) coverBrought(u feed.URL) {
	if i := slices.IndexFunc(n.covers.list, func(c cover) bool { return c.feed == u }); i >= 0 {
		n.covers.list[i].brought = n.now
	}
}
