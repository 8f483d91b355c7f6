package greader

import (
	"net/http"
	"strings"

	"feedex/reading"
	"feedex/syncapi"
)

// editTag marks items: a adds tags, r takes them away, each as often as it stands there. newsboat adds two to make an
// item unread. Tags other than read, unread and starred do not matter.
func (h *handler) editTag(w http.ResponseWriter, r *request) error {
	var m reading.Mark
	for _, tag := range r.params.Values["a"] {
		switch state(strings.TrimSpace(tag)) {
		case readState:
			m.Read = reading.Yes
		case unread, tracking:
			m.Read = reading.No
		case starred:
			m.Starred = reading.Yes
		}
	}
	for _, tag := range r.params.Values["r"] {
		switch state(strings.TrimSpace(tag)) {
		case readState:
			m.Read = reading.No
		case starred:
			m.Starred = reading.No
		}
	}
	if ids := r.ids(); len(ids) > 0 && m != (reading.Mark{}) {
		if err := h.Library.Mark(r.Context(), ids, m); err != nil {
			return err
		}
	}
	return ok(w)
}

// markAll marks a stream read that was shown until a time, or until now. In a stream that nobody knows there is nothing
// to mark.
func (h *handler) markAll(w http.ResponseWriter, r *request) error {
	name := r.params.get("s")
	if name == "" {
		return syncapi.Refuse(http.StatusBadRequest, "s says which stream to mark.") // not everything, by mistake
	}
	s, known, err := h.stream(r.Context(), name)
	if err != nil {
		return err
	}
	if known {
		s.Read = reading.No
		if err := h.Library.MarkStream(r.Context(), s.Before(h.now(r.params, "ts")),
			reading.Mark{Read: reading.Yes}); err != nil {
			return err
		}
	}
	return ok(w)
}
