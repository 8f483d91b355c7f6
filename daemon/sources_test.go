package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"feedex/control"
	"feedex/feed"
	"feedex/node"
)

// name names a tracker or a neighbor, and again, which changes nothing, until that is of use, or is not as expected.
func (n *testNode) name(source string, useful bool) node.SourceStatus {
	n.t.Helper()
	for {
		s, err := n.client.NameSource(n.t.Context(), source)
		if err != nil {
			n.t.Fatal(err)
		}
		if !s.Asked.IsZero() && (s.Problem == "") == useful {
			return s
		}
	}
}

// A neighbor that is named while the node runs is sought at once and after each start, until it is taken back. What the
// settings name stays.
func TestNeighborsAreNamedWhileItRuns(t *testing.T) {
	f := startFeed(t, "From the publisher")
	a := startNode(t, Config{Subscribe: []feed.URL{f.url}})
	a.waitArrival(f.url)
	config := Config{Data: t.TempDir(), Subscribe: []feed.URL{f.url}, Node: node.Config{Peers: []string{"127.0.0.1:1"}}}
	b := startNode(t, config)
	b.waitArrival(f.url)
	if s := b.name(" "+a.at.Listen, true); s.Name != a.at.Listen || s.Tracker {
		t.Errorf("named %+v", s)
	}
	static := func(n *testNode) bool {
		n.waitNeighbors(1)
		list, err := n.client.Neighbors(t.Context())
		return err == nil && list[0].Static
	}
	if !static(b) {
		t.Error("it is a neighbor like others")
	}
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	b = startNode(t, config)
	r, err := b.client.Status(t.Context())
	if err == nil && len(r.Named) > 0 {
		b.name(r.Named[0], true)
	}
	if err != nil || !slices.Equal(r.Named, []string{a.at.Listen}) || len(r.Sources) != 2 || !static(b) {
		t.Errorf("after a restart %+v, named %q, %v", r.Sources, r.Named, err)
	}
	for _, name := range []string{"127.0.0.1:1", "node.example:7790", "nonsense"} {
		if err := b.client.ForgetSource(t.Context(), name); err == nil {
			t.Errorf("%s is forgotten", name)
		}
	}
	if err := b.client.ForgetSource(t.Context(), a.at.Listen); err != nil || static(b) {
		t.Errorf("taken back it is sought on, %v", err)
	}
	r, err = b.client.Status(t.Context())
	if err != nil || len(r.Named) > 0 || len(r.Sources) != 1 {
		t.Errorf("then %+v, named %q, %v", r.Sources, r.Named, err)
	}
}

// A tracker that is named while the node runs is asked at once; what it is refused for is said, with the setting that
// would permit it.
func TestTrackersAreNamedWhileItRuns(t *testing.T) {
	asked := make(chan string, 100)
	tracker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		asked <- string(text)
		w.Header().Set("Content-Type", "text/xml")
		fmt.Fprint(w, `<?xml version="1.0"?><methodResponse><params><param><value><array><data></data></array></value>`+
			`</param></params></methodResponse>`)
	}))
	t.Cleanup(tracker.Close)
	n := startNode(t, Config{})
	if s := n.name(tracker.URL, true); !s.Tracker {
		t.Errorf("named %+v", s)
	}
	if text := <-asked; !strings.Contains(text, "get_neighbors") {
		t.Errorf("it was asked %s", text)
	}
	n.name("http://127.0.0.1:1/", false) // as nobody is there

	public := startNodeAt(t, Config{Listen: "127.0.0.1:0", Reader: "127.0.0.1:0"})
	if s := public.name(tracker.URL, false); !strings.Contains(s.Problem, "not on the public Internet") ||
		!strings.Contains(s.Problem, "allow_private") {
		t.Errorf("an address that is not public: %+v", s)
	}
}

// The file in which names are kept may hold anything, and no more than some are kept.
func TestReadSources(t *testing.T) {
	data := t.TempDir()
	var text strings.Builder
	text.WriteString("http://tracker.example:7788/\n\nftp://x.example/\nexample.org\nexample.org\n\x00\n")
	for i := range maxSources {
		fmt.Fprintf(&text, "node%d.example:7790\n", i)
	}
	if err := os.WriteFile(filepath.Join(data, sourcesName), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Config{Data: data, Node: node.Config{Peers: []string{"example.org"}}}
	h := newHost(c.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
	if all := h.allSources(); len(all.Trackers) != 1 || len(all.Peers) != maxSources-1 ||
		all.Peers[0] != "example.org" || slices.Contains(h.named(), "example.org") {
		t.Errorf("%q are named, in all %q", h.named(), all)
	}
	if _, err := h.NameSource(t.Context(), "one.more.example"); !errors.As(err, new(control.BadRequest)) {
		t.Errorf("one more: %v", err)
	}
}

// A file that cannot be read is not written over, and is read once it can be.
func TestUnreadableSources(t *testing.T) {
	data := t.TempDir()
	path := filepath.Join(data, sourcesName)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	c := Config{Data: data}
	h := newHost(c.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
	if _, err := h.NameSource(t.Context(), "a.example"); err == nil ||
		!strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("named: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("b.example\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := h.ForgetSource(t.Context(), "a.example")
	if err == nil || !slices.Equal(h.named(), []string{"b.example"}) {
		t.Errorf("%v, named are %q", err, h.named())
	}
}

// Who names a neighbor and has gone before the node hears of it has named it.
func TestSourcesOfWhoHasGone(t *testing.T) {
	c := Config{Data: t.TempDir()}
	h := newHost(c.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range 20 { // as what is done for who has gone may be done by chance
		name := fmt.Sprintf("node%d.example:7790", i)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = h.NameSource(gone, name) // of which nobody hears
		}()
		select {
		case a := <-h.events:
			if s, ok := a.event.(node.Sources); !ok || !slices.Contains(s.Peers, name) {
				t.Errorf("the node is told %+v", a.event)
			}
			a.stored <- nil
		case <-done:
			t.Fatal("the node is not told")
		}
		<-done
		for len(h.events) > 0 {
			<-h.events
		}
	}
}
