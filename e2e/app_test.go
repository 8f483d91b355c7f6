package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"mime"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// The pages lead to a manifest of which Chromium finds nothing to complain, and to pictures that are as large as it and
// the pages say: a phone puts the node beside its other programs.
func TestBrowserTakesTheAppHome(t *testing.T) {
	needBrowser(t)
	n := startNode(t, t.TempDir())
	b := openBrowser(t, n)
	b.excused = append(b.excused, "/favicon.ico") // where browsers look for a drawing that is opened as a page
	b.visit(t, "/")
	get := func(path, kind string) string {
		t.Helper()
		res, err := http.Get(n.url(path))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		got, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
		if err != nil || res.StatusCode != http.StatusOK || got != kind {
			t.Fatalf("%s: %s, %s, %v, want %s", path, res.Status, got, err, kind)
		}
		return string(text)
	}
	linked := func(rel string) string {
		t.Helper()
		return b.evaluate(t, `new URL(document.querySelector('link[rel="`+rel+`"]').href).pathname`)
	}
	var manifest struct {
		Name  string
		Start string `json:"start_url"`
		Icons []struct{ Src, Sizes, Type string }
	}
	at := linked("manifest")
	text := get(at, "application/manifest+json")
	if err := json.Unmarshal([]byte(text), &manifest); err != nil || manifest.Name == "" {
		t.Fatalf("the manifest is %s: %v", text, err)
	}
	b.bounded(t, func(ctx context.Context) error {
		got, err := chromedp.Call(ctx, page.GetAppManifest, page.GetAppManifestParams{})
		if err != nil {
			return err
		}
		for _, e := range got.Errors {
			t.Errorf("Chromium says of the manifest: %+v", *e)
		}
		if got.URL != n.url(at) || got.Data != text {
			t.Errorf("Chromium takes %s, %s for the manifest", got.URL, got.Data)
		}
		return nil
	})
	size := func(picture string) string {
		t.Helper()
		c, err := png.DecodeConfig(bytes.NewReader([]byte(picture)))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(c.Width, "x", c.Height)
	}
	drawn, large := 0, 0
	for _, icon := range manifest.Icons {
		picture := get(icon.Src, icon.Type)
		switch icon.Type {
		case "image/svg+xml":
			drawn++
			b.visit(t, icon.Src) // XML that is none is an error there
			if icon.Sizes != "any" || b.evaluate(t, "document.documentElement.nodeName") != "svg" {
				t.Errorf("%s is no drawing of any size", icon.Src)
			}
		default:
			large++
			if got := size(picture); got != icon.Sizes {
				t.Errorf("%s is %s, and named as %s", icon.Src, got, icon.Sizes)
			}
		}
	}
	if drawn == 0 || large == 0 {
		t.Errorf("of a drawing and a picture for installing one is missing: %s", text)
	}
	b.visit(t, "/")
	if got := size(get(linked("apple-touch-icon"), "image/png")); got != "180x180" {
		t.Errorf("the picture of a phone's home screen is %s", got)
	}
	b.visit(t, manifest.Start)
	b.says(t, "Entries")
}

// Of many feeds in trouble the first page names the three worst, each with what is wrong and when it is tried next, and
// has one line for the rest, which leads to all of them.
func TestBrowserFoldsTrouble(t *testing.T) {
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "Low tide"))
	const ill = 8
	for i := range ill {
		n.feedex(t, "subscribe", "--anyway", fmt.Sprint(p.server.URL, missingPage, i))
	}
	b := openBrowser(t, n)
	const rest = "5 more feeds in trouble"
	eventually(t, func() string {
		b.visit(t, "/")
		if shown := b.text(t); !strings.Contains(shown, rest) {
			return shown
		}
		return ""
	})
	b.inspect(t, "trouble")
	const rows = `String([...document.querySelectorAll('h2')].find(h => h.innerText === 'Feeds in trouble').
		nextElementSibling.querySelectorAll('tbody tr').length)`
	const tries = `[...document.querySelectorAll('[data-name="Next try"]')].
		map(c => c.querySelector('time') ? 'time' : c.innerText).join()`
	if got := b.evaluate(t, rows) + " " + b.evaluate(t, tries); got != "3 time,time,time" {
		t.Errorf("rows, and when each is tried next: %s", got)
	}
	b.says(t, "404")
	if n := strings.Count(b.text(t), "in trouble"); n != 2 {
		t.Errorf("the page says %d times that there is trouble", n)
	}
	b.click(t, `a[href="/feeds?order=trouble"]`)
	if n := strings.Count(b.text(t), missingPage); n != ill {
		t.Errorf("the list has %d of them", n)
	}
}
