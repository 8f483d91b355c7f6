package web

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"feedex/reading"
)

// UndoTime is for how long what a page did can be undone.
const UndoTime = 10 * time.Minute

// maxUndos is how many times each person can undo; as many messages are kept besides.
const maxUndos = 8

// undos remembers for a while what was done, and how it is taken back.
type undos struct {
	mu   sync.Mutex
	list []undo // the latest last
}

// An undo is what was done by a browser, which may take it back.
type undo struct {
	Key   string
	What  string // was done
	Back  string // address of the list
	whose string // session may take it back
	of    reading.PersonID
	undo  func(context.Context) error // nil for what cannot be taken back
	until time.Time
}

// whose is the session that asks, "" where the browser is not known: what one person did there is not for the next to
// take back.
func (h *kit) whose(r *http.Request) string {
	if visit := visitOf(r); visit != "" {
		return h.token(visit, r)
	}
	return ""
}

// Can reports whether it can be taken back.
func (u *undo) Can() bool { return u.undo != nil }

// said remembers what a request did that cannot be undone, and returns the address of the page that says so.
func (h *kit) said(r *http.Request, page, what string) string {
	return h.canUndo(r, page, undo{What: what})
}

// canUndo remembers what a request did, and returns the address of the page that says so and offers to undo it.
func (h *kit) canUndo(r *http.Request, page string, u undo) string {
	u.Key, u.whose, u.of, u.until = rand.Text(), h.whose(r), viewerOf(r.Context()).Person, h.Now().Add(UndoTime)
	l, key := &h.undos, u.Key
	time.AfterFunc(UndoTime, func() { l.done(key) }) // it may hold a secret
	l.mu.Lock()
	defer l.mu.Unlock()
	alike := func(old *undo) bool { return old.of == u.of && old.Can() == u.Can() } // no message takes an undo's place
	over := 1 - maxUndos
	for i := range l.list {
		if alike(&l.list[i]) {
			over++
		}
	}
	l.list = append(slices.DeleteFunc(l.list, func(old undo) bool {
		drop := alike(&old) && over > 0
		if drop {
			over--
		}
		return drop
	}), u)
	return withUndo(page, u.Key)
}

// undoOf is the undo that a page offers, nil for none.
func (h *kit) undoOf(r *http.Request) *undo {
	return h.undos.of(h.whose(r), r.URL.Query().Get("undo"), h.Now())
}

// of returns the undo that a session has with that key, nil where there is none any more. It forgets what is over.
func (l *undos) of(whose, key string, now time.Time) *undo {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(u undo) bool { return !now.Before(u.until) })
	for _, u := range l.list {
		if u.Key == key && u.whose == whose && whose != "" {
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

// undo takes back what was done.
func (h *desk) undo(_ http.ResponseWriter, r *http.Request) (string, error) {
	u := h.undos.of(h.whose(r), r.PostFormValue("undo"), h.Now())
	if u == nil || !u.Can() {
		return "", clientError{http.StatusGone, "That cannot be undone any more",
			"It was too long ago, or the node was restarted since. Nothing was changed."}
	}
	if err := u.undo(r.Context()); err != nil {
		return "", err
	}
	h.undos.done(u.Key)
	return u.Back, nil
}

// withUndo is the address of a list that offers an undo, or without a key one that offers none.
func withUndo(address, key string) string {
	return withQuery(address, func(q url.Values) {
		q.Del("undo")
		if key != "" {
			q.Set("undo", key)
		}
	})
}
