package membership

import (
	"maps"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
)

const (
	// CoverPatience is for how long nobody may want a cover feed until another takes its place: neighbors
	// come and go.
	CoverPatience = time.Hour
	// CoverIdle is for how long a cover feed may bring nothing, and is not chosen again then: two nodes that
	// hear of it from each other would keep up an interest that nobody has.
	CoverIdle = 7 * 24 * time.Hour
)

// covers are the feeds that the node advertises at hop count 0 although it does not follow them, so that a
// neighbor cannot tell by the hop count which ones it does follow. They are relayed, not polled, and outlive
// the run: in a set that changes, what stays would be the truth.
type covers struct {
	List []cover                // in the order in which they were chosen
	idle map[feed.URL]time.Time // until when a feed that brought nothing is not chosen again
}

// A cover is one of these feeds.
type cover struct {
	Feed            feed.URL
	wanted, brought time.Time // when a neighbor last wanted it, and last brought some of it
}

// resumeCovers takes up the cover feeds of the last run.
func (m *Machine) resumeCovers(feeds []archive.Feed) {
	m.Covers.idle = make(map[feed.URL]time.Time)
	for _, f := range feeds {
		if f.Cover {
			m.Covers.List = append(m.Covers.List, cover{f.URL, m.Now, m.Now})
			m.Table.Cover(f.URL, len(m.Covers.List) <= m.Config.CoverFeeds && !m.feeds.PrivateURL(f.URL))
		}
	}
	if m.Config.CoverFeeds > 0 || len(m.Covers.List) > 0 {
		m.chooseCoversLater()
	}
}

// chooseCoversLater reviews the choice once in an advert's time.
func (m *Machine) chooseCoversLater() {
	m.After(m.Config.AdvertInterval, func() {
		m.chooseCovers()
		if m.Config.CoverFeeds > 0 {
			m.chooseCoversLater()
		}
	})
}

// chooseCovers lets go of the cover feeds that are of no use any more, and takes the most popular others in
// their place. The next adverts tell.
func (m *Machine) chooseCovers() {
	c := &m.Covers
	var kept, dropped []cover
	for _, v := range c.List {
		if len(m.Table.Interested(v.Feed)) > 0 {
			v.wanted = m.Now
		}
		if m.covering(v) && len(kept) < m.Config.CoverFeeds {
			kept = append(kept, v)
		} else {
			dropped = append(dropped, v)
		}
	}
	if c.List = kept; len(dropped) == 0 && len(kept) == m.Config.CoverFeeds {
		return
	}
	for _, v := range dropped {
		m.keepCover(m.feeds.Known(v.Feed), v.Feed, false)
	}
	for _, u := range m.Table.Popular() {
		if len(c.List) == m.Config.CoverFeeds {
			return
		}
		if !m.Now.After(c.idle[u]) || m.feeds.Open(u) || m.feeds.PrivateURL(u) {
			continue
		}
		if f := m.feeds.Known(u); !f.Confidential() {
			m.keepCover(f, u, true)
			c.List = append(c.List, cover{u, m.Now, m.Now})
		}
	}
}

// covering reports whether the feed is still of use as a cover feed.
func (m *Machine) covering(v cover) bool {
	if m.Now.Sub(v.brought) > CoverIdle {
		maps.DeleteFunc(m.Covers.idle, func(_ feed.URL, until time.Time) bool { return m.Now.After(until) })
		m.Covers.idle[v.Feed] = m.Now.Add(CoverIdle)
		return false
	}
	openly := m.feeds.Open(v.Feed) // then it needs no pretext
	return !openly && !m.feeds.PrivateURL(v.Feed) && m.Now.Sub(v.wanted) <= CoverPatience
}

// keepCover makes a feed, of which f is what is known, a cover feed, or ends that.
func (m *Machine) keepCover(f archive.Feed, u feed.URL, on bool) {
	f.URL = u
	m.Table.Cover(u, on)
	m.feeds.KeepCover(f, on)
}

// CoverBrought notes that a neighbor brought new entries of the feed.
func (m *Machine) CoverBrought(u feed.URL) {
	if i := slices.IndexFunc(m.Covers.List, func(c cover) bool { return c.Feed == u }); i >= 0 {
		m.Covers.List[i].brought = m.Now
	}
}
