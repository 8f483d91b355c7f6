package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"feedex/reading"
)

// The owner adds people, makes them passwords, and removes them with all that is theirs, once the page has said what
// that is.
func TestPeople(t *testing.T) {
	n := newNode(t)
	n.passwords = []reading.Password{reading.NewPassword("laptop", "secret", reading.Owner, reading.OwnerScope, noon)}
	b := newBrowser(t, newHandler(t, n))
	b.login("secret", "/")
	page := func(path string) string {
		t.Helper()
		return get(b.h, path, "Cookie", b.cookie).Body.String()
	}
	post := func(path string, code int, fields ...string) string {
		t.Helper()
		w := b.post(path, b.form(fields...))
		if w.Code != code {
			t.Errorf("%s %q: %d, want %d: %s", path, fields, w.Code, code, w.Body)
		}
		return w.Header().Get("Location")
	}
	if text := page("/settings"); strings.Contains(text, "It is for") {
		t.Error("one person is asked whose a password is")
	}
	if text := page(post("/people", http.StatusSeeOther, "name", "<Ann>")); !strings.Contains(text,
		"&lt;Ann&gt; reads here now.") {
		t.Errorf("who was added is not named:\n%s", text)
	}
	post("/people", http.StatusBadRequest, "name", "<Ann>")
	if text := page("/settings"); !strings.Contains(text, "&lt;Ann&gt;</th>") || strings.Contains(text, "<Ann>") {
		t.Errorf("Ann is not there:\n%s", text)
	}
	made := post("/passwords", http.StatusSeeOther, "name", "ann", "person", "<Ann>", "scope", "reader")
	if text := page(made); !strings.Contains(text, "<dt>It is for</dt><dd>&lt;Ann&gt;</dd>") {
		t.Errorf("the password does not say whose it is:\n%s", text)
	}
	post("/passwords", http.StatusBadRequest, "name", "ben", "person", "Ben", "scope", "reader")
	if text := page("/settings"); !strings.Contains(text, ">feed readers of &lt;Ann&gt;</td>") {
		t.Errorf("the settings do not say whose it is:\n%s", text)
	}
	for _, path := range []string{"/people/1", "/people/3", "/people/x"} {
		if w := get(b.h, path, "Cookie", b.cookie); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if text := page("/people/2"); !strings.Contains(text, "Remove &lt;Ann&gt; and all of this") ||
		!strings.Contains(text, "<dd>1234</dd>") || !strings.Contains(text, "<dd>23</dd>") ||
		!strings.Contains(text, "<dd>45</dd>") {
		t.Errorf("what goes is not said:\n%s", text)
	}
	remove := func() (undo string) {
		t.Helper()
		text := page(post("/people/remove", http.StatusSeeOther, "name", "<Ann>"))
		key := regexp.MustCompile(`name="undo" value="([^"]+)"`).FindStringSubmatch(text)
		if !strings.Contains(text, "&lt;Ann&gt; is removed, and all that was theirs.") || key == nil {
			t.Fatalf("who was removed is not named, or cannot be had back:\n%s", text)
		}
		if strings.Contains(text, "&lt;Ann&gt;</th>") {
			t.Errorf("Ann is still there:\n%s", text)
		}
		return key[1]
	}
	if text := page(post("/undo", http.StatusSeeOther, "undo", remove())); !strings.Contains(text, "&lt;Ann&gt;</th>") {
		t.Errorf("Ann does not come back:\n%s", text)
	}
	undo := remove()
	post("/people", http.StatusSeeOther, "name", "<Ann>")
	post("/undo", http.StatusBadRequest, "undo", undo)
}

// Who has not logged in neither sees people nor changes them.
func TestPeopleNeedALogin(t *testing.T) {
	n := newNode(t)
	n.people = []reading.Person{{ID: 2, Name: "Ann"}}
	b := newBrowser(t, newHandler(t, n))
	for _, path := range []string{"/people", "/people/remove"} {
		if w := b.post(path, url.Values{"token": {b.token}, "name": {"Ann"}}); w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := get(b.h, "/people/2"); w.Code != http.StatusNotFound || len(n.people) != 1 {
		t.Errorf("%d, %+v", w.Code, n.people)
	}
	if text := get(b.h, "/settings").Body.String(); strings.Contains(text, "Ann") {
		t.Errorf("the settings name people:\n%s", text)
	}
}
