package miniflux

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"feedex/reading"
	"feedex/syncapi"
)

type (
	// An entry is an item as readers want it.
	entry struct {
		ID         reading.ItemID `json:"id"`
		User       int            `json:"user_id"`
		Feed       reading.FeedID `json:"feed_id"`
		Status     string         `json:"status"`
		Hash       string         `json:"hash"`
		Title      string         `json:"title"`
		URL        string         `json:"url"`
		Comments   string         `json:"comments_url"` // none
		Published  time.Time      `json:"published_at"`
		Created    time.Time      `json:"created_at"`
		Changed    time.Time      `json:"changed_at"`
		Content    string         `json:"content"`
		Author     string         `json:"author"`
		Share      string         `json:"share_code"` // none
		Starred    bool           `json:"starred"`
		Minutes    int            `json:"reading_time"`
		Enclosures []enclosure    `json:"enclosures"`
		Tags       []string       `json:"tags"`
		Of         *feedObject    `json:"feed"`
	}
	enclosure struct {
		ID    int64          `json:"id"`
		User  int            `json:"user_id"`
		Entry reading.ItemID `json:"entry_id"`
		URL   string         `json:"url"`
		Type  string         `json:"mime_type"`
		Size  int64          `json:"size"` // bytes
	}
)

// unconfirmed is the tag of an entry of which there is one neighbor's word and no more.
const unconfirmed = "unconfirmed"

// pace is how much text a person reads in a minute, in characters.
const pace = 1500

func (h *handler) newEntry(i *reading.Item, of *feedObject) *entry {
	e := &entry{
		ID: i.ID, User: self, Feed: i.Feed, Status: "unread", Hash: hex.EncodeToString(i.EntryID[:]),
		Title: h.text.Title(i), URL: i.Link(),
		Published: i.Time.UTC(), Created: i.Arrived.UTC(), Changed: i.Changed.UTC(), Content: h.text.HTML(i),
		Author:  i.Author(),
		Starred: i.Starred, Enclosures: []enclosure{}, Tags: append([]string{}, i.Entry.Categories...), Of: of,
	}
	if i.Read {
		e.Status = "read"
	}
	if !i.Confirmed {
		e.Tags = append(e.Tags, unconfirmed)
	}
	e.Minutes = minutes(e.Content)
	if d := i.Entry.Extras.Duration; d > 0 { // as Miniflux has it
		e.Minutes = int((d + time.Minute - 1) / time.Minute)
	}
	for n, enc := range i.Entry.Enclosures {
		e.Enclosures = append(e.Enclosures, enclosure{int64(i.ID)<<16 + int64(n), self,
			i.ID, enc.URL, enc.Type, max(enc.Length, 0)})
	}
	return e
}

// minutes is how long a person reads a text.
func minutes(text string) int { return (utf8.RuneCountInString(text) + pace - 1) / pace }

// feedObjects are all feeds by their numbers.
func (h *handler) feedObjects(ctx context.Context) (map[reading.FeedID]*feedObject, error) {
	feeds, err := h.Library.Subscriptions(ctx)
	if err != nil {
		return nil, err
	}
	list := make(map[reading.FeedID]*feedObject)
	for i := range feeds {
		o := h.feedObject(&feeds[i])
		list[o.ID] = &o
	}
	return list, nil
}

// entries answers with a page of entries, as they come out of the archive.
func (h *handler) entries(w http.ResponseWriter, r *http.Request) error {
	s, err := h.selected(r)
	if err != nil {
		return err
	}
	feeds, err := h.feedObjects(r.Context())
	if err != nil {
		return err
	}
	ids, total, err := h.find(r.Context(), s)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	head := `{"total":` + strconv.Itoa(total) + `,"entries":[` + "\n"
	show := func(i *reading.Item) any { return h.newEntry(i, feeds[i.Feed]) }
	begun, err := syncapi.List(w, head, h.Library.Items(r.Context(), ids), show, "]}\n")
	return syncapi.Whole(r.Context(), h.Log, begun, err)
}

// entry answers with one entry, also one that is not listed.
func (h *handler) entry(w http.ResponseWriter, r *http.Request, i *reading.Item) error {
	feeds, err := h.feedObjects(r.Context())
	if err != nil {
		return err
	}
	if of := r.PathValue("feed"); of != "" && of != strconv.FormatInt(int64(i.Feed), 10) {
		return errMissing
	}
	if in := r.PathValue("category"); in != "" &&
		(feeds[i.Feed] == nil || in != strconv.FormatInt(int64(feeds[i.Feed].Category.ID), 10)) {
		return errMissing
	}
	return reply(w, http.StatusOK, h.newEntry(i, feeds[i.Feed]))
}

// item is the one that the path names.
func (h *handler) item(r *http.Request) (*reading.Item, error) {
	n, err := id[reading.ItemID](r, "entry")
	if err != nil {
		return nil, err
	}
	for i, err := range h.Library.Items(r.Context(), []reading.ItemID{n}) {
		return &i, err
	}
	return nil, errMissing
}

// fetchContent answers with the full text of an entry, which is its content from then on where update_content says so.
func (h *handler) fetchContent(w http.ResponseWriter, r *http.Request, i *reading.Item) error {
	show, _ := strconv.ParseBool(r.FormValue("update_content"))
	text, err := h.Library.FetchFullText(r.Context(), i.ID, show)
	switch {
	case errors.Is(err, reading.ErrNoItem):
		return errMissing
	case errors.Is(err, reading.ErrFullText), errors.Is(err, context.DeadlineExceeded):
		return syncapi.Refuse(http.StatusInternalServerError, "%v", err) // as Miniflux has it
	case err != nil:
		return err
	}
	i.Entry.Content = text.HTML
	content := h.text.HTML(i)
	return reply(w, http.StatusOK, struct {
		Content string `json:"content"`
		Minutes int    `json:"reading_time"`
	}{content, minutes(content)})
}
