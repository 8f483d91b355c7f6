package discover

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"feedex/feed"
)

// maxIcons is how many pictures of a page are told of.
const maxIcons = 8

// Icons returns the pictures that a web page has for its site (HTML §4.6.7.8), the fittest first: large enough for a
// sharp screen, and no larger than that. The last is where browsers look without being told. The page is as for Page.
func Icons(page feed.URL, contentType string, body []byte) (list []feed.URL) {
	base, err := url.Parse(string(page))
	if err != nil {
		return nil
	}
	base.User = nil
	links := elements(base, contentType, body, func(l *pageLink) bool { return l.iconRank() > 0 })
	slices.SortStableFunc(links, func(a, b pageLink) int { return b.iconRank() - a.iconRank() })
	for _, l := range append(links[:min(len(links), maxIcons)], pageLink{base: base, href: "/favicon.ico"}) {
		if u, ok := resolve(l.base, l.href); ok && !slices.Contains(list, u) {
			list = append(list, u)
		}
	}
	return list
}

// iconRank is how well the picture fits that a link leads to, 0 for none.
func (l *pageLink) iconRank() int {
	rel := strings.Fields(strings.ToLower(l.rel))
	of := slices.Contains(rel, "icon")
	touch := slices.Contains(rel, "apple-touch-icon") || slices.Contains(rel, "apple-touch-icon-precomposed")
	size, _, _ := strings.Cut(strings.ToLower(l.sizes), "x")
	n, err := strconv.Atoi(size)
	switch {
	case !of && !touch, slices.Contains(rel, "mask-icon"):
		return 0
	case touch:
		return 2 // large, and with a background of its own
	case err != nil:
		return 3 // it does not say how large it is, or is of any size
	case n >= 32 && n <= 128:
		return 4
	case n > 128:
		return 2
	}
	return 1
}
