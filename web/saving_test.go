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
	kept := n.service
	w = b.post("/saving", url.Values{"token": {b.token}})
	page := b.page(w.Header().Get("Location")).Body.String()
	if n.service != (saving.Service{}) || !strings.Contains(page, "Wallabag at bag.example is forgotten") ||
		strings.Contains(page, "the-") {
		t.Errorf("%d, %+v is left:\n%s", w.Code, n.service, page)
	}
	b.post("/undo", url.Values{"token": {b.token}, "undo": {undoIn(t, page)}})
	if n.service != kept {
		t.Errorf("brought back: %+v, want %+v", n.service, kept)
	}
}

// Each person saves entries to a service of their own, which they name with a password that opens all that is theirs.
func TestPeopleSaveToTheirOwn(t *testing.T) {
	n, ann, h := newHome(t, true)
	service := url.Values{"kind": {"linkding"}, "address": {"https://links.example"}, "key": {"the-token"}}
	reads, all := enterBy(t, h, "hers"), enterBy(t, h, "all hers")
	post := func(b *browser, path string, form url.Values) (code int, to string) {
		form.Set("token", b.token)
		w := b.post(path, form)
		return w.Code, w.Header().Get("Location")
	}
	if code, _ := post(reads, "/saving", service); code != http.StatusForbidden || ann.service != (saving.Service{}) {
		t.Errorf("with a reader's password: %d, %+v", code, ann.service)
	}
	_, to := post(all, "/saving", service)
	if page := all.page(to).Body.String(); ann.service.Token != "the-token" || n.service != (saving.Service{}) ||
		!strings.Contains(page, "Entries are saved to linkding at links.example from now on") ||
		strings.Contains(page, "the-token") {
		t.Errorf("Ann has %+v, the owner %+v:\n%s", ann.service, n.service, page)
	}
	entry := ann.path(t, "Her harbor")
	for _, b := range []*browser{reads, all} {
		if page := b.page(entry).Body.String(); !strings.Contains(page, "Save to linkding") {
			t.Errorf("the entry cannot be saved:\n%s", page)
		}
		if page := b.page("/settings").Body.String(); !strings.Contains(page, "linkding at ") ||
			strings.Contains(page, "the-token") {
			t.Errorf("her settings:\n%s", page)
		}
		post(b, "/save", url.Values{"entry": {strings.TrimPrefix(entry, "/entries/")}, "next": {entry}})
	}
	if len(ann.saved) != 2 || len(n.saved) != 0 {
		t.Errorf("saved for Ann %+v, for the owner %+v", ann.saved, n.saved)
	}
	if page := enterBy(t, h, "secret").page(n.path(t, "Harbor")).Body.String(); strings.Contains(page, "/save") {
		t.Errorf("the owner has Ann's service:\n%s", page)
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
