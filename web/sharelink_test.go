package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Who names a site that takes entries finds a link to it with each, in this browser. What an entry says stays within
// its place in the address.
func TestEntriesAreShared(t *testing.T) {
	n := newNode(t)
	n.entries[0].Entry.Title, n.entries[0].Entry.Link = `A & "B" {url}`, "https://example.com/?a=1&b=2#c"
	b := newBrowser(t, newHandler(t, n))
	path := n.path(t, `A & "B" {url}`)
	if page := b.page(path).Body.String(); strings.Contains(page, "Send to") ||
		!strings.Contains(page, `data-share="https://example.com/?a=1&amp;b=2#c"`) {
		t.Errorf("without a link the page has:\n%s", page)
	}
	for _, bad := range []string{"javascript:alert('{url}')", "https://example.com/", "//example.com/{url}", "{url}",
		"https://{url}/", "https:{url}", "https://example.com/{url}" + strings.Repeat("x", 1000)} {
		if w := b.post("/sharing", url.Values{"token": {b.token}, "link": {bad}}); w.Code != http.StatusBadRequest ||
			len(w.Result().Cookies()) != 0 {
			t.Errorf("%q: %d", bad, w.Code)
		}
	}
	const link = "https://save.example/add?url={url}&title={title}"
	w := b.post("/sharing", url.Values{"token": {b.token}, "link": {link}})
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("%d, %v", w.Code, cookies)
	}
	b.cookie += "; " + cookies[0].Name + "=" + cookies[0].Value
	page := b.page(path)
	want := `href="https://save.example/add?url=https%3A%2F%2Fexample.com%2F%3Fa%3D1%26b%3D2%23c&amp;title=` +
		`A&#43;%26&#43;%22B%22&#43;%7Burl%7D" rel="noreferrer">Send to save.example</a>`
	if !strings.Contains(page.Body.String(), want) {
		t.Errorf("the page lacks %s:\n%s", want, page.Body)
	}
	wantSound(t, path, page)
	if page := b.page("/settings").Body.String(); !strings.Contains(page, `value="`+
		strings.ReplaceAll(link, "&", "&amp;")+`"`) {
		t.Errorf("the settings do not show it:\n%s", page)
	}
	w = b.post("/sharing", url.Values{"token": {b.token}, "link": {""}})
	if cookies := w.Result().Cookies(); len(cookies) != 1 || cookies[0].MaxAge >= 0 {
		t.Errorf("it is not taken back: %v", cookies)
	}
}
