package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// foreignPage tries everything that a page can have a browser do at the node, and says how that went.
const foreignPage = `<!doctype html><meta charset="utf-8"><title>Foreign</title><main id="said">trying</main><a id="link">The node</a>
<script>
const node = %q, peers = %q, victim = %q, missing = '?%s';
const said = [];
document.getElementById('link').href = node + '/settings';
const fields = {'/follow': {url: 'https://example.com/stolen.xml'}, '/logout': {}, '/passwords': {name: 'stolen'},
	'/hub': {'hub.mode': 'subscribe', 'hub.topic': node + '/all.atom', 'hub.callback': victim + '/form'}};
const tries = [];
for (let i = 0; i < 12; i++) tries.push(new Promise(done => {
	const s = new EventSource(node + '/live' + missing, {withCredentials: i %% 2 == 0});
	s.onopen = () => { said.push('a stream opened'); done(); };
	s.onerror = () => { s.close(); done(); };
}));
for (const path of ['/live', '/search', '/search/network', '/settings']) tries.push(
	fetch(node + path + missing + '&q=ferry&network=1&wait=1', {credentials: 'include'}).then(() => said.push(path + ' was read'), () => {}));
for (const [path, form] of Object.entries(fields)) tries.push(
	fetch(node + path + missing, {method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams(form)}).catch(() => {}));
tries.push(fetch(peers + '/RPC2' + missing, {method: 'POST', headers: {'Content-Type': 'text/xml'}, body:
	'<methodCall><methodName>system.listMethods</methodName><params/></methodCall>'}).then(() => said.push('a call was made'), () => {}));
Promise.all(tries).then(() => { document.getElementById('said').textContent = 'done: ' + said.join(', '); });
</script>`

// A page of another site, or of another port of this machine, may have the owner's browser do anything: nothing
// changes, nothing on the machine is called, nothing is read, and the owner's pages are kept up to date.
func TestBrowserForeignPage(t *testing.T) {
	needBrowser(t)
	n := startPollingNode(t)
	var called atomic.Int32
	victim := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called.Add(1) }))
	t.Cleanup(victim.Close)
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, foreignPage, "http://"+n.reader, "http://"+n.listen, victim.URL, missingPage)
	}))
	t.Cleanup(foreign.Close)
	at, err := url.Parse(foreign.URL)
	if err != nil {
		t.Fatal(err)
	}
	b := openBrowser(t, n)
	password := n.password(t, "laptop")
	b.visit(t, "/login")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#password"), password))
	b.click(t, `form[action="/login"] button`)
	for _, host := range []string{"localhost", "127.0.0.1"} { // another site, and the same site
		b.do(t, chromedp.Navigate("http://"+host+":"+at.Port()+"/"+missingPage))
		eventually(t, func() string {
			if text := b.text(t); !strings.Contains(text, "done:") {
				return "the page says " + text
			} else if strings.TrimSpace(text) != "done:" {
				t.Fatalf("from %s: %s", host, text)
			}
			return ""
		})
	}
	b.do(t, chromedp.Navigate("http://localhost:"+at.Port()+"/"+missingPage))
	b.click(t, "#link")
	b.says(t, "Make a password") // which only a browser that is logged in sees
	if list := n.feedex(t, "feeds"); strings.Contains(list, "stolen") {
		t.Errorf("a page follows feeds: %s", list)
	}
	if list := n.feedex(t, "password", "list"); strings.Contains(list, "stolen") {
		t.Errorf("a page makes passwords: %s", list)
	}
	if called.Load() != 0 {
		t.Errorf("a page has the hub call what listens on this machine %d times", called.Load())
	}
	b.visit(t, "/feeds")
	b.bounded(t, func(ctx context.Context) error {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise((opened, failed) => {
			const s = new EventSource('/live');
			s.onopen = () => { s.close(); opened(true); };
			s.onerror = () => failed(new Error('the stream of a page of ours does not open'));
		})`, chromedp.EvalAwaitPromise))
		return err
	})
}
