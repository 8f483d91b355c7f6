package fever

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"feedex/reading"
)

// A feverItem is one as readers of the Fever API want it.
type feverItem struct {
	ID      reading.ItemID `json:"id"`
	Feed    reading.FeedID `json:"feed_id"`
	Title   string         `json:"title"`
	Author  string         `json:"author"`
	HTML    string         `json:"html"`
	URL     string         `json:"url"`
	Saved   int            `json:"is_saved"`
	Read    int            `json:"is_read"`
	Created int64          `json:"created_on_time"` // Unix time
}

// pageItems is how many items an answer has, however long they are: Fluent Reader goes on as long as there are that
// many, and never asks for what is behind a page that ended sooner.
const pageItems = 50

// items adds the page of items that is asked for: those with the given ids; else, of the reading list, those above
// since_id upwards or those below max_id downwards. Readers go on from the last that they were given.
func (h *handler) items(ctx context.Context, a *answer, asked values) error {
	all := reading.Stream{}
	total, err := h.Library.Size(ctx, all)
	if err != nil {
		return err
	}
	a.Total = &total
	switch {
	case asked.has("with_ids"):
		a.items = listed(asked.value("with_ids"))
	case asked.has("max_id"):
		a.items, err = h.Library.IDs(ctx, all, reading.Page{After: asked.item("max_id"), Limit: pageItems})
	default:
		a.items, err = h.Library.IDs(ctx, all,
			reading.Page{After: asked.item("since_id"), Oldest: true, Limit: pageItems})
	}
	return err
}

// item is an item as it is shown.
func (h *handler) item(i *reading.Item) *feverItem {
	return &feverItem{
		ID: i.ID, Feed: i.Feed, Title: h.text.Title(i), Author: i.Author(), HTML: h.text.HTML(i), URL: i.Link(),
		Saved: one(i.Starred), Read: one(i.Read), Created: i.Time.Unix(),
	}
}

// listed are the first ids of a list that is separated by commas.
func listed(list string) (ids []reading.ItemID) {
	for part := range strings.SplitSeq(list, ",") {
		if id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64); err == nil && len(ids) < pageItems {
			ids = append(ids, reading.ItemID(id))
		}
	}
	return ids
}

// ids are those of a stream, in their order, separated by commas: of more than a page may have, the newest. Readers
// take what is not among those that are unread for read.
func (h *handler) ids(ctx context.Context, s reading.Stream) (*string, error) {
	list, err := h.Library.IDs(ctx, s, reading.Page{Limit: reading.MaxPage})
	if err != nil {
		return nil, err
	}
	var b []byte
	for i, id := range slices.Backward(list) {
		if i < len(list)-1 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	text := string(b)
	return &text, nil
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
