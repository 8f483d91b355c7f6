package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"feedex/safehtml"
	"feedex/saving"
)

// save gives an entry to the service that the person named.
func (h *desk) save(_ http.ResponseWriter, r *http.Request) (string, error) {
	id, err := entryID(r.PostFormValue("entry"))
	if err != nil {
		return "", err
	}
	e, err := h.Shelf.Entry(r.Context(), id)
	if err != nil {
		return "", err
	}
	link := webLink(e.Entry.Link)
	if link == "" || e.Entry.Feed.Secret() && !loggedIn(r.Context()) {
		return "", ErrNone
	}
	b := saving.Bookmark{Link: link, Title: safehtml.Title(e.Entry.Title)}
	if err := h.Shelf.Save(r.Context(), b); err != nil {
		return "", clientError{http.StatusBadGateway, "It was not saved", sentence(err.Error())}
	}
	return withQuery(local(r.PostFormValue("next")), func(q url.Values) { q.Set("done", "saved") }), nil
}

// errSaving is for what a feed reader's password does not open.
var errSaving = clientError{http.StatusForbidden, "Not with a feed reader’s password",
	"Where entries are saved is settled with a password that opens everything that is yours. Nothing was changed."}

// setService keeps the service that a form names, or none, which can be undone.
func (h *desk) setService(_ http.ResponseWriter, r *http.Request) (string, error) {
	ctx := r.Context()
	if !viewerOf(ctx).settles() {
		return "", errSaving
	}
	const page = "/settings"
	before, _ := h.Shelf.Service(ctx) // of what cannot be read nothing comes back
	what := before.String() + " is forgotten: entries are saved there no more."
	var s saving.Service
	if text := func(field string) string { return strings.TrimSpace(r.PostFormValue(field)) }; text("kind") != "" {
		var err error
		s, err = saving.NewService(saving.Service{Kind: saving.ServiceKind(text("kind")), Address: text("address"),
			Token: text("key"), ClientID: text("client"), ClientSecret: text("client_secret"), User: text("name"),
			Password: r.PostFormValue("secret")})
		if errors.Is(err, saving.ErrService) {
			return "", clientError{http.StatusBadRequest, "Entries cannot be saved there",
				sentence(err.Error()) + " Nothing was changed."}
		}
		if err != nil {
			return "", err
		}
		what = "Entries are saved to " + s.String() + " from now on, by the button on their pages."
	}
	back, err := h.Shelf.SaveTo(ctx, s)
	if err != nil || before == s {
		return page, err
	}
	return h.canUndo(r, page, undo{What: what, Back: page, undo: back}), nil
}

// A savingSection is what settings say of where a person's entries are saved.
type savingSection struct {
	Saving saving.Service // without what lets the person in
	// Unsaved is why nothing can be saved that could be, "" where nothing is wrong.
	Unsaved string
}

// savingSection makes that.
func (h *desk) savingSection(ctx context.Context) (s savingSection) {
	var err error
	if s.Saving, err = h.Shelf.Service(ctx); err != nil {
		s.Unsaved = safehtml.Line(err.Error())
	}
	return s
}
