package greader

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedex/feed"
	"feedex/reading"
	"feedex/syncapi"
)

// Names of streams and tags. Readers write their user's number where "-" stands, or "-".
const (
	statePath  = "user/-/state/com.google/"
	labelPath  = "user/-/label/"
	feedPath   = "feed/"
	readState  = "read"
	unread     = "kept-unread"
	tracking   = "tracking-kept-unread"
	starred    = "starred"
	everything = "reading-list"
)

// A catalog is the list of all feeds, folders, labels and filters, and of their names in this API: filters are labels
// too.
type catalog struct {
	feeds   []reading.FollowedFeed
	folders []reading.Folder
	labels  []reading.Label
	filters []reading.NamedFilter
	byID    map[reading.FeedID]*reading.FollowedFeed
	on      map[reading.ItemID][]reading.Label // of the items that are told of
}

// catalog reads what there is.
func (h *handler) catalog(ctx context.Context) (*catalog, error) {
	feeds, err := h.Library.Subscriptions(ctx)
	if err != nil {
		return nil, err
	}
	folders, err := h.Library.Folders(ctx)
	if err != nil {
		return nil, err
	}
	labels, err := h.Library.Labels(ctx)
	if err != nil {
		return nil, err
	}
	filters, err := h.Library.Filters(ctx)
	if err != nil {
		return nil, err
	}
	c := &catalog{feeds: feeds, folders: folders, labels: labels, filters: filters,
		byID: make(map[reading.FeedID]*reading.FollowedFeed, len(feeds))}
	for i := range feeds {
		c.byID[feeds[i].ID] = &feeds[i]
	}
	return c, nil
}

// catalogOf is the catalog with the labels of items.
func (h *handler) catalogOf(ctx context.Context, ids []reading.ItemID) (*catalog, error) {
	c, err := h.catalog(ctx)
	if err == nil {
		c.on, err = h.Library.LabelsOn(ctx, ids)
	}
	return c, err
}

// state is the name of a state, "" if the tag is none.
func state(tag string) string {
	if rest, ok := strings.CutPrefix(anyUser(tag), statePath); ok {
		return rest
	}
	return ""
}

// label is the name of a label, "" if the tag is none.
func label(tag string) string {
	if rest, ok := strings.CutPrefix(anyUser(tag), labelPath); ok {
		return rest
	}
	return ""
}

// anyUser is a tag with "-" for the user.
func anyUser(tag string) string {
	rest, ok := strings.CutPrefix(tag, "user/")
	if !ok {
		return tag
	}
	_, rest, _ = strings.Cut(rest, "/")
	return "user/-/" + rest
}

// feed is the feed of a stream, nil if it is not one that is followed: named by its number or by its URL.
func (c *catalog) feed(stream string) *reading.FollowedFeed {
	name, ok := strings.CutPrefix(stream, feedPath)
	if !ok {
		return nil
	}
	if n, err := strconv.ParseInt(name, 10, 64); err == nil {
		return c.byID[reading.FeedID(n)]
	}
	u, err := feed.ParseURL(name)
	if err != nil {
		return nil
	}
	for i := range c.feeds {
		if c.feeds[i].URL == u {
			return &c.feeds[i]
		}
	}
	return nil
}

// folder is the folder of that name, 0 if there is none. A reader may still know it as it was typed there.
func (c *catalog) folder(name string) reading.FolderID {
	kept, _ := reading.FolderName(name) // "" for one that cannot be
	for _, f := range c.folders {
		if f.Name == kept || f.Name == name {
			return f.ID
		}
	}
	return 0
}

// label is the label of that name, 0 if there is none.
func (c *catalog) label(name string) reading.LabelID {
	kept, _ := reading.LabelName(name)
	for _, l := range c.labels {
		if l.Name == kept {
			return l.ID
		}
	}
	return 0
}

// filter is the filter of that name, 0 if there is none.
func (c *catalog) filter(name string) reading.FilterID {
	f, _ := reading.FilterNamed(c.filters, name) // the zero one where there is none
	return f.ID
}

// noFolder says which of the names no folder can have, and why, nil for none.
func (c *catalog) noFolder(names []string) error {
	for _, name := range names {
		switch _, err := reading.FolderName(name); {
		case err != nil:
			return err
		case c.filter(name) != 0:
			return reading.TakenBy("filter", name)
		case c.label(name) != 0:
			return reading.TakenBy("label", name)
		}
	}
	return nil
}

// labelsOf are the labels of an item and of its filters.
func (c *catalog) labelsOf(item *reading.Item) (labels []string) {
	for _, l := range c.on[item.ID] {
		labels = append(labels, labelPath+l.Name)
	}
	for _, f := range c.filters {
		if slices.Contains(item.Filters, f.ID) {
			labels = append(labels, labelPath+f.Name)
		}
	}
	return labels
}

// stream is the stream of that name, "" being everything. It reports false for one that is empty because nobody knows
// it.
func (h *handler) stream(ctx context.Context, name string) (s reading.Stream, ok bool, err error) {
	switch st := state(name); {
	case name == "" || st == everything:
		return s, true, nil
	case st == starred:
		return reading.Stream{Starred: reading.Yes}, true, nil
	case st == readState:
		return reading.Stream{Read: reading.Yes}, true, nil
	case st == unread || st == tracking:
		return reading.Stream{Read: reading.No}, true, nil
	}
	c, err := h.catalog(ctx)
	if err != nil {
		return s, false, err
	}
	if name := label(name); name != "" {
		if s.Folder = c.folder(name); s.Folder != 0 {
			return s, true, nil
		}
		if id := c.label(name); id != 0 {
			return syncapi.Labelled(id, s), true, nil
		}
		s = syncapi.Caught(c.filter(name), s)
		return s, s.Filter != 0, nil
	}
	if f := c.feed(name); f != nil {
		s.Feed = f.ID
	}
	return s, s.Feed != 0, nil
}

// overlap is by how much more time than readers ask for they are told of what arrived since: an entry has the second in
// which it came, and can be seen only when it is on the disk. They know what they have.
const overlap = 10 * time.Second

// narrowed is the stream without what the parameters leave out. A tag that is not known leaves nothing out.
func (p requestParams) narrowed(s reading.Stream) reading.Stream {
	m := reading.Mark{Read: s.Read, Starred: s.Starred}
	tagged(&m, p.Values["xt"], reading.No, reading.Yes)
	tagged(&m, p.Values["it"], reading.Yes, reading.No)
	s.Read, s.Starred = m.Read, m.Starred
	if at := p.moment("ot"); !at.IsZero() {
		s.Since = at.Add(-overlap)
	}
	if at := p.moment("nt"); !at.IsZero() {
		s = s.Before(at)
	}
	return s
}

// moment is a parameter that is a time, the zero time for one that is none.
func (p requestParams) moment(name string) time.Time {
	n, err := strconv.ParseInt(p.get(name), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return reading.Moment(n)
}

const (
	// usualPage is how many items a page has where the reader does not say.
	usualPage = 20
	// maxContents is how many items a page of contents has at most.
	maxContents = 10_000
)

// page is which part of a stream the parameters ask for, with one item more than that: if it is there, the stream goes
// on.
func (p requestParams) page(most int) (reading.Page, error) {
	n, err := strconv.Atoi(p.get("n"))
	if err != nil || n <= 0 {
		n = usualPage
	}
	page := reading.Page{Limit: min(n, most) + 1, Oldest: p.get("r") == "o"}
	if c := p.get("c"); c != "" {
		after, err := strconv.ParseInt(c, 10, 64)
		if err != nil || after <= 0 {
			// from the beginning it might never end
			return page, syncapi.Refuse(400, "c is not a continuation of this node.")
		}
		page.After = reading.ItemID(after)
	}
	return page, nil
}

// cut is the items of a page without the one more, and the continuation: "" on the last page, where readers must not
// find one at all.
func cut(ids []reading.ItemID, p reading.Page) ([]reading.ItemID, string) {
	if len(ids) < p.Limit {
		return ids, ""
	}
	ids = ids[:p.Limit-1]
	return ids, strconv.FormatInt(int64(ids[len(ids)-1]), 10)
}
