package miniflux

import (
	"net/http"

	"feedex/reading"
)

// markEntries marks entries read or unread.
func (h *handler) markEntries(w http.ResponseWriter, r *http.Request) error {
	var wish struct {
		IDs    []reading.ItemID `json:"entry_ids"`
		Status string           `json:"status"`
	}
	if err := body(w, r, &wish); err != nil {
		return err
	}
	m, known := map[string]reading.Mark{"read": {Read: reading.Yes}, "unread": {Read: reading.No}}[wish.Status]
	if !known {
		return refuse("status %.40q is not read or unread", wish.Status)
	}
	return done(w, h.Library.Mark(r.Context(), wish.IDs, m))
}

// markAll marks all entries of a feed, of a category, or of the person read.
func (h *handler) markAll(w http.ResponseWriter, r *http.Request) error {
	if _, err := id[int64](r, "user"); err != nil {
		return err
	}
	streams, err := h.streams(r, 0, reading.Stream{})
	if err != nil {
		return err
	}
	for _, s := range streams {
		if err := h.Library.MarkStream(r.Context(), s, reading.Mark{Read: reading.Yes}); err != nil {
			return err
		}
	}
	return done(w, nil)
}

// turnStar stars an entry, or takes its star away where it has one: readers do not say which they mean.
func (h *handler) turnStar(w http.ResponseWriter, r *http.Request) error {
	h.turning.Lock()
	defer h.turning.Unlock()
	i, err := h.item(r)
	if err != nil {
		return err
	}
	m := reading.Mark{Starred: reading.Yes}
	if i.Starred {
		m.Starred = reading.No
	}
	return done(w, h.Library.Mark(r.Context(), []reading.ItemID{i.ID}, m))
}

// save refuses what integrations says there is not.
func (h *handler) save(http.ResponseWriter, *http.Request, *reading.Item) error {
	return refuse("There is no other service here that entries could be saved to.")
}
