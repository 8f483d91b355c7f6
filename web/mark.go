package web

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"time"

	"feedex/reading"
)

// mark marks an entry as the button says that was pressed.
func (h *Handler) mark(_ http.ResponseWriter, r *http.Request) (string, error) {
	id, err := entryID(r.PostFormValue("entry"))
	if err != nil {
		return "", err
	}
	var m reading.Mark
	switch r.PostFormValue("as") {
	case "read":
		m.Read = reading.Yes
	case "unread":
		m.Read = reading.No
	case "starred":
		m.Starred = reading.Yes
	case "plain":
		m.Starred = reading.No
	}
	e, err := h.Source.Entry(r.Context(), id)
	if err != nil {
		return "", err
	}
	if e.Item.ID == 0 || e.Entry.Feed.Secret() && !loggedIn(r.Context()) {
		return "", ErrNone
	}
	return local(r.PostFormValue("next")), h.Source.Mark(r.Context(), e.Item.ID, m)
}

// markAll marks as read what had arrived when the list was made, of all feeds or of one.
func (h *Handler) markAll(_ http.ResponseWriter, r *http.Request) (string, error) {
	ctx := r.Context()
	number, err1 := feedOf(r)
	until, err2 := strconv.ParseInt(r.PostFormValue("until"), 10, 64)
	if errors.Join(err1, err2) != nil {
		return "", ErrNone
	}
	s := reading.Stream{Feed: reading.FeedID(number), Read: reading.No}.Before(time.Unix(until, 0))
	ids, err := h.Source.IDs(ctx, s, reading.Page{Limit: maxUndone + 1})
	if err != nil {
		return "", err
	}
	back := withUndo(local(r.PostFormValue("next")), "")
	if len(ids) == 0 || len(ids) > maxUndone {
		return back, h.Source.MarkStream(ctx, s, reading.Mark{Read: reading.Yes})
	}
	what := "Marked " + count(len(ids), "entry", "entries")
	if number != 0 {
		known, err := h.Source.Feed(ctx, number)
		if err != nil {
			return "", err
		}
		what += " of " + titleOf(known.URL, cmp.Or(known.Name, known.Title))
	}
	s.Among = ids
	if err := h.Source.MarkStream(ctx, s, reading.Mark{Read: reading.Yes}); err != nil {
		return "", err
	}
	return withUndo(back, h.undos.keep(undo{What: what + " read.", Back: back, visit: visitOf(r), ids: ids,
		until: h.Now().Add(undoTime)})), nil
}
