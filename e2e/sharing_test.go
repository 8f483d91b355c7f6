package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// A person gives an entry away: by the button of the system, where the browser has one, to a site that takes it by a
// link, and to Wallabag, of which the page says why it refuses, and that it took it.
func TestBrowserSharesAndSaves(t *testing.T) {
	needBrowser(t)
	var mu sync.Mutex
	var taken []string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		answer := func(status int, text string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, text)
		}
		switch r.Method + r.URL.Path {
		case "GET/take":
			taken = append(taken, fmt.Sprint(r.FormValue("u"), " ", r.FormValue("t"), " ", r.Referer()))
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,"><main>Taken.</main>`)
		case "POST/oauth/v2/token":
			for field, want := range map[string]string{"grant_type": "password", "client_id": "7_id",
				"client_secret": "of the client", "username": "ann", "password": "a secret"} {
				if got := r.PostFormValue(field); got != want {
					answer(http.StatusBadRequest, `{"error":"invalid_grant","error_description":"Wrong `+field+`"}`)
					return
				}
			}
			answer(http.StatusOK, `{"access_token":"token","expires_in":3600,"token_type":"bearer"}`)
		case "POST/api/entries.json":
			var entry struct{ URL, Title string }
			err := json.NewDecoder(r.Body).Decode(&entry)
			if err != nil || r.Header.Get("Authorization") != "Bearer token" {
				answer(http.StatusUnauthorized, `{}`)
				return
			}
			taken = append(taken, entry.URL+" "+entry.Title)
			answer(http.StatusOK, `{"id": 1}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)
	p, n := startPublisher(t), startPollingNode(t)
	n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "Low & high tide"))
	n.observer(t).expect(t, map[string]string{"Low & high tide": "unread"})
	b := openBrowser(t, n)
	b.bounded(t, func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: `navigator.share = async d => { document.title = d.url + ' ' + d.title; }`})
		return err
	})
	open := func() {
		t.Helper()
		b.visit(t, "/entries?show=all")
		b.do(t, chromedp.KeyEvent("j"))
		b.keys(t, "p")
	}
	link := p.server.URL + "/0"
	open()
	b.do(t, chromedp.Click(chromedp.CSS("[data-share]")))
	if got := b.evaluate(t, "document.title"); got != link+" Low & high tide" {
		t.Errorf("shared: %s", got)
	}

	b.visit(t, "/settings")
	b.fill(t, map[string]string{"#sharelink": "ftp://example.org/?u={url}"})
	b.answered(t, `form[action="/sharing"] button`, http.StatusBadRequest)
	b.says(t, "That cannot be a link for sharing")
	b.visit(t, "/settings")
	b.fill(t, map[string]string{"#sharelink": site.URL + "/take?u={url}&t={title}"})
	b.click(t, `form[action="/sharing"] button`)
	open()
	b.click(t, ".meta a[href*='/take?']")
	b.says(t, "Taken.")

	save := func(password string) {
		t.Helper()
		b.visit(t, "/settings")
		b.fill(t, map[string]string{"#wallabag": site.URL + "/", "#wallabag-client": "7_id",
			"#wallabag-client-secret": "of the client", "#wallabag-name": "ann", "#wallabag-secret": password})
		b.click(t, `form:has(#wallabag) button`)
		b.says(t, "Wallabag at")
		open()
	}
	save("guessed")
	b.answered(t, `form[action="/save"] button`, http.StatusBadGateway)
	b.says(t, "It was not saved", "Wrong password")
	b.inspect(t, "entry-not-saved")
	b.visit(t, "/settings")
	b.click(t, `form[action="/saving"] button`)
	b.says(t, "The page of an entry can save it to a service of yours")
	save("a secret")
	b.keys(t, "b")
	b.says(t, "Saved to Wallabag")

	mu.Lock()
	defer mu.Unlock()
	if want := fmt.Sprintf("[%s Low & high tide  %[1]s Low & high tide]", link); fmt.Sprint(taken) != want {
		t.Errorf("the site took %v, want %s", taken, want)
	}
}
