package greader

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedex/reading"
	"feedex/syncapi"
)

// A category is a folder, as a feed is in it.
type category struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Type  string `json:"type"`
}

// A subscription is a feed as this API has it.
type subscription struct {
	ID         string     `json:"id"`
	Title      string     `json:"title"`
	Categories []category `json:"categories"`
	URL        string     `json:"url"`
	Site       string     `json:"htmlUrl"`
	// Icon is the address of a picture at the node, "" for none: readers would fetch others from publishers.
	Icon string `json:"iconUrl"`
}

func (h *handler) subscriptionList(w http.ResponseWriter, r *request) error {
	feeds, err := h.Library.Subscriptions(r.Context())
	if err != nil {
		return err
	}
	list := []subscription{}
	for i := range feeds {
		f := &feeds[i]
		s := subscription{ID: streamID(f.ID), Title: f.Called(), Categories: []category{}, URL: string(f.URL),
			Site: site(f), Icon: syncapi.IconURL(r.Request, f.Icon)}
		for _, d := range f.Folders {
			s.Categories = append(s.Categories, category{labelPath + d.Name, d.Name, "folder"})
		}
		list = append(list, s)
	}
	return h.writeTagged(w, r, map[string]any{"subscriptions": list})
}

// A tagObject is a state, a folder, a label or a filter. RSS Guard takes for a folder what is of that type.
type tagObject struct {
	ID   string `json:"id"`
	Type string `json:"type,omitempty"`
}

func (h *handler) tagList(w http.ResponseWriter, r *request) error {
	c, err := h.catalog(r.Context())
	if err != nil {
		return err
	}
	list := []tagObject{{ID: statePath + starred}}
	for _, f := range c.folders {
		list = append(list, tagObject{labelPath + f.Name, "folder"})
	}
	for _, l := range c.labels {
		list = append(list, tagObject{labelPath + l.Name, "tag"})
	}
	for _, f := range c.filters {
		list = append(list, tagObject{labelPath + f.Name, "tag"})
	}
	return h.writeTagged(w, r, map[string]any{"tags": list})
}

// writeTagged answers with v, or that it is as it was when the reader asked last: NetNewsWire does so.
func (h *handler) writeTagged(w http.ResponseWriter, r *request, v any) error {
	text, err := syncapi.JSON(v)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	w.Header().Set("ETag", etag)
	for known := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(known), "W/") == etag {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	w.Header().Set("Content-Type", jsonType)
	_, _ = w.Write(text) // a reader that went away wants no answer
	return nil
}

// A count is how many items of a stream are unread.
type count struct {
	ID     string `json:"id"`
	Count  int    `json:"count"`
	Newest string `json:"newestItemTimestampUsec"`
}

func (h *handler) unreadCount(w http.ResponseWriter, r *request) error {
	c, err := h.catalog(r.Context())
	if err != nil {
		return err
	}
	counts, err := h.Library.Counts(r.Context())
	if err != nil {
		return err
	}
	list := []count{}
	var total reading.UnreadCount[reading.FeedID]
	folders := make(map[reading.FolderID]reading.UnreadCount[reading.FeedID])
	for _, n := range counts {
		list = append(list, newCount(streamID(n.Of), n))
		total = sum(total, n)
		if f := c.byID[n.Of]; f != nil {
			for _, d := range f.Folders {
				folders[d.ID] = sum(folders[d.ID], n)
			}
		}
	}
	for _, d := range c.folders {
		if n := folders[d.ID]; n.Unread > 0 {
			list = append(list, newCount(labelPath+d.Name, n))
		}
	}
	labelled, err := h.Library.LabelCounts(r.Context())
	if err != nil {
		return err
	}
	for _, n := range labelled {
		if i := slices.IndexFunc(c.labels, func(l reading.Label) bool { return l.ID == n.Of }); i >= 0 {
			list = append(list, newCount(labelPath+c.labels[i].Name, n))
		}
	}
	caught, err := h.Library.FilterCounts(r.Context())
	if err != nil {
		return err
	}
	for _, n := range caught {
		if i := slices.IndexFunc(c.filters, func(f reading.NamedFilter) bool { return f.ID == n.Of }); i >= 0 {
			list = append(list, newCount(labelPath+c.filters[i].Name, n))
		}
	}
	list = append(list, newCount(statePath+everything, total))
	return writeJSON(w, struct {
		Max    int     `json:"max"`
		Counts []count `json:"unreadcounts"`
	}{total.Unread, list})
}

func newCount[ID ~int64](id string, n reading.UnreadCount[ID]) count {
	newest := "0"
	if !n.Newest.IsZero() {
		newest = strconv.FormatInt(n.Newest.UnixMicro(), 10)
	}
	return count{id, n.Unread, newest}
}

func sum(a, b reading.UnreadCount[reading.FeedID]) reading.UnreadCount[reading.FeedID] {
	a.Unread += b.Unread
	if b.Newest.After(a.Newest) {
		a.Newest = b.Newest
	}
	return a
}

// now is the time until which everything is meant that a reader has been shown.
func (h *handler) now(p requestParams, name string) time.Time {
	if at := p.moment(name); !at.IsZero() {
		return at
	}
	return h.Now()
}
