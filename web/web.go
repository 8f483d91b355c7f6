// Package web is the dashboard: pages for the node's owner, at the address that feed readers use. Pages are made by
// the server, need no program in the browser, and load nothing from elsewhere but what somebody plays; scripts of a
// few lines keep an open page up to date.
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

// A Handler serves the pages.
type Handler struct {
	Config
	mux     *http.ServeMux
	origin  *http.CrossOriginProtection
	pages   pages
	assets  assets
	safe    *safehtml.Sanitizer
	key     []byte // of the tokens
	streams streams
	imports imports
	secrets secrets
	undos   undos
}

// New makes the handler. It serves "/", "/feeds", "/entries", "/neighbors", "/join", "/search", "/settings" and what is
// below them. It trusts its caller to have checked the Host header against DNS rebinding.
func New(cfg Config) (*Handler, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Login == nil {
		cfg.Login = func(*http.Request) bool { return false }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	h := &Handler{Config: cfg, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection(), safe: safehtml.New(),
		key: newKey()}
	var err error
	if h.assets, err = newAssets(); err != nil {
		return nil, err
	}
	if h.pages, err = newPages(h.assets); err != nil {
		return nil, err
	}
	h.page("GET /{$}", h.home)
	h.page("GET /feeds", h.feeds)
	h.page("GET /feeds/{number}", h.feed)
	h.page("GET /recommended", h.recommended)
	h.page("GET /entries", h.entries)
	h.page("GET /entries/{id}", h.entry)
	h.page("GET /neighbors", h.neighbors)
	h.page("GET /join", h.invited)
	h.page("GET /search", h.search)
	h.page("GET /filters", h.filters)
	h.page("GET /settings", h.settings)
	h.page("GET /notifications", h.receivers)
	h.page("GET "+offlinePath, h.offline)
	h.page("GET /imported/{number}", h.imported)
	h.page("GET /passwords/{word}", h.password)
	h.page("GET /people/{number}", h.person)
	h.page("GET /login", h.loginPage)
	h.change("POST /login", h.login)
	h.change("POST /logout", h.logout)
	h.change("POST /passwords", h.addPassword)
	h.change("POST /passwords/remove", h.removePassword)
	h.change("POST /people", h.addPerson)
	h.change("POST /people/remove", h.removePerson)
	h.change("POST /filters", h.keepFilter)
	h.change("POST /filters/change", h.changeFilter)
	h.change("POST /notifications", h.addReceiver)
	h.change("POST /notifications/try", h.tryReceiver)
	h.change("POST /notifications/remove", h.removeReceiver)
	h.change("POST /mark", h.mark)
	h.change("POST /read", h.markAll)
	h.change("POST /undo", h.undo)
	h.change("POST /adjust", h.adjust)
	h.change("POST /pictures", h.showPictures)
	h.change("POST /fulltext", h.fullText)
	h.change("POST /follow", h.follow)
	h.change("POST /decline", h.decline)
	h.change("POST /share", h.share)
	h.change("POST /join", h.join)
	h.change("POST /sources", h.nameSource)
	h.change("POST /sources/remove", h.forgetSource)
	h.change("POST /refresh", h.refresh)
	h.change("POST /unfollow", h.unfollow)
	h.change("POST /dht", h.answerDHT)
	h.change("POST /look", h.setLook)
	h.change("POST /sharing", h.setShareLink)
	h.change("POST /saving", h.setService)
	h.change("POST /save", h.save)
	h.change(importPattern, h.importList)
	h.mux.HandleFunc("GET /entries/{id}/open", h.open)
	h.mux.HandleFunc("GET /search/network", h.searchNetwork)
	h.mux.HandleFunc("GET /live", h.serveLive)
	h.mux.HandleFunc("GET /assets/{name}", h.assets.serve)
	h.mux.HandleFunc("GET /pictures/{feed}/{code}/{address}", h.picture)
	h.mux.HandleFunc("GET "+manifestPath, h.manifest)
	h.mux.HandleFunc("GET "+workerPath, h.worker)
	h.mux.HandleFunc("GET "+reading.IconPath+"{word}", h.icon)
	h.page("/", func(*http.Request) (view, error) { return view{}, ErrNone })
	return h, nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if h.foreign(r) && !linked(r) {
		http.Error(w, "Pages of other sites may link here, and no more. Nothing was changed.", http.StatusForbidden)
		return
	}
	if r, ok := h.admit(w, r); ok {
		h.mux.ServeHTTP(w, r)
	}
}

// page serves a page at a pattern.
func (h *Handler) page(pattern string, make func(*http.Request) (view, error)) {
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		token := h.visitor(w, r)
		v, err := make(r)
		if err != nil {
			v = h.failure(r, err)
		}
		h.show(w, r, token, v)
	})
}

// failure is the page that says what went wrong.
func (h *Handler) failure(r *http.Request, err error) view {
	var refused clientError
	var slowed reading.Slowed
	var not unread
	var bad badFeedForm
	switch {
	case errors.As(err, &bad):
		v, err := h.feedView(r, bad.number, &bad.feedForm)
		if err != nil {
			return h.failure(r, err)
		}
		v.Code, v.Live = http.StatusUnprocessableEntity, false // the address is that of the form
		return v
	case errors.As(err, &not):
		return view{Page: "unread", Title: "There is no feed", Nav: "/settings", Code: http.StatusUnprocessableEntity,
			Body: &not}
	case errors.As(err, &slowed):
		refused = clientError{http.StatusTooManyRequests, "Please wait", slowed.Error() + "."}
	case errors.Is(err, ErrNone):
		refused = clientError{http.StatusNotFound, "Nothing here",
			"This node has no such page, feed or entry. It may have been removed."}
	case errors.As(err, &refused):
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
