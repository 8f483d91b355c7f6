package web

import (
	"net/http"
	"strconv"

	"feedex/picture"
)

// icon serves the picture of a feed to who knows its word: readers fetch it without a password.
func (h *Handler) icon(w http.ResponseWriter, r *http.Request) {
	icon, err := h.Source.IconAt(r.Context(), r.PathValue("word"))
	if err != nil {
		h.Log.Error("picture of a feed not read", "err", err)
		http.Error(w, "The node could not read its archive. Its log says why.", http.StatusInternalServerError)
		return
	}
	if len(icon.Content) == 0 {
		http.NotFound(w, r)
		return
	}
	servePicture(w, icon.Content)
}

// servePicture answers with a picture, which is never another at that address.
func servePicture(w http.ResponseWriter, content []byte) {
	header := w.Header()
	header.Set("Content-Type", picture.Type(content))
	header.Set("Content-Security-Policy", picture.Policy)
	header.Set("Content-Length", strconv.Itoa(len(content)))
	header.Set("Cache-Control", "private, max-age=31536000, immutable")
	_, _ = w.Write(content) // a browser that went away wants none
}
