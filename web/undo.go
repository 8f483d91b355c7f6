package web

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"feedex/reading"
)

// Bounds of what can be undone: entries at one time, for how long, and how many times.
const (
	maxUndone = 50_000
	undoTime  = 10 * time.Minute
	maxUndos  = 8
)

// undos remembers for a while which entries were marked read at one stroke.
type undos struct {
	mu   sync.Mutex
	list []undo // the latest last
}

// An undo is what a browser may take back.
type undo struct {
	Key   string
	What  string // was done
	Back  string // address of the list
	visit string // of the browser
	ids   []reading.ItemID
	until time.Time
}

// keep remembers an undo, and returns its key.
func (l *undos) keep(u undo) string {
	u.Key = rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, u)
	l.list = slices.Delete(l.list, 0, max(0, len(l.list)-maxUndos))
	return u.Key
}

// of returns the undo that a browser has with that key, nil where there is none any more. It forgets what is over.
func (l *undos) of(visit, key string, now time.Time) *undo {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(u undo) bool { return !now.Before(u.until) })
	for _, u := range l.list {
		if u.Key == key && u.visit == visit && visit != "" {
			return &u
		}
	}
	return nil
}

// done forgets an undo.
func (l *undos) done(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(u undo) bool { return u.Key == key })
}

// undo marks unread again what was marked read at one stroke.
func (h *Handler) undo(_ http.ResponseWriter, r *http.Request) (string, error) {
	u := h.undos.of(visitOf(r), r.PostFormValue("undo"), h.Now())
	if u == nil {
		return "", clientError{http.StatusGone, "That cannot be undone any more",
			"It was too long ago, or the node was restarted since. Nothing was changed."}
	}
	s := reading.Stream{Read: reading.Yes, Unlisted: true, Among: u.ids}
	if err := h.Source.MarkStream(r.Context(), s, reading.Mark{Read: reading.No}); err != nil {
		return "", err
	}
	h.undos.done(u.Key)
	return u.Back, nil
}

// withUndo is the address of a list that offers an undo, or without a key one that offers none.
func withUndo(address, key string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	q := u.Query()
	q.Del("undo")
	if key != "" {
		q.Set("undo", key)
	}
	u.RawQuery = q.Encode()
	return u.String()
}
