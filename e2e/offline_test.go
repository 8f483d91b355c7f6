package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// kept is all that the browser keeps of pages.
const kept = `(async () => {
	if (!await caches.has('feedex-pages')) return 'nothing';
	const cache = await caches.open('feedex-pages');
	return (await Promise.all((await cache.keys()).map(async k => k.url + ' ' + await (await cache.match(k)).text()))).join(' ');
})()`

// What was opened last can be read where the node cannot be reached, and nothing of it can be sent: there is no form
// and no token in what the browser keeps. That is gone once somebody has to log in.
func TestBrowserReadsOffline(t *testing.T) {
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "Low tide", "High tide"))
	at, err := url.Parse(n.url("/"))
	if err != nil {
		t.Fatal(err)
	}
	var cut atomic.Bool
	onward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(at)
		r.Out.Host = r.In.Host
	}}
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cut.Load() {
			panic(http.ErrAbortHandler)
		}
		onward.ServeHTTP(w, r)
	}))
	t.Cleanup(way.Close)
	over := *n
	over.reader = strings.TrimPrefix(way.URL, "http://")
	b := openBrowser(t, &over)
	b.complains = true
	b.visit(t, "/entries")
	b.evaluate(t, "navigator.serviceWorker.ready.then(() => 'ready')")
	b.visit(t, "/entries")
	b.bounded(t, func(ctx context.Context) error { // it can be had as an app
		app, err := chromedp.Call(ctx, page.GetAppManifest, page.GetAppManifestParams{})
		if err != nil {
			return err
		}
		lacks, err := chromedp.Call(ctx, page.GetInstallabilityErrors, cdp.Empty{})
		if err != nil || len(app.Errors) > 0 || len(lacks.InstallabilityErrors) > 0 ||
			!strings.Contains(app.Data, `"start_url":"/entries"`) {
			lack, _ := json.Marshal(lacks)
			t.Errorf("the browser does not have it as an app: %v, %+v, %s", err, app, lack)
		}
		return err
	})
	b.do(t, chromedp.Click(chromedp.CSS(".list h2 a"))) // which opens it below its row
	eventually(t, func() string {
		if have := b.evaluate(t, kept); !strings.Contains(have, "What there is to say of") {
			return "the entry is not kept: " + have
		}
		return ""
	})
	b.visit(t, "/settings")
	have := b.evaluate(t, kept)
	for _, never := range []string{"<form", "token", "with=", "/settings "} {
		if strings.Contains(have, never) {
			t.Errorf("the browser keeps %q in:\n%s", never, have)
		}
	}

	cut.Store(true)
	way.CloseClientConnections()
	b.visit(t, "/entries")
	b.says(t, "There is no connection: this is what was here last", "High tide")
	b.inspect(t, "kept")
	b.visit(t, "/entries?show=all&feed=99")
	b.says(t, "The node cannot be reached from here")
	b.inspect(t, "offline")
	b.click(t, "main li a")
	b.says(t, "There is no connection")

	cut.Store(false)
	b.visit(t, "/login")
	eventually(t, func() string {
		if have := b.evaluate(t, kept); have != "nothing" {
			return "the browser keeps " + have
		}
		return ""
	})
}

// evaluate is what an expression comes to, which may be a promise. Where the page is left meanwhile it is evaluated in
// the one that comes.
func (b *browser) evaluate(t *testing.T, expression string) (value string) {
	t.Helper()
	b.bounded(t, func(ctx context.Context) (err error) {
		for {
			value, err = chromedp.Run(ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
			var left *cdproto.Error
			if !errors.As(err, &left) || left.Message != "Inspected target navigated or closed" &&
				left.Message != "Execution context was destroyed." {
				return err
			}
		}
	})
	return value
}

// The keys of readers press what the page has, and what comes stands in a line over the list that stays as it is. Times
// are said in the zone of the browser.
func TestBrowserKeys(t *testing.T) {
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "Low tide", "High tide"))
	b := openBrowser(t, n)
	b.visit(t, "/entries")
	chosen := func() string { return b.evaluate(t, "document.activeElement.textContent") }
	for _, step := range []struct{ key, want string }{{"j", "High tide"}, {"j", "Low tide"}, {"j", "Low tide"},
		{"k", "High tide"}} {
		b.do(t, chromedp.KeyEvent(step.key))
		if got := chosen(); got != step.want {
			t.Errorf("%q leads to %q, want %q", step.key, got, step.want)
		}
	}
	b.do(t, chromedp.KeyEvent("s"))
	eventually(t, func() string {
		if text := b.text(t); !strings.Contains(text, "★ Unstar") {
			return text
		}
		return ""
	})
	b.do(t, chromedp.KeyEvent("/"))
	if got := b.evaluate(t, "document.activeElement.id"); got != "q" {
		t.Errorf("/ leads to %q", got)
	}
	b.do(t, chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))

	offers := func(line, title string) {
		t.Helper()
		eventually(t, func() string {
			if got := b.evaluate(t, "document.querySelector('.came')?.textContent ?? ''"); got != line {
				return "the line over the list says " + got
			}
			return ""
		})
		if strings.Contains(b.text(t), title) {
			t.Errorf("the list has %s by itself", title)
		}
	}
	b.visit(t, "/feeds")
	b.says(t, "Harbor News")
	polls := b.evaluate(t, "document.querySelector('td[data-name=\"Entries by own polls\"]').textContent")
	p.publish("/harbor.xml", "Harbor News", "Neap tide")
	eventually(t, func() string {
		now := b.evaluate(t, "document.querySelector('td[data-name=\"Entries by own polls\"]').textContent")
		if now == polls {
			return "the number of entries stays " + polls
		}
		return ""
	})
	offers("", "Slack tide")
	n.feedex(t, "subscribe", p.publish("/slack.xml", "Slack tide", "None"))
	offers("Show what changed", "Slack tide")
	b.visit(t, "/feeds/1")
	p.publish("/harbor.xml", "Harbor News", "Ebb tide")
	offers("1 new", "Ebb tide")
	b.visit(t, "/entries")
	b.do(t, chromedp.KeyEvent("j")) // what has the focus stays; the line is above it
	p.publish("/harbor.xml", "Harbor News", "Spring tide")
	offers("1 new", "Spring tide")
	b.keys(t, "r")
	b.says(t, "Spring tide")
	b.do(t, chromedp.KeyEvent("j"))
	original := b.evaluate(t, "document.activeElement.closest('li').dataset.original")
	b.excused = append(b.excused, "a status of 404") // this publisher has its feeds alone
	b.keys(t, "v")
	if got := b.evaluate(t, "location.href"); got != original {
		t.Errorf("v on a row leads to %q, want %q", got, original)
	}
	b.visit(t, "/entries")
	b.do(t, chromedp.KeyEvent("j"))
	b.keys(t, "p")
	b.says(t, "What there is to say of")
	where := b.evaluate(t, "document.querySelector('a.original').href")
	b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('a.original').addEventListener('click',
		e => { e.preventDefault(); document.title = e.target.href; })`))
	b.do(t, chromedp.KeyEvent("v"))
	if got := b.evaluate(t, "document.title"); got != where {
		t.Errorf("v leads to %q, want %q", got, where)
	}
	if got := b.evaluate(t, "document.cookie"); !strings.Contains(got, "feedex_zone="+
		b.evaluate(t, "Intl.DateTimeFormat().resolvedOptions().timeZone")) {
		t.Errorf("the page notes %q of the zone", got)
	}
	b.bounded(t, func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetTimezoneOverride,
			emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kathmandu"}) // which no machine is in by chance
		return err
	})
	b.visit(t, "/feeds/1")
	b.visit(t, "/feeds/1")
	const said = `(() => { const at = document.querySelector('time');
		return at.title.includes(new Date(at.dateTime).toTimeString().slice(0, 5)) ? '' : at.title + ', ' + at.dateTime; })()`
	if got := b.evaluate(t, said); got != "" {
		t.Errorf("a time is said in another zone: %s", got)
	}
}
