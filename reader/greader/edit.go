package greader

import (
	"cmp"
	"net/http"
	"strings"

	"feedex/reading"
	"feedex/syncapi"
)

// editTag marks items: a adds tags, r takes them away, each as often as it stands there. newsboat adds two to make an
// item unread. States other than read, unread and starred do not matter.
func (h *handler) editTag(w http.ResponseWriter, r *request) error {
	var m reading.Mark
	tagged(&m, r.params.Values["a"], reading.Yes, reading.No)
	tagged(&m, r.params.Values["r"], reading.No, reading.Either)
	ids := r.ids()
	if len(ids) == 0 {
		return answer(w, nil)
	}
	for _, edit := range []struct {
		tags []string
		has  bool
	}{{r.params.Values["a"], true}, {r.params.Values["r"], false}} {
		for _, name := range labels(edit.tags) {
			if err := h.Library.Label(r.Context(), ids, name, edit.has); err != nil {
				return err
			}
		}
	}
	if m != (reading.Mark{}) {
		return answer(w, h.Library.Mark(r.Context(), ids, m))
	}
	return answer(w, nil)
}

// tagged sets what tags say of items: is for those that are what the tag names, and not for those that a tag names
// which says the contrary.
func tagged(m *reading.Mark, tags []string, is, not reading.Choice) {
	for _, tag := range tags {
		switch state(strings.TrimSpace(tag)) {
		case readState:
			m.Read = is
		case unread, tracking:
			m.Read = cmp.Or(not, m.Read)
		case starred:
			m.Starred = is
		}
	}
}

// markAll marks a stream read that was shown until a time, or until now. In a stream that nobody knows there is nothing
// to mark, nor in that of what is read.
func (h *handler) markAll(w http.ResponseWriter, r *request) error {
	name := r.params.get("s")
	if name == "" {
		return syncapi.Refuse(http.StatusBadRequest, "s says which stream to mark.") // not everything, by mistake
	}
	s, known, err := h.stream(r.Context(), name)
	if err != nil {
		return err
	}
	if known && s.Read != reading.Yes {
		s.Read = reading.No
		err = h.Library.MarkStream(r.Context(), s.Before(h.now(r.params, "ts")), reading.Mark{Read: reading.Yes})
	}
	return answer(w, err)
}
