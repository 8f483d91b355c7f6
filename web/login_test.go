package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/protocol"
	"feedex/reading"
	"feedex/web"
)

// login logs the browser in and returns where that leads.
func (b *browser) login(password, next string) string {
	w := b.post("/login", url.Values{"token": {b.token}, "password": {password}, "next": {next}})
	for _, c := range w.Result().Cookies() {
		if c.Value != "" {
			b.cookie += "; " + c.Name + "=" + c.Value
		}
	}
	if token := tokenOf.FindStringSubmatch(get(b.h, "/settings", "Cookie", b.cookie).Body.String()); token != nil {
		b.token = token[1]
	}
	return w.Header().Get("Location")
}

// Where a login is required nothing is shown without, and nothing done.
func TestLoginRequired(t *testing.T) {
	n := newLockedNode(t)
	now := noon
	h, err := web.New(web.Config{Source: n, Login: func(*http.Request) bool { return true },
		Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/", "/feeds", "/feeds/1", "/entries", "/neighbors", "/search?q=ferry", "/settings",
		"/nothing"} {
		if w := get(h, target); w.Code != http.StatusSeeOther ||
			w.Header().Get("Location") != "/login?next="+url.QueryEscape(target) ||
			strings.Contains(w.Body.String(), "News") {
			t.Errorf("%s: %d to %q", target, w.Code, w.Header().Get("Location"))
		}
	}
	for _, target := range []string{"/live", "/search/network?q=ferry"} {
		gone, cancel := context.WithCancel(t.Context()) // a browser that is let in after all does not stay
		cancel()
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequestWithContext(gone, http.MethodGet, target,
			nil)); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	b := newBrowserAt(t, h, "/login")
	wantSound(t, "/login", get(h, "/login"))
	if w := b.post("/follow", url.Values{"token": {b.token},
		"url": {"https://example.net/"}}); w.Code != http.StatusUnauthorized || len(n.followed) > 0 {
		t.Errorf("%d, followed %q", w.Code, n.followed)
	}
	if next := b.login("wrong", "/feeds"); next != "/login?next=%2Ffeeds&wrong=1" {
		t.Errorf("a wrong password leads to %q", next)
	} else if w := get(h, next); !strings.Contains(w.Body.String(), `aria-invalid="true"`) {
		t.Errorf("the page does not say that it is wrong:\n%s", w.Body)
	} else {
		wantSound(t, next, w)
	}
	if next := b.login("secret", "/feeds?q=a"); next != "/feeds?q=a" {
		t.Errorf("the password leads to %q", next)
	}
	inside := func() bool { return get(h, "/feeds", "Cookie", b.cookie).Code == http.StatusOK }
	if !inside() || !h.LoggedIn(requestWith(b.cookie)) {
		t.Error("logged in, and nothing is shown")
	}
	for _, forged := range []string{strings.Replace(b.cookie, "phone|", "phone|9", 1),
		strings.Replace(b.cookie, "=phone|", "=other|", 1), b.cookie[:len(b.cookie)-1], "feedex_session=||",
		"feedex_session=phone"} {
		if w := get(h, "/feeds", "Cookie", forged); w.Code == http.StatusOK {
			t.Errorf("%q lets in", forged)
		}
	}
	now = noon.Add(31 * 24 * time.Hour)
	if inside() {
		t.Error("a session lasts over a month")
	}
	now = noon
	if n.passwords = nil; inside() {
		t.Error("a session lasts longer than its password")
	}
}

func requestWith(cookie string) *http.Request {
	r, _ := http.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Cookie", cookie)
	return r
}

// The dashboard makes a reader's password unless an owner's is asked for, and says of each what it opens.
func TestPasswordsSayWhatTheyOpen(t *testing.T) {
	n := newNode(t)
	n.passwords = []reading.Password{reading.NewPassword("laptop", "secret", reading.Owner, reading.OwnerScope, noon)}
	b := newBrowser(t, newHandler(t, n))
	b.login("secret", "/")
	for scope, want := range map[string]string{"": "what there is to read here", "reader": "what there is to read here",
		"everything": "what there is to read here", "owner": "these pages with all settings"} {
		w := b.post("/passwords", url.Values{"token": {b.token}, "name": {"made" + scope}, "scope": {scope}})
		if w := get(b.h, w.Header().Get("Location"), "Cookie", b.cookie); !strings.Contains(w.Body.String(), want) {
			t.Errorf("one for %q: %s", scope, w.Body)
		}
	}
	page := get(b.h, "/settings", "Cookie", b.cookie).Body.String()
	if strings.Count(page, ">everything</td>") != 2 || strings.Count(page, ">feed readers</td>") != 3 {
		t.Errorf("the settings do not say what they open:\n%s", page)
	}
}

// A password that was removed is had back as it was by the browser that removed it, unless that logged in by it: the
// page says so before.
func TestARemovedPasswordComesBack(t *testing.T) {
	n := newNode(t)
	tablet := reading.NewPassword("tablet", "other", reading.Owner, reading.ReaderScope, noon)
	tablet.Used = noon
	n.passwords = []reading.Password{reading.NewPassword("laptop", "secret", reading.Owner, reading.OwnerScope, noon),
		tablet}
	before := slices.Clone(n.passwords)
	h := newHandler(t, n)
	b, other := newBrowser(t, h), newBrowser(t, h)
	b.login("secret", "/")
	other.login("secret", "/")
	remove := func() (undo url.Values) {
		t.Helper()
		w := b.post("/passwords/remove", url.Values{"token": {b.token}, "name": {"tablet"}})
		page := get(h, w.Header().Get("Location"), "Cookie", b.cookie).Body.String()
		if w.Code != http.StatusSeeOther || len(n.passwords) != 1 || strings.Contains(page, ">tablet</th>") {
			t.Errorf("removing: %d, there are %d passwords, and the page says\n%s", w.Code, len(n.passwords), page)
		}
		key := regexp.MustCompile(`name="undo" value="([^"]+)"`).FindStringSubmatch(page)
		if key == nil {
			t.Fatalf("it cannot be undone:\n%s", page)
		}
		return url.Values{"token": {b.token}, "undo": {key[1]}}
	}
	undo := remove()
	if w := other.post("/undo", url.Values{"token": {other.token}, "undo": undo["undo"]}); w.Code != http.StatusGone ||
		len(n.passwords) != 1 {
		t.Errorf("by another browser: %d, there are %+v", w.Code, n.passwords)
	}
	if w := b.post("/undo", undo); w.Code != http.StatusSeeOther || !slices.Equal(n.passwords, before) {
		t.Errorf("undone: %d, there are %+v, want %+v", w.Code, n.passwords, before)
	}
	undo = remove()
	b.post("/passwords", url.Values{"token": {b.token}, "name": {"tablet"}})
	if w := b.post("/undo", undo); w.Code != http.StatusBadRequest ||
		!strings.Contains(w.Body.String(), "There is a password of that name") {
		t.Errorf("undone though the name is taken: %d %s", w.Code, w.Body)
	}
	if page := b.page("/settings").Body.String(); strings.Count(page, "and so is this browser") != 1 {
		t.Errorf("it does not say which password cannot be had back:\n%s", page)
	}
	undo = url.Values{"token": {b.token}, "name": {"laptop"}}
	page := get(h, b.post("/passwords/remove", undo).Header().Get("Location"), "Cookie", b.cookie).Body.String()
	if strings.Contains(page, `action="/undo"`) || strings.Contains(page, "tablet") {
		t.Errorf("who is logged in no more is offered what was theirs:\n%s", page)
	}
}

// A login leads to a page of ours and nowhere else.
func TestLoginLeadsHome(t *testing.T) {
	n := newLockedNode(t)
	b := newBrowser(t, newHandler(t, n))
	for next, want := range map[string]string{"": "/", "https://evil.example/": "/", "//evil.example/": "/",
		"///evil.example/": "/", `/\evil.example`: "/", "javascript:alert(1)": "/", "/search?q=a": "/search?q=a"} {
		if got := b.login("secret", next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

// Feeds with secret addresses, and passwords, are for browsers that have logged in.
func TestSecretsAfterLogin(t *testing.T) {
	n := newLockedNode(t)
	b := newBrowser(t, newHandler(t, n))
	for _, path := range []string{"/passwords", "/passwords/remove"} {
		if w := b.post(path, url.Values{"token": {b.token}, "name": {"phone"}}); w.Code != http.StatusForbidden ||
			len(n.passwords) != 1 {
			t.Errorf("%s: %d, %d passwords", path, w.Code, len(n.passwords))
		}
	}
	for i := range 50 {
		n.add(secretURL, fmt.Sprint("Confidential", i), "Nobody else may read this on the ferry.", noon.Add(-time.Hour),
			protocol.NodeID{})
	}
	for _, target := range []string{"/entries?q=ferry", "/search?q=ferry"} {
		if text := get(b.h, target).Body.String(); !strings.Contains(text, "Harbor") ||
			strings.Contains(text, "Confidential") {
			t.Errorf("%s does not show what is behind the secrets, or shows them:\n%s", target, text)
		}
	}
	b.login("secret", "/")
	for _, target := range []string{"/entries", n.path(t, "Confidential"), "/entries?q=nobody", "/search?q=nobody",
		"/search?feed=2", "/feeds/2"} {
		w := get(b.h, target, "Cookie", b.cookie)
		if w.Code != 200 || !strings.Contains(w.Body.String(), "Confidential") ||
			strings.Contains(w.Body.String(), "hunter2") {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}

	w := b.post("/passwords", url.Values{"token": {b.token}, "name": {"tablet"}})
	at := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !regexp.MustCompile(`^/passwords/[A-Z0-9]{20,}$`).MatchString(at) ||
		len(n.passwords) != 2 {
		t.Fatalf("%d to %q, %d passwords", w.Code, at, len(n.passwords))
	}
	if w := get(b.h, at, "Cookie", b.cookie); !strings.Contains(w.Body.String(), "fresh secret") ||
		!strings.Contains(w.Body.String(), "<code>http://example.com/api/greader.php</code>") {
		t.Errorf("the page does not show it, or where to use it: %s", w.Body)
	}
	if w := get(b.h, at, "Cookie", b.cookie); w.Code != http.StatusNotFound ||
		strings.Contains(w.Body.String(), "fresh secret") {
		t.Errorf("the page shows it twice: %d", w.Code)
	}
	for name, want := range map[string]string{"tablet": "There is a password of that name", "a b": "want letters"} {
		if w := b.post("/passwords", url.Values{"token": {b.token}, "name": {name}}); w.Code != http.StatusBadRequest ||
			!strings.Contains(w.Body.String(), want) {
			t.Errorf("%q: %d %s", name, w.Code, w.Body)
		}
	}
	if w := get(b.h, "/settings", "Cookie", b.cookie); !strings.Contains(w.Body.String(), "tablet") {
		t.Errorf("the settings do not list it: %s", w.Body)
	}
	if w := b.post("/passwords/remove",
		url.Values{"token": {b.token}, "name": {"tablet"}}); w.Code != http.StatusSeeOther || len(n.passwords) != 1 {
		t.Errorf("%d, %d passwords", w.Code, len(n.passwords))
	}
	if w := b.post("/passwords/remove", url.Values{"token": {b.token}, "name": {"tablet"}}); w.Code != 404 ||
		!strings.Contains(w.Body.String(), "There is no password of that name") {
		t.Errorf("one that is gone: %d %s", w.Code, w.Body)
	}
	if w := b.post("/logout", url.Values{"token": {b.token}}); !strings.Contains(w.Header().Get("Set-Cookie"),
		"feedex_session=; ") {
		t.Errorf("logged out with %q", w.Header().Get("Set-Cookie"))
	}
}

// Of what somebody who has not logged in sends no more is read than a login needs.
func TestStrangersSendLittle(t *testing.T) {
	h, err := web.New(web.Config{Source: newNode(t), Login: func(*http.Request) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	const most, whole = 64 << 10, 4 << 20
	for _, at := range []string{"GET /login", "PUT /login", "POST /login", "POST /logout", "POST /import",
		"POST /follow"} {
		for kind, begin := range map[string]string{"application/x-www-form-urlencoded": "password=x&a=",
			"multipart/form-data; boundary=b": "--b\r\nContent-Disposition: form-data; name=\"list\"; " +
				"filename=\"a\"\r\n\r\n"} {
			method, path, _ := strings.Cut(at, " ")
			body := strings.NewReader(begin + strings.Repeat("a", whole))
			r, all := httptest.NewRequest(method, path, body), body.Len()
			r.Header.Set("Content-Type", kind)
			h.ServeHTTP(httptest.NewRecorder(), r)
			if read := all - body.Len(); read > most+1 {
				t.Errorf("%s as %q: %d bytes are read", at, kind, read)
			}
		}
	}
}
