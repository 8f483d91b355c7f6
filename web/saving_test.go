package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"feedex/saving"
)

// An entry is saved to the service that its owner named, and a refusal is a page that says why. What lets the owner in
// there is on no page.
func TestSaveTo(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	entry := n.path(t, "Harbor")
	if page := b.page(entry).Body.String(); strings.Contains(page, "/save") {
		t.Errorf("there is no service yet:\n%s", page)
	}
	service := url.Values{"token": {b.token}, "kind": {"wallabag"}, "address": {" https://bag.example/x/ "},
		"client": {"the-id"}, "client_secret": {"the-client-secret"}, "name": {"ann"}, "secret": {" the-password "}}
	if w := b.post("/saving", service); w.Code != http.StatusSeeOther || n.service.Address != "https://bag.example/x" ||
		n.service.Password != " the-password " || n.service.User != "ann" {
		t.Fatalf("%d, %+v", w.Code, n.service)
	}
	for _, path := range []string{entry, "/settings"} {
		w := b.page(path)
		page := w.Body.String()
		wantSound(t, path, w)
		if !strings.Contains(page, "Wallabag") || strings.Contains(page, "the-") || strings.Contains(page, "ann") &&
			strings.Contains(page, `value="ann"`) {
			t.Errorf("%s does not name the service, or more of it:\n%s", path, page)
		}
	}
	_, id, _ := strings.Cut(entry, "/entries/")
	save := url.Values{"token": {b.token}, "entry": {id}, "next": {entry + "?show=all"}, "as": {"saved"}}
	w := b.post("/save", save)
	if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || to != entry+"?done=saved&show=all" ||
		len(n.saved) != 1 || n.saved[0] != (saving.Bookmark{Link: "https://example.com/1", Title: "Harbor"}) {
		t.Errorf("%d to %q, saved %+v", w.Code, to, n.saved)
	}
	if page := b.page(entry + "?done=saved").Body.String(); !strings.Contains(page, "Saved to Wallabag.") {
		t.Errorf("the page does not say so:\n%s", page)
	}
	n.refusal = errors.New("bag.example does not take <b>it</b>")
	if w := b.post("/save", save); w.Code != http.StatusBadGateway ||
		!strings.Contains(w.Body.String(), "Bag.example does not take &lt;b&gt;it&lt;/b&gt;.") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	n.saved = nil
	secret := n.path(t, "Confidential")
	for name, form := range map[string]url.Values{
		"without a token":     {"entry": {id}},
		"an entry of nothing": {"token": {b.token}, "entry": {strings.Repeat("0", 40)}},
		"no id":               {"token": {b.token}, "entry": {"x"}},
		"of a secret feed":    {"token": {b.token}, "entry": {strings.TrimPrefix(secret, "/entries/")}},
	} {
		w := b.post("/save", form)
		if w.Code != http.StatusForbidden && w.Code != http.StatusNotFound || len(n.saved) > 0 {
			t.Errorf("%s: %d, saved %+v", name, w.Code, n.saved)
		}
	}
	service.Set("address", "ftp://bag.example")
	w = b.post("/saving", service)
	if w.Code != http.StatusBadRequest || n.service.Address != "https://bag.example/x" {
		t.Errorf("%d, %+v", w.Code, n.service)
	}
	if w := b.post("/saving", url.Values{"token": {b.token}}); w.Code != http.StatusSeeOther ||
		n.service != (saving.Service{}) {
		t.Errorf("%d, %+v is left", w.Code, n.service)
	}
}

// What was kept of a service and cannot be read is said on the page of settings, and nowhere else.
func TestAServiceThatCannotBeRead(t *testing.T) {
	n := newNode(t)
	n.unsaved = errors.New("read where entries are saved: unexpected <end>")
	h := newHandler(t, n)
	if page := get(h, "/settings").Body.String(); !strings.Contains(page,
		"Entries cannot be saved: read where entries are saved: unexpected &lt;end&gt;. Name the service anew.") ||
		!strings.Contains(page, "API token") {
		t.Errorf("the settings are\n%s", page)
	}
	if w := get(h, n.path(t, "Harbor")); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "saved") {
		t.Errorf("%d, the entry is\n%s", w.Code, w.Body)
	}
}
