package web_test

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"feedex/reading"
	"feedex/web"
)

// enterBy opens the login page with a browser of its own and logs in.
func enterBy(t *testing.T, h http.Handler, password string) *browser {
	t.Helper()
	b := newBrowserAt(t, h, "/login")
	if next := b.login(password, "/feeds"); next != "/feeds" {
		t.Fatalf("the login leads to %q", next)
	}
	return b
}

// An attacker who copied the cookies of a session cannot go on with them after the logout, nor any other browser that
// the same password logged in. Those of other passwords go on.
func TestALogoutEndsTheSession(t *testing.T) {
	n := newNode(t)
	n.passwords = []reading.Password{reading.NewPassword("phone", "secret", reading.Owner, reading.OwnerScope, noon),
		reading.NewPassword("tablet", "other", reading.Owner, reading.OwnerScope, noon)}
	h, err := web.New(web.Config{Source: n, Login: func(*http.Request) bool { return true },
		Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	one, two, another := enterBy(t, h, "secret"), enterBy(t, h, "secret"), enterBy(t, h, "other")
	inside := func(b *browser) bool {
		return get(h, "/feeds", "Cookie", b.cookie).Code == http.StatusOK && h.LoggedIn(requestWith(b.cookie))
	}
	if !inside(one) || !inside(two) || !inside(another) {
		t.Fatal("the sessions did not begin")
	}
	w := one.post("/logout", url.Values{"token": {one.token}})
	gone := 0
	for _, c := range w.Result().Cookies() {
		if c.Value == "" && c.MaxAge < 0 && (c.Name == "feedex_session" || c.Name == "feedex_visit") {
			gone++
		}
	}
	if w.Code != http.StatusSeeOther || gone != 2 {
		t.Errorf("the logout answers %d and takes %d cookies back: %q", w.Code, gone, w.Header()["Set-Cookie"])
	}
	if inside(one) || inside(two) {
		t.Error("a copy of the cookies still lets in")
	}
	if !inside(another) {
		t.Error("another password's session ended")
	}
	if again := enterBy(t, h, "secret"); !inside(again) {
		t.Error("nobody can log in again")
	}
}

// Where the page came by https its cookies go nowhere else, whether or not it is a web server in front that speaks it.
func TestCookiesAreSecure(t *testing.T) {
	n := newLockedNode(t)
	h := newHandler(t, n)
	for name, c := range map[string]struct {
		header []string
		tls    bool
		want   bool
	}{
		"http":                     {nil, false, false},
		"http, by a server":        {[]string{"http"}, false, false},
		"https":                    {nil, true, true},
		"https, by a server":       {[]string{"https"}, false, true},
		"https, by several":        {[]string{"HTTPS, http"}, false, true},
		"https, to another server": {[]string{"http, https"}, false, false},
	} {
		ask := func(method, target, cookie string, form url.Values) *http.Response {
			r := httptest.NewRequest(method, target, strings.NewReader(form.Encode()))
			r.Header["X-Forwarded-Proto"] = c.header
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if cookie != "" {
				r.Header.Set("Cookie", cookie)
			}
			if r.TLS = nil; c.tls {
				r.TLS = new(tls.ConnectionState)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Result()
		}
		page := ask("GET", "/login", "", nil)
		text := new(strings.Builder)
		page.Write(text)
		visit, own := page.Cookies()[0], page.Cookies()[1]
		entered := ask("POST", "/login", visit.Name+"="+visit.Value,
			url.Values{"token": {tokenOf.FindStringSubmatch(text.String())[1]}, "password": {"secret"}})
		session := entered.Cookies()
		if len(session) != 1 || entered.Header.Get("Location") != "/" {
			t.Errorf("%s: the login sets %v and leads to %q", name, session, entered.Header.Get("Location"))
			continue
		}
		for cookie, site := range map[*http.Cookie]http.SameSite{visit: http.SameSiteLaxMode,
			session[0]: http.SameSiteLaxMode, own: http.SameSiteStrictMode} {
			if cookie.Secure != c.want || strings.HasPrefix(cookie.Name, "__Host-") != c.want || !cookie.HttpOnly ||
				cookie.SameSite != site || cookie.Path != "/" || cookie.Domain != "" {
				t.Errorf("%s: %v", name, cookie)
			}
		}
		if in := ask("GET", "/settings", session[0].Name+"="+session[0].Value, nil); in.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", name, in.StatusCode)
		}
	}
}

// stay opens /live and returns its answer's status once it is closed, or while it is open.
func stay(ctx context.Context, all *sync.WaitGroup, h http.Handler, header ...string) func() int {
	w := &wire{ResponseRecorder: httptest.NewRecorder()}
	all.Go(func() {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/live", nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		h.ServeHTTP(w, r)
	})
	return func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.Code
	}
}

// A page of another site cannot have the browser keep pages up to date, however it tries: not by a script, a frame, a
// link or a window, in a browser of whatever age.
func TestLiveIsForPagesOfOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t)
		h := newHandler(t, n)
		b := newBrowser(t, h)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for name, c := range map[string]struct {
			header []string
			want   int
		}{
			"our page": {[]string{"Cookie", b.cookie, "Sec-Fetch-Site", "same-origin",
				"Sec-Fetch-Mode", "cors"}, 200},
			"our page, in an old browser": {[]string{"Cookie", b.cookie}, 200},
			"a script": {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors",
				"Origin", "https://evil.example"}, 403},
			"a script that sends cookies": {[]string{"Cookie", b.cookie, "Sec-Fetch-Site", "cross-site",
				"Sec-Fetch-Mode", "cors", "Origin", "https://evil.example"}, 403},
			"another port of this machine": {[]string{"Cookie", b.cookie, "Sec-Fetch-Site", "same-site",
				"Sec-Fetch-Mode", "cors", "Origin", "http://example.com:8080"}, 403},
			"a script, in an old browser": {[]string{"Cookie", b.cookie, "Origin", "https://evil.example"}, 403},
			"a script without an origin":  {[]string{"Cookie", b.cookie, "Origin", "null"}, 403},
			"a window": {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode",
				"navigate", "Sec-Fetch-Dest", "document"}, 403},
			"a picture, in an old browser": {nil, 403},
			"a link, in an old browser":    {[]string{"Cookie", linkCookies(b)}, 403},
			"a picture": {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors",
				"Sec-Fetch-Dest", "image"}, 403},
			"a cookie that nobody was given": {[]string{"Cookie", "feedex_own=1; feedex_visit=1"}, 403},
			"the cookie of another browser": {[]string{"Cookie", "feedex_own=1; feedex_visit=" +
				strings.Repeat("0", 32)}, 200},
			"the owner, who types the address": {[]string{"Cookie", b.cookie, "Sec-Fetch-Site", "none",
				"Sec-Fetch-Mode", "navigate"}, 200},
			"a frame of a page on this machine ": {[]string{"Cookie", b.cookie, "Sec-Fetch-Site", "same-site",
				"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		} {
			code := stay(ctx, &all, h, c.header...)
			synctest.Wait()
			if got := code(); got != c.want {
				t.Errorf("%s: %d, want %d", name, got, c.want)
			}
		}
		cancel()
		all.Wait()
	})
}

// A session keeps so many pages up to date and no more, whatever other sessions do, and ends with its login.
func TestLiveIsBoundedBySession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newLockedNode(t)
		h := newHandler(t, n)
		ctx, cancel := context.WithCancel(t.Context())
		var all, theirs sync.WaitGroup
		first, second := enterBy(t, h, "secret"), newBrowser(t, h)
		open := func(all *sync.WaitGroup, b *browser, times int) (opened, refused int) {
			for range times {
				code := stay(ctx, all, h, "Cookie", b.cookie)
				synctest.Wait()
				switch code() {
				case http.StatusOK:
					opened++
				case http.StatusServiceUnavailable:
					refused++
				}
			}
			return opened, refused
		}
		if opened, refused := open(&theirs, first, 50); opened != 8 || refused != 42 {
			t.Errorf("%d are open, %d refused", opened, refused)
		}
		if opened, _ := open(&all, second, 3); opened != 3 {
			t.Errorf("another session has %d", opened)
		}
		first.post("/logout", url.Values{"token": {first.token}})
		n.version.Add(1)
		theirs.Wait() // they end
		cancel()
		all.Wait()
		if w := get(h, "/"); w.Code != http.StatusOK {
			t.Errorf("a page: %d", w.Code)
		}
	})
}

// Other sites may link to the dashboard. They may not have the owner's browser load it for anything else, such as
// search the archive a thousand times.
func TestOtherSitesMayLinkAndNoMore(t *testing.T) {
	h := newHandler(t, newNode(t))
	for name, c := range map[string]struct {
		header []string
		want   int
	}{
		"a link": {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate",
			"Sec-Fetch-Dest", "document"}, 200},
		"the owner": {[]string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest",
			"document"}, 200},
		"our script": {[]string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors",
			"Sec-Fetch-Dest", "empty"}, 200},
		"no browser": {nil, 200},
		"a picture": {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors",
			"Sec-Fetch-Dest", "image"}, 403},
		"a script": {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Origin",
			"https://evil.example"}, 403},
		"a script in an old one": {[]string{"Origin", "https://evil.example"}, 403},
		"a frame": {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate",
			"Sec-Fetch-Dest", "iframe"}, 403},
		"another port": {[]string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors",
			"Sec-Fetch-Dest", "image"}, 403},
		"an object": {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate",
			"Sec-Fetch-Dest", "object"}, 403},
		"a link from another port": {[]string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate",
			"Sec-Fetch-Dest", "document"}, 200},
	} {
		if w := get(h, "/search?q=ferry", c.header...); w.Code != c.want {
			t.Errorf("%s: %d, want %d", name, w.Code, c.want)
		}
	}
}

// linkCookies are those of a browser that a link of another site brings along.
func linkCookies(b *browser) string { return strings.Replace(b.cookie, "feedex_own=1", "", 1) }

// Who follows a link of another site is logged in as before, forms that were open before work, and those of the page
// that the link opened as well.
func TestALinkOfAnotherSiteFindsWhoIsLoggedIn(t *testing.T) {
	n := newLockedNode(t)
	h, err := web.New(web.Config{Source: n, Login: func(*http.Request) bool { return true },
		Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	b := enterBy(t, h, "secret")
	linked := get(h, "/settings?url=https%3A%2F%2Fexample.net%2F", "Cookie", linkCookies(b))
	if linked.Code != http.StatusOK {
		t.Fatalf("a link opens %d, %q", linked.Code, linked.Header().Get("Location"))
	}
	for _, c := range linked.Result().Cookies() {
		if c.Name != "feedex_own" {
			t.Errorf("the link changes %v", c)
		}
	}
	if token := tokenOf.FindStringSubmatch(linked.Body.String()); token == nil || token[1] != b.token {
		t.Errorf("the token of the page is %q, of pages from before %q", token, b.token)
	}
}
