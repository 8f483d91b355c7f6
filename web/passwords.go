package web

import (
	"crypto/rand"
	"errors"
	"net/http"
	"sync"

	"feedex/reading"
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
	Person       string // whose it is, "" for the owner
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

// take returns the password, once.
func (s *secrets) take(word string) (newPassword, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.waiting[word]
	delete(s.waiting, word)
	return p, ok
}

// errLogin is for what needs a login.
var errLogin = clientError{http.StatusForbidden, "Log in first",
	"Passwords are shown and made for those only who have an owner's: anybody who uses this machine can open this " +
		"page."}

// addPassword makes an app password.
func (h *Handler) addPassword(_ http.ResponseWriter, r *http.Request) (string, error) {
	if !loggedIn(r.Context()) {
		return "", errLogin
	}
	name := r.PostFormValue("name")
	if err := reading.CheckPasswordName(name); err != nil {
		return "", clientError{http.StatusBadRequest, "That cannot be a name", err.Error() + "."}
	}
	scope := reading.ReaderScope
	if r.PostFormValue("scope") == string(reading.OwnerScope) {
		scope = reading.OwnerScope
	}
	person := r.PostFormValue("person")
	secret, err := h.Source.AddPassword(r.Context(), name, person, scope)
	if errors.Is(err, reading.ErrTaken) || errors.Is(err, reading.ErrPasswords) || errors.Is(err, reading.ErrScope) ||
		errors.Is(err, reading.ErrNobody) {
		return "", clientError{http.StatusBadRequest, "No password was made", err.Error() + "."}
	}
	if err != nil {
		return "", err
	}
	return "/passwords/" + h.secrets.add(newPassword{name, secret, scope == reading.OwnerScope, person}), nil
}

// removePassword removes one.
func (h *Handler) removePassword(_ http.ResponseWriter, r *http.Request) (string, error) {
	if !loggedIn(r.Context()) {
		return "", errLogin
	}
	return "/settings?done=password", h.Source.RemovePassword(r.Context(), r.PostFormValue("name"))
}

// password shows a new password, once.
func (h *Handler) password(r *http.Request) (view, error) {
	p, ok := h.secrets.take(r.PathValue("word"))
	if !ok || !loggedIn(r.Context()) {
		return view{}, ErrNone
	}
	return view{Page: "password", Title: "A new password", Nav: "/settings", Body: p}, nil
}
