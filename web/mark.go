package web

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"feedex/reading"
)

// mark marks an entry as the button says that was pressed.
func (h *desk) mark(_ http.ResponseWriter, r *http.Request) (string, error) {
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
	default:
		return "", clientError{http.StatusBadRequest, "That is no mark",
			"An entry is marked read, unread, starred or plain."}
	}
	item, err := h.itemOf(r)
	if err != nil {
		return "", err
	}
	return local(r.PostFormValue("next")), h.Shelf.Mark(r.Context(), []reading.ItemID{item}, m)
}

// itemOf is the item of the entry that a form names, where the browser may see it.
func (h *desk) itemOf(r *http.Request) (reading.ItemID, error) {
	id, err := entryID(r.PostFormValue("entry"))
	if err != nil {
		return 0, err
	}
	e, err := h.Shelf.Entry(r.Context(), id)
	if err == nil && (e.Item.ID == 0 || e.Entry.Feed.Secret() && !loggedIn(r.Context())) {
		err = ErrNone
	}
	return e.Item.ID, err
}

// fullText has the text of an entry be that of its page, or that of its feed. What the page says of a fetch that failed
// the node has kept.
func (h *desk) fullText(_ http.ResponseWriter, r *http.Request) (string, error) {
	item, err := h.itemOf(r)
	if err != nil {
		return "", err
	}
	next := local(r.PostFormValue("next"))
	if r.PostFormValue("as") != "page" {
		return next, h.Shelf.ShowFullText(r.Context(), item, false)
	}
	_, err = h.Shelf.FetchFullText(r.Context(), item, true)
	switch {
	case errors.Is(err, reading.ErrFullText):
		return next, nil
	case errors.Is(err, context.DeadlineExceeded):
		return "", clientError{http.StatusGatewayTimeout, "The page is slow",
			"The node still waits for it. Load the entry again in a moment."}
	}
	return next, err
}

// markAll marks as read what had arrived when the list was made, of all feeds, of a folder or of a feed: what the list
// showed to who asks.
func (h *desk) markAll(_ http.ResponseWriter, r *http.Request) (string, error) {
	ctx := r.Context()
	number, err1 := feedOf(r)
	folder, err2 := strconv.ParseInt(cmp.Or(r.PostFormValue("folder"), "0"), 10, 64)
	newest, err3 := strconv.ParseInt(r.PostFormValue("newest"), 10, 64)
	if errors.Join(err1, err2, err3) != nil {
		return "", ErrNone
	}
	s := reading.Stream{Feed: reading.FeedID(number), Folder: reading.FolderID(folder), Read: reading.No,
		NoSecrets: !loggedIn(ctx)}
	where, err := h.nameOf(ctx, s)
	if err != nil {
		return "", err
	}
	var marked itemSet
	page := reading.Page{Oldest: true, Limit: reading.MaxPage}
	for more := true; more; {
		ids, err := h.Shelf.IDs(ctx, s, page)
		if err != nil {
			return "", err
		}
		here, _ := slices.BinarySearch(ids, reading.ItemID(newest)+1) // so many were when the list was made
		marked.add(ids[:here])
		if more = here == page.Limit; more {
			page.After = ids[here-1]
		}
	}
	back := withUndo(local(r.PostFormValue("next")), "")
	if marked.n == 0 {
		return back, nil
	}
	mark := func(ctx context.Context, read reading.Choice) error {
		return h.Shelf.Mark(ctx, marked.all(), reading.Mark{Read: read})
	}
	if err := mark(context.WithoutCancel(ctx), reading.Yes); err != nil { // a browser may leave, the undo is to be had
		return "", err
	}
	return h.canUndo(r, back, undo{What: "Marked " + count(marked.n, "entry", "entries") + where + " read.", Back: back,
		undo: func(ctx context.Context) error { return mark(ctx, reading.No) }}), nil
}

// An itemSet is many items in little room: mostly one byte for each, as most follow one another. The zero value is
// empty.
type itemSet struct {
	n     int
	last  reading.ItemID
	steps []byte // from each to the next
}

// add adds items behind the others, in order.
func (s *itemSet) add(ids []reading.ItemID) {
	for _, id := range ids {
		s.steps = binary.AppendUvarint(s.steps, uint64(id-s.last))
		s.n, s.last = s.n+1, id
	}
}

// all are the items, in order.
func (s *itemSet) all() []reading.ItemID {
	list, last := make([]reading.ItemID, 0, s.n), reading.ItemID(0)
	for rest := s.steps; len(rest) > 0; {
		step, size := binary.Uvarint(rest)
		rest, last = rest[size:], last+reading.ItemID(step)
		list = append(list, last)
	}
	return list
}

// nameOf says of which feed or folder the stream is, behind what it has: "" for all. The error is ErrNone where there
// is no such.
func (h *desk) nameOf(ctx context.Context, s reading.Stream) (string, error) {
	if s.Feed != 0 {
		known, err := h.Shelf.Known(ctx, int64(s.Feed))
		return " of " + titleOf(known.URL, known.Name, known.Title), err
	}
	if s.Folder == 0 {
		return "", nil
	}
	folders, err := h.Shelf.Folders(ctx)
	for _, f := range folders {
		if f.ID == s.Folder {
			return " in " + f.Name, err
		}
	}
	return "", cmp.Or(err, ErrNone)
}
