package miniflux

import (
	"net/http"

	"feedex/reading"
	"feedex/syncapi"
)

// refresh has a feed polled.
func (h *handler) refresh(w http.ResponseWriter, r *http.Request, s *reading.FollowedFeed) error {
	return h.poll(w, r, s.ID)
}

// refreshAll has all feeds polled.
func (h *handler) refreshAll(w http.ResponseWriter, r *http.Request) error {
	return h.refreshIn(w, r, category{})
}

// refreshIn has the feeds of a category polled, or all where that is none.
func (h *handler) refreshIn(w http.ResponseWriter, r *http.Request, in category) error {
	feeds, err := h.Library.Subscriptions(r.Context())
	if err != nil {
		return err
	}
	var ids []reading.FeedID
	for i := range feeds {
		if in.ID == 0 || categoryOf(&feeds[i]).ID == in.ID {
			ids = append(ids, feeds[i].ID)
		}
	}
	return h.poll(w, r, ids...)
}

// poll has feeds polled, and answers alike where a publisher is to be left alone a while, but for a header: Miniflux
// says of a refresh no more than that it was asked for.
func (h *handler) poll(w http.ResponseWriter, r *http.Request, ids ...reading.FeedID) error {
	said, err := h.Library.Refresh(r.Context(), ids...)
	syncapi.SayLater(w, said)
	return done(w, err)
}
