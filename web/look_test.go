package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A browser keeps how pages look in a cookie, so that the first byte says it already and no script is needed. What is
// in a cookie that is none of the choices reaches no page.
func TestLook(t *testing.T) {
	b := newBrowser(t, newHandler(t, newNode(t)))
	w := b.post("/look", url.Values{"token": {b.token}, "theme": {"dark"}, "text": {"larger"}})
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/settings#look" || len(cookies) != 1 ||
		cookies[0].MaxAge < 360*24*60*60 || !cookies[0].HttpOnly {
		t.Fatalf("%d to %q with %v", w.Code, w.Header().Get("Location"), cookies)
	}
	for value, want := range map[string][]string{
		cookies[0].Value: {`<html lang="en" data-theme="dark" data-text="larger">`,
			`<meta name="color-scheme" content="dark">`, `<option value="dark" selected>`,
			`<option value="larger" selected>`},
		"light.":            {`<html lang="en" data-theme="light">`, `content="light"`},
		".small":            {`<html lang="en" data-text="small">`, `content="light dark"`},
		`a" onload="x.b`:    {`<html lang="en">`, `content="light dark"`},
		"dark":              {`<html lang="en" data-theme="dark">`},
		"dark.huge.larger.": {`<html lang="en" data-theme="dark">`},
		"":                  {`<html lang="en">`, `content="light dark"`},
	} {
		w := get(b.h, "/settings", "Cookie", "feedex_look="+value)
		for _, s := range want {
			if !strings.Contains(w.Body.String(), s) {
				t.Errorf("%q: the page lacks %q:\n%s", value, s, w.Body)
			}
		}
		wantSound(t, value, w)
	}
}
