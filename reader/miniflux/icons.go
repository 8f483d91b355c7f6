package miniflux

import (
	"net/http"

	"feedex/reading"
	"feedex/syncapi"
)

type (
	// An iconRef says which picture a feed has.
	iconRef struct {
		Feed reading.FeedID `json:"feed_id"`
		Icon reading.IconID `json:"icon_id"`
	}
	iconObject struct {
		ID   reading.IconID `json:"id"`
		Type string         `json:"mime_type"`
		Data string         `json:"data"`
	}
)

func (h *handler) feedIcon(w http.ResponseWriter, r *http.Request, s *reading.FollowedFeed) error {
	return h.replyIcon(w, r, s.Icon.ID)
}

func (h *handler) icon(w http.ResponseWriter, r *http.Request) error {
	n, err := id[reading.IconID](r, "icon")
	if err != nil {
		return err
	}
	return h.replyIcon(w, r, n)
}

func (h *handler) replyIcon(w http.ResponseWriter, r *http.Request, n reading.IconID) error {
	icon, err := h.Library.Icon(r.Context(), n)
	if err != nil {
		return err
	}
	if icon.ID == 0 {
		return errMissing
	}
	mediaType, data := syncapi.IconData(&icon)
	return reply(w, http.StatusOK, iconObject{icon.ID, mediaType, data})
}
