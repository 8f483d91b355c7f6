package greader

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"feedex/feed"
	"feedex/reading"
)

// An entry is an item as this API has it. NetNewsWire wants id, updated, summary, categories and origin; Fluent Reader
// looks at the first of canonical, newsboat at no other link.
type entry struct {
	ID         string      `json:"id"`
	Crawled    string      `json:"crawlTimeMsec"` // when it arrived: Fluent Reader asks next for what came since
	Timestamp  string      `json:"timestampUsec"` // the same
	Published  int64       `json:"published"`
	Updated    int64       `json:"updated"`
	Title      string      `json:"title"`
	Author     string      `json:"author"`
	Canonical  []hrefLink  `json:"canonical"`
	Alternate  []hrefLink  `json:"alternate"`
	Categories []string    `json:"categories"`
	Summary    body        `json:"summary"`
	Content    body        `json:"content"`
	Origin     origin      `json:"origin"`
	Enclosure  []enclosure `json:"enclosure"`
}

type (
	hrefLink struct {
		Href string `json:"href"`
		Type string `json:"type,omitempty"`
	}
	body struct {
		Direction string `json:"direction"`
		Content   string `json:"content"`
	}
	origin struct {
		Stream string `json:"streamId"`
		Title  string `json:"title"`
		Site   string `json:"htmlUrl"`
	}
	enclosure struct {
		Href   string `json:"href"`
		Type   string `json:"type"`
		Length int64  `json:"length,omitempty"`
	}
)

// entry is an item as this API has it.
func (h *handler) entry(c *catalog, item *reading.Item) *entry {
	e := &item.Entry
	f := c.byID[item.Feed]
	if f == nil { // followed since the catalog was read
		f = &reading.FollowedFeed{ID: item.Feed, URL: e.Feed}
	}
	href := item.Link()
	text := body{h.text.Direction(item), h.text.HTML(item)}
	out := &entry{
		ID:        fmt.Sprintf("%s%016x", longID, int64(item.ID)),
		Crawled:   strconv.FormatInt(item.Arrived.UnixMilli(), 10),
		Timestamp: strconv.FormatInt(item.Arrived.UnixMicro(), 10),
		Published: item.Time.Unix(), Updated: updated(item).Unix(),
		Title: h.text.Title(item), Author: item.Author(),
		Canonical: []hrefLink{{Href: href}}, Alternate: []hrefLink{{href, "text/html"}},
		Categories: append(categories(item, f), c.labelsOf(item)...), Summary: text, Content: text,
		Origin:    origin{streamID(f.ID), f.Called(), site(f)},
		Enclosure: []enclosure{},
	}
	for _, m := range e.Enclosures {
		out.Enclosure = append(out.Enclosure, enclosure{m.URL, m.Type, max(m.Length, 0)})
	}
	return out
}

// updated is when an item was last changed, as far as that can be believed.
func updated(item *reading.Item) time.Time {
	if u := item.Entry.Updated; !u.IsZero() && !u.After(item.Arrived.Add(feed.Ahead)) {
		return u
	}
	return item.Time
}

// categories are the states and folders of an item. The publisher's own are not among them, since they could look like
// states. The state of having been read comes first: liferea looks no further. (Up to 2.0 it does not find it there
// either: it wants backslashes that are gone once JSON is read.)
func categories(item *reading.Item, f *reading.FollowedFeed) []string {
	list := []string{}
	add := func(is bool, name string) {
		if is {
			list = append(list, statePath+name)
		}
	}
	add(item.Read, readState)
	add(item.Listed, everything)
	add(item.Starred, starred)
	for _, d := range f.Folders {
		list = append(list, labelPath+d.Name)
	}
	return list
}

func streamID(id reading.FeedID) string { return feedPath + strconv.FormatInt(int64(id), 10) }

// site is the page of a feed, or the feed itself where none is known.
func site(f *reading.FollowedFeed) string { return cmp.Or(f.Site, string(f.URL)) }
