package neighbors

import (
	"cmp"
	"slices"

	"feedex/feed"
)

// A subscription set is a reading list, and hop count 0 marks what is read here. A mark of a feed blurs that. A feed
// that nobody is to know of at all is none of our Own.

// Cover says whether the feed is advertised at hop count 0 although the interest in it is not our own, so
// that those of our own stand out less. It reports whether that is news.
func (t *RoutingTable) Cover(u feed.URL, is bool) (changed bool) {
	return t.set(t.routes.row(u), isCover, is)
}

// popular is how many neighbors must want a feed for it to be popular: one alone could choose what we
// cover.
const popular = 2

// Popular returns the feeds that are not ours, and that two neighbors or more want within reach: first what
// most of them want, distance halving each one's part, then by URL.
func (t *RoutingTable) Popular() []feed.URL {
	type candidate struct {
		url  feed.URL
		want Usefulness
	}
	var list []candidate
	for i, r := range t.routes.list {
		if r.marks&(isOwn|isCover|isPrivate) != 0 || t.offersBeside(row(i), nil) < popular {
			continue
		}
		c := candidate{url: r.url}
		for _, cell := range t.routes.of(row(i)) {
			if t.reaches(cell) {
				c.want += One >> (cell.heard - 1)
			}
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.want, a.want), cmp.Compare(a.url, b.url))
	})
	urls := make([]feed.URL, len(list))
	for i, c := range list {
		urls[i] = c.url
	}
	return urls
}
