package trace

import (
	"fmt"
	"net/url"
	"strings"
)

// names are the names of feeds, for the reader of a table: the host where a feed is the only one of it, the
// repository's page on github.com, and else the kind with a number. Titles are left alone: they are
// somebody's words, and those of blogs often somebody's name.
func (l *loader) names(rows []*csvRow) []string {
	places := make([]string, len(rows))
	used := make(map[string]int)
	for i, r := range rows {
		places[i] = place(r.url)
		used[places[i]]++
	}
	numbers := make(map[string]int)
	for i, r := range rows {
		numbers[r.kind]++
		if places[i] == "" || used[places[i]] > 1 {
			places[i] = fmt.Sprintf("%s-%03d", r.kind, numbers[r.kind])
		}
	}
	return places
}

// place is the host of a URL, and on github.com, which has a feed for every repository, the repository and the part of
// it that the feed is about. It is empty where the host only carries what others publish.
func place(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	switch parts := strings.Split(strings.Trim(u.Path, "/"), "/"); {
	case u.Host == "github.com" && len(parts) > 2:
		return u.Host + "/" + parts[0] + "/" + parts[1] + "/" + strings.TrimSuffix(parts[2], ".atom")
	case u.Host == "raw.githubusercontent.com", u.Host == "feeds.feedburner.com":
		return ""
	}
	return u.Host
}
