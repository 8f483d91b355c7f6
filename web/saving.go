package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"feedex/safehtml"
	"feedex/saving"
)

// entryToSave is the page of an entry as its owner has it, who can save it.
func (h *Handler) entryToSave(r *http.Request) (view, error) {
	v, err := h.entry(r)
	if p, ok := v.Body.(*entryPage); ok {
		if s, err := h.Source.Service(r.Context()); err == nil && s.Kind != "" { // the settings say what is wrong
			p.Service, p.Saved = s.Name(), r.FormValue("done") == "saved"
		}
	}
	return v, err
}

// save gives an entry to the service that its owner named.
func (h *Handler) save(_ http.ResponseWriter, r *http.Request) (string, error) {
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
	if err := h.Source.Save(r.Context(), b); err != nil {
		return "", clientError{http.StatusBadGateway, "It was not saved",
			capital(strings.TrimSuffix(err.Error(), ".")) + "."}
	}
	back, err := url.Parse(local(r.PostFormValue("next")))
	if err != nil {
		return "/entries/" + id.String(), nil
	}
	q := back.Query()
	q.Set("done", "saved")
	back.RawQuery = q.Encode()
	return back.String(), nil
}

// setService keeps the service that a form names, or none.
func (h *Handler) setService(_ http.ResponseWriter, r *http.Request) (string, error) {
	const back = "/settings#saving"
	if r.PostFormValue("kind") == "" {
		return back, h.Source.SaveTo(r.Context(), saving.Service{})
	}
	text := func(field string) string { return strings.TrimSpace(r.PostFormValue(field)) }
	s, err := saving.NewService(saving.Service{Kind: saving.ServiceKind(text("kind")), Address: text("address"),
		Token: text("key"), ClientID: text("client"), ClientSecret: text("client_secret"), User: text("name"),
		Password: r.PostFormValue("secret")})
	if errors.Is(err, saving.ErrService) {
		return "", clientError{http.StatusBadRequest, "Entries cannot be saved there",
			capital(err.Error()) + ". Nothing was changed."}
	}
	if err != nil {
		return "", err
	}
	return back, h.Source.SaveTo(r.Context(), s)
}

// capital is a text that begins a sentence.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
