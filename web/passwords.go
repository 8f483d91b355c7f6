package web

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"

	"feedex/reading"
	"feedex/syncapi"
)

// A passwordLine is an app password as the settings list it.
type passwordLine struct {
	Name          string
	Owner         bool   // it opens the dashboard as well
	Person        string // whose it is, "" for the owner
	Created, Used moment
}

// A newPassword is one that was just made. It is shown once.
type newPassword struct {
	Name, Secret string
	Owner        bool
	Person       string // whose it is, "" for who made it
	By           viewer // who made it, to whom it is shown
}

// keptSecrets is how many new passwords wait to be shown, at most.
const keptSecrets = 8

// secrets are passwords that were made and not shown yet, by a word that nobody guesses.
type secrets struct {
	mu      sync.Mutex
	waiting map[string]newPassword
}

// add keeps a password until it is taken.
func (s *secrets) add(p newPassword) (word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil || len(s.waiting) >= keptSecrets {
		s.waiting = make(map[string]newPassword)
	}
	word = rand.Text()
	s.waiting[word] = p
	return word
}

// take returns the password to who made it, once.
func (s *secrets) take(word string, by viewer) (newPassword, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.waiting[word]
	if !ok || p.By != by {
		return newPassword{}, false
	}
	delete(s.waiting, word)
	return p, true
}

// errLogin is for what needs a login.
var errLogin = clientError{http.StatusForbidden, "Log in first",
	"Passwords are shown and made for those only who have an owner's: anybody who uses this machine can open this " +
		"page."}

// addPassword makes an app password.
func (h *Handler) addPassword(_ http.ResponseWriter, r *http.Request) (string, error) {
	name := r.PostFormValue("name")
	scope := reading.ReaderScope
	if r.PostFormValue("scope") == string(reading.OwnerScope) {
		scope = reading.OwnerScope
	}
	person := r.PostFormValue("person")
	secret, err := h.Source.AddPassword(r.Context(), name, person, scope)
	if err != nil {
		return "", notMade(err)
	}
	return "/passwords/" + h.secrets.add(newPassword{name, secret, scope == reading.OwnerScope, person,
		viewerOf(r.Context())}), nil
}

// removePassword removes one.
func (h *Handler) removePassword(_ http.ResponseWriter, r *http.Request) (string, error) {
	return h.passwordGone(r, h.Source.RemovePassword)
}

// passwordGone has remove remove the password that a form names, which can be undone: what is kept of it for that is a
// hash, in memory.
func (h *kit) passwordGone(r *http.Request,
	remove func(context.Context, string) (func(context.Context) error, error)) (string, error) {
	name := r.PostFormValue("name")
	back, err := remove(r.Context(), name)
	if errors.Is(err, ErrNone) {
		return "", clientError{http.StatusNotFound, "No such password",
			"There is no password of that name that you may remove. It may have been removed already."}
	} else if err != nil {
		return "", err
	}
	return h.canUndo(r, "/settings", undo{What: "The password " + name + " is removed. Whatever used it is locked out.",
		Back: "/settings", undo: func(ctx context.Context) error { return notMade(back(ctx)) }}), nil
}

// notMade is why a password was not made, in words where that is for who asked to mend.
func notMade(err error) error {
	return mendable(err, "No password was made", reading.ErrName, reading.ErrTaken, reading.ErrPasswords,
		reading.ErrOwn, reading.ErrScope, reading.ErrNobody)
}

// errOwnPassword is for what a feed reader's password does not open.
var errOwnPassword = clientError{http.StatusForbidden, "Not with a feed reader’s password",
	"Passwords are made and removed with one that opens everything that is yours. The owner of this node makes it."}

// addOwnPassword makes somebody who is not the owner a password for a feed reader.
func (h *desk) addOwnPassword(_ http.ResponseWriter, r *http.Request) (string, error) {
	by := viewerOf(r.Context())
	if !by.settles() {
		return "", errOwnPassword
	}
	name := r.PostFormValue("name")
	secret, err := h.Shelf.AddOwnPassword(r.Context(), name)
	if err != nil {
		return "", notMade(err)
	}
	return "/passwords/" + h.secrets.add(newPassword{Name: name, Secret: secret, By: by}), nil
}

// removeOwnPassword removes one.
func (h *desk) removeOwnPassword(_ http.ResponseWriter, r *http.Request) (string, error) {
	if !viewerOf(r.Context()).settles() {
		return "", errOwnPassword
	}
	return h.passwordGone(r, h.Shelf.RemoveOwnPassword)
}

// password shows a new password to who made it, once.
func (h *desk) password(r *http.Request) (view, error) {
	p, ok := h.secrets.take(r.PathValue("word"), viewerOf(r.Context()))
	if !ok {
		return view{}, ErrNone
	}
	return view{Page: "password", Title: "A new password", Nav: "/settings", Body: struct {
		newPassword
		Node string // where a reader on this machine finds the node, as the browser did
	}{p, syncapi.Scheme(r) + "://" + r.Host}}, nil
}
