package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"feedex/archive/jsonl"
)

// A person types words on the page Filters, sees what they would have caught, keeps them, and has what they catch from
// then on in newsboat.
func TestNewsboatReadsAFilter(t *testing.T) {
	need(t, newsboatProgram())
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	url := p.publish("/harbor.xml", "Harbor News", "A storm at sea", "A brain storm", "Low tide")
	nb := newNewsboat(t, n.url("/feed/"+url), "")
	n.feedex(t, "subscribe", url)
	nb.expectUnread(t, 3)

	b := openBrowser(t, n)
	b.visit(t, "/filters")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#words"), "storm NOT brain"))
	eventually(t, func() string { // without a button
		if shown := b.text(t); !strings.Contains(shown, "last month") || !strings.Contains(shown, "A storm at sea") ||
			strings.Contains(shown, "A brain storm") {
			return "the page does not show what the words would have caught:\n" + shown
		}
		return ""
	})
	b.do(t, chromedp.SendKeys(chromedp.CSS("#name"), "Storms"))
	b.click(t, `form[data-try] button`)
	b.says(t, "Storms is kept", "storm NOT brain")
	b.inspect(t, "filters")

	nb = newNewsboat(t, n.url("/filter/Storms.atom"), "")
	nb.expectUnread(t, 1)
	p.publish("/harbor.xml", "", "A late storm", "Another brain storm", "High tide")
	nb.expectUnread(t, 2)
}

// All that a filter promises, of an entry that nobody but a neighbor brings: the publisher refuses the node, and a
// neighbor that polls passes the entry on. It is in the filter's feed as soon as it is anywhere at the node, newsboat
// has it there, a subscriber is pushed to, and a phone is told.
func TestFilterCatchesWhatANeighborBrings(t *testing.T) {
	need(t, newsboatProgram())
	p := startPublisher(t)
	p.refuse = "unwelcome.example"
	feed := p.publish("/harbor.xml", "Harbor News", "A storm of yesterday")
	receiver, phone, trusted := startPushService(t)
	pushed := make(chan arrivedPush, 100)
	subscriber := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, r.FormValue("hub.challenge"))
			return
		}
		if body, err := io.ReadAll(r.Body); err == nil {
			pushed <- arrivedPush{time.Now(), string(body)}
		}
	}))
	t.Cleanup(subscriber.Close)
	config := filepath.Join(t.TempDir(), "feedex.toml")
	if err := os.WriteFile(config, []byte("about = \"https://"+p.refuse+"/\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	a := startPollingNode(t)
	data := t.TempDir()
	b := startProcess(t, trusted, nodeArgs(data, "--allow-private", "--poll", "1s", "--config", config, "--peer",
		a.listen, "--reader-push", strings.TrimPrefix(subscriber.URL, "http://"))...).node(data)
	a.feedex(t, "subscribe", feed)
	b.feedex(t, "subscribe", "--anyway", feed)
	tides := 0
	eventually(t, func() string { // until the neighbor knows what the node wants
		if tides == 0 || strings.Contains(a.get(t, "/feed/"+feed), fmt.Sprint("Tide ", tides)) {
			tides++
			p.publish("/harbor.xml", "", fmt.Sprint("Tide ", tides))
		}
		if text := b.get(t, "/feed/"+feed); !strings.Contains(text, "Tide ") {
			return "the neighbor has passed on nothing: " + text
		}
		return ""
	})
	b.feedex(t, "filter", "add", "Storms", "storm NOT brain")
	b.feedex(t, "notify", "add", "phone", "webpush", string(receiver.Subscription()), "--local")
	nb := newNewsboat(t, b.url("/filter/Storms.atom"), "")
	b.subscribe(t, "/filter/Storms.atom", subscriber.URL)

	p.publish("/harbor.xml", "", "Storm at the mole", "A brain storm", "High tide")
	seen := b.awaitEntry(t, "/feed/"+feed, "Storm at the mole")
	if text := b.get(t, "/filter/Storms.atom"); !strings.Contains(text, "Storm at the mole") ||
		strings.Contains(text, "brain storm") || strings.Contains(text, "High tide") {
		t.Errorf("the entry is at the node, and the filter's feed is\n%s", text)
	}
	nb.expectUnread(t, 1)
	t.Logf("newsboat has it %v after it was first seen in the feed", time.Since(seen).Round(time.Millisecond))
	phone.expect(t, "the phone", `"title":"Storm at the mole"`)
	for came := (arrivedPush{}); !strings.Contains(came.text, "Storm at the mole"); {
		select {
		case came = <-pushed:
			t.Logf("pushed %v after the entry was first seen in the feed", came.at.Sub(seen).Round(time.Millisecond))
		case <-time.After(patience):
			t.Fatal("the subscriber was not sent the entry")
		}
	}

	var entries []jsonl.Entry
	if err := json.Unmarshal([]byte(b.feedex(t, "query", "--json")), &entries); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Source.IsZero() || e.Confirmed {
			t.Errorf("%q is confirmed, or from the publisher: %+v", e.Title, e)
		}
	}
}

// An arrivedPush is what a subscriber to a hub was sent.
type arrivedPush struct {
	at   time.Time
	text string
}

// get is what the node serves at a path of its reader address.
func (n *node) get(t *testing.T, path string) string {
	t.Helper()
	status, text := ask(t, http.MethodGet, n.url(path), "")
	if status != http.StatusOK {
		t.Fatalf("%s: %d: %s", path, status, text)
	}
	return text
}

// awaitEntry waits until a feed of the node has an entry of that title, and returns when it was first seen there.
func (n *node) awaitEntry(t *testing.T, path, title string) time.Time {
	t.Helper()
	eventually(t, func() string {
		if text := n.get(t, path); !strings.Contains(text, title) {
			return fmt.Sprintf("%q is not in %s: %s", title, path, text)
		}
		return ""
	})
	return time.Now()
}

// subscribe subscribes a callback to a feed of the node, as WebSub has it.
func (n *node) subscribe(t *testing.T, path, callback string) {
	t.Helper()
	links := map[string]string{}
	for _, link := range regexp.MustCompile(`<link rel="(self|hub)" href="([^"]*)"`).FindAllStringSubmatch(
		n.get(t, path), -1) {
		links[link[1]] = link[2]
	}
	res, err := http.PostForm(links["hub"], url.Values{"hub.mode": {"subscribe"}, "hub.topic": {links["self"]},
		"hub.callback": {callback}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusAccepted {
		t.Fatalf("the hub answers %s, %v: %s", res.Status, err, text)
	}
}
