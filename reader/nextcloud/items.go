package nextcloud

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"net/http"
	"strconv"

	"feedex/reading"
	"feedex/syncapi"
)

// An itemObject is an item as readers want it.
type itemObject struct {
	ID          reading.ItemID `json:"id"`
	GUID        string         `json:"guid"`
	GUIDHash    string         `json:"guidHash"`
	URL         string         `json:"url"`
	Title       string         `json:"title"`
	Author      string         `json:"author"`
	Published   int64          `json:"pubDate"` // Unix time
	Body        string         `json:"body"`
	MIME        *string        `json:"enclosureMime"`
	Enclosure   *string        `json:"enclosureLink"`
	Thumbnail   *string        `json:"mediaThumbnail"` // the picture that stands for it
	Feed        reading.FeedID `json:"feedId"`
	Unread      bool           `json:"unread"`
	Starred     bool           `json:"starred"`
	RTL         bool           `json:"rtl"`
	Modified    int64          `json:"lastModified"` // Unix time
	Fingerprint string         `json:"fingerprint"`  // the same for items that are the same
}

// guidOf is the stand-in for an item's published identifier, of which readers send back nothing but the MD5: it is made
// of the number, so that the item is found by that.
func guidOf(id reading.ItemID) string { return "feedex:" + strconv.FormatInt(int64(id), 10) }

func hashOf(guid string) string {
	sum := md5.Sum([]byte(guid))
	return hex.EncodeToString(sum[:])
}

func (h *handler) itemObject(i *reading.Item) *itemObject {
	o := &itemObject{
		ID: i.ID, GUID: guidOf(i.ID), URL: i.Link(), Title: h.text.Title(i), Author: i.Author(),
		Published: i.Time.Unix(),
		Body:      h.text.HTML(i), Feed: i.Feed, Unread: !i.Read, Starred: i.Starred, Modified: i.Changed.Unix(),
		RTL: h.text.Direction(i) == "rtl", Fingerprint: hex.EncodeToString(i.EntryID[:]),
	}
	o.GUIDHash = hashOf(o.GUID)
	if list := i.Entry.Enclosures; len(list) > 0 {
		o.Enclosure, o.MIME = &list[0].URL, &list[0].Type
	}
	if picture := string(i.Entry.Extras.Image); picture != "" {
		o.Thumbnail = &picture
	}
	return o
}

// The kinds of requests for items.
const (
	ofFeed    = 0
	ofFolder  = 1
	ofStarred = 2
	ofAll     = 3
)

// streams are the items that a request is about: they have none in common.
func (h *handler) streams(r *request, s reading.Stream) ([]reading.Stream, error) {
	id := r.args.number("id", 0)
	switch r.args.number("type", ofAll) {
	case ofFeed:
		s.Feed = reading.FeedID(id)
		if s.Feed <= 0 {
			return nil, nil
		}
	case ofFolder:
		return h.inFolder(r.Context(), reading.FolderID(id), s)
	case ofStarred:
		s.Starred = reading.Yes
	}
	return []reading.Stream{s}, nil
}

// inFolder are streams like s, each of a feed that is shown in a folder, or what was caught by the filter that it is.
func (h *handler) inFolder(ctx context.Context, id reading.FolderID, s reading.Stream) ([]reading.Stream, error) {
	if id := syncapi.FilterOf(id); id != 0 {
		return []reading.Stream{syncapi.Caught(id, s)}, nil
	}
	return syncapi.Streams(ctx, h.Library, s, func(f *reading.FollowedFeed) bool { return folderOf(f) == id })
}

// items answers with those on one side of an offset, as many as are wanted.
func (h *handler) items(w http.ResponseWriter, r *request) error {
	var s reading.Stream
	if !r.args.truth("getRead", true) {
		s.Read = reading.No
	}
	p := reading.Page{
		After: reading.ItemID(r.args.number("offset", 0)), Oldest: r.args.truth("oldestFirst", false),
		Limit: reading.MaxPage,
	}
	if n := r.args.number("batchSize", -1); n > 0 && n < reading.MaxPage {
		p.Limit = int(n)
	}
	return h.answer(w, r, s, p)
}

// updated answers with those that arrived, or were marked by whatever reader, since a moment.
func (h *handler) updated(w http.ResponseWriter, r *request) error {
	return h.answer(w, r, reading.Stream{Changed: r.args.moment("lastModified")}, reading.Page{Limit: reading.MaxPage})
}

// answer answers with a page of streams like s, as it comes out of the archive.
func (h *handler) answer(w http.ResponseWriter, r *request, s reading.Stream, p reading.Page) error {
	streams, err := h.streams(r, s)
	if err != nil {
		return err
	}
	ids, err := syncapi.IDs(r.Context(), h.Library, streams, p)
	if err != nil {
		return err
	}
	ids = ids[:min(p.Limit, len(ids))]

	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	show := func(i *reading.Item) any { return h.itemObject(i) }
	begun, err := syncapi.List(w, `{"items":[`+"\n", h.Library.Items(r.Context(), ids), show, "]}\n")
	return syncapi.Whole(r.Context(), h.Log, begun, err)
}
