package reading

import (
	"cmp"
	"slices"
	"strings"

	"feedex/opml"
)

// ListOf is a list of the feeds that a person reads, secret URLs and all, ordered by URL: with the titles that
// they gave them, and in each of the folders that a feed is in.
func ListOf(feeds []FollowedFeed) opml.List {
	list := opml.List{Title: "Feeds that feedex follows"}
	feeds = slices.Clone(feeds)
	slices.SortFunc(feeds, func(a, b FollowedFeed) int { return strings.Compare(string(a.URL), string(b.URL)) })
	for i := range feeds {
		f := &feeds[i]
		entry := opml.Outline{URL: f.URL, Title: cmp.Or(f.Name, f.Title), Site: f.Site}
		if len(f.Folders) == 0 {
			list.Feeds = append(list.Feeds, entry)
		}
		for _, d := range f.Folders {
			entry.Folder = PathOf(d.Name)
			list.Feeds = append(list.Feeds, entry)
		}
	}
	return list
}
