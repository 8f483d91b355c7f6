// Package web is the dashboard: pages for the node's owner and, of what there is to read, for others who read there, at
// the address that feed readers use. Pages are made by the server, need no program in the browser, and load nothing
// from elsewhere but what somebody plays; scripts of a few lines keep an open page up to date.
//
// Text that publishers and peers wrote is shown as text or, where it is an entry, sanitized (package safehtml), under a
// Content-Security-Policy that lets no program in but these scripts. Every change is a POST with a token, but that a
// link of our own lists, which bears one too, marks the entry read that it opens.
package web

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"feedex/reading"
	"feedex/safehtml"
	"feedex/syncapi"
)

// Config holds the dependencies of the dashboard.
type Config struct {
	// Source is the node.
	Source Source
	// Login reports whether pages are shown to a browser only if it has shown a password. Default: to everybody,
	// as is right for this machine alone; feeds whose URL is a secret, and passwords, are for browsers that have logged
	// in in any case.
	Login func(*http.Request) bool
	// Version is the program's own. Default "".
	Version string
	// Ending is closed when the server is about to stop: pages that are kept up to date let go then. Default: never.
	Ending <-chan struct{}
	// Now is the time. Default time.Now.
	Now func() time.Time
	// Log takes what went wrong on our side. Default: nowhere.
	Log *slog.Logger
}

// A kit is what all pages are made with, whoever asks. Nothing in it is anybody's.
type kit struct {
	Login   func(*http.Request) bool
	Version string
	Ending  <-chan struct{}
	Now     func() time.Time
	Log     *slog.Logger

	// goesOn reports whether a session that asked a while ago is one still.
	goesOn  func(*http.Request) bool
	pages   pages
	assets  assets
	safe    *safehtml.Sanitizer
	key     []byte // of the tokens
	streams streams
	undos   undos
	secrets secrets
	imports imports
}

// A desk is where one person reads: what serves the pages that are open to whoever reads. It has no way to the node but
// their Shelf.
type desk struct {
	*kit
	Shelf PersonalSource
}

// A Handler serves the pages. Those that are its own are the owner's, whose desk it has.
type Handler struct {
	*desk
	Source Source
	mux    http.Handler
}

// New makes the handler, which serves what Handler.routes lists. It trusts its caller to have checked the Host header
// against DNS rebinding.
func New(cfg Config) (*Handler, error) {
	k := &kit{Login: cfg.Login, Version: cfg.Version, Ending: cfg.Ending, Now: cfg.Now,
		Log: cmp.Or(cfg.Log, slog.New(slog.DiscardHandler)), safe: safehtml.New(), key: newKey()}
	if k.Login == nil {
		k.Login = func(*http.Request) bool { return false }
	}
	if k.Now == nil {
		k.Now = time.Now
	}
	var err error
	if k.assets, err = newAssets(); err != nil {
		return nil, err
	}
	if k.pages, err = newPages(k.assets); err != nil {
		return nil, err
	}
	h := &Handler{desk: &desk{k, cfg.Source.Of(reading.Owner, "")}, Source: cfg.Source}
	k.goesOn = func(r *http.Request) bool {
		c, err := h.viewer(r)
		return err == nil && c == viewerOf(r.Context())
	}
	mux := http.NewServeMux()
	for _, t := range h.routes() {
		mux.HandleFunc(t.pattern, h.admit(t))
	}
	h.mux = mux
	return h, nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if syncapi.Foreign(r) && !linked(r) {
		http.Error(w, "Pages of other sites may link here, and no more. Nothing was changed.", http.StatusForbidden)
		return
	}
	c, err := h.viewer(r)
	if err != nil {
		h.Log.Error("passwords not read", "err", err)
		http.Error(w, "The node could not read its archive. Its log says why.", http.StatusInternalServerError)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), viewerKey{}, c))
	if r.Method != http.MethodPost { // which brings no form: FormValue would take up one of whatever length
		r.Body = http.NoBody
	}
	h.mux.ServeHTTP(w, r)
}

// page serves a page.
func (h *kit) page(make func(*http.Request) (view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token := h.visitor(w, r)
		v, err := make(r)
		if err != nil {
			v = h.failure(r, err)
		}
		h.show(w, r, token, v)
	}
}

// failure is the page that says what went wrong.
func (h *kit) failure(r *http.Request, err error) view {
	var refused clientError
	var slowed reading.Slowed
	var not unread
	var bad badForm
	switch {
	case errors.As(err, &bad):
		v, err := bad.again()
		if err != nil {
			return h.failure(r, err)
		}
		// The address is that of the form.
		v.Code = cmp.Or(v.Code, http.StatusUnprocessableEntity)
		return v
	case errors.As(err, &not):
		return view{Page: "unread", Title: "There is no feed", Nav: "/settings", Code: http.StatusUnprocessableEntity,
			Body: &not}
	case errors.As(err, &slowed):
		refused = clientError{http.StatusTooManyRequests, "Please wait", slowed.Error() + "."}
	case errors.Is(err, ErrNone), errors.Is(err, reading.ErrNoItem):
		refused = clientError{http.StatusNotFound, "Nothing here",
			"This node has no such page, feed or entry. It may have been removed."}
	case errors.As(err, &refused):
	case errors.Is(err, reading.ErrRests):
		refused = clientError{http.StatusServiceUnavailable, "Nothing is being kept at present",
			reading.WhyRests(err) + "."}
	case errors.Is(err, context.DeadlineExceeded):
		refused = clientError{http.StatusServiceUnavailable, "That took too long",
			"The node is busy. Try again in a moment."}
	default:
		if r.Context().Err() == nil {
			h.Log.Error("page not made", "path", r.URL.Path, "err", err)
		}
		refused = clientError{http.StatusInternalServerError, "The node could not do that", err.Error() + "."}
	}
	if half := (partly{}); errors.As(err, &half) {
		refused.text = half.done + ": " + refused.text
	}
	v := view{Page: "message", Title: refused.title, Code: refused.code, Body: message{refused.text}}
	if slowed != (reading.Slowed{}) {
		v.Retry = slowed.Seconds()
	}
	return v
}

// A message is the body of a page that only says something.
type message struct{ Text string }

// A clientError is an error of the client.
type clientError struct {
	code        int
	title, text string
}

func (r clientError) Error() string { return cmp.Or(r.text, r.title) }

// mendable is an error that is one of those which whoever asked can mend, in words for them; any other is as it was.
func mendable(err error, title string, known ...error) error {
	for _, k := range known {
		if errors.Is(err, k) {
			return clientError{http.StatusBadRequest, title, sentence(err.Error())}
		}
	}
	return err
}

// inForm has a page with a form say what is wrong with that, where it can be mended.
func inForm(err error, page func(problem string) (view, error)) error {
	var bad clientError
	if !errors.As(err, &bad) {
		return err
	}
	return badForm{func() (view, error) { return page(bad.text) }}
}
