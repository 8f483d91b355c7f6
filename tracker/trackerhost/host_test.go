package trackerhost

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"go.uber.org/goleak"

	"feedex/internal/logtest"
	"feedex/protocol"
	"feedex/tracker"
	"feedex/transport"
)

// A server of net/http lingers on a connection that it closes before it has read all.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// A trackerNode is a node that knows how to ask a tracker, and to answer when it is called back.
type trackerNode struct {
	id     protocol.NodeID
	client *transport.Client
	caller atomic.Value // the user agent that called it last
}

func startTrackerNode(t *testing.T) *trackerNode {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &trackerNode{client: transport.NewClient(transport.ClientConfig{Port: uint16(ln.Addr().(*net.TCPAddr).Port),
		AllowLocal: true})}
	answer := transport.NewHandler(transport.HandlerConfig{Methods: protocol.NodeMethods(),
		Log: slog.New(slog.DiscardHandler)})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.caller.Store(r.UserAgent())
		answer.ServeHTTP(w, r)
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(ln) }()
	t.Cleanup(func() { srv.Close(); <-served })
	t.Cleanup(n.client.CloseIdle)
	if n.id, err = protocol.ParseNodeID(ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	return n
}

// ask asks the tracker for neighbors.
func (n *trackerNode) ask(t *testing.T, tracker string) protocol.NodeList {
	t.Helper()
	r, err := n.client.Call(t.Context(), tracker, "", protocol.GetNeighbors{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Reply.(protocol.NodeList)
}

func TestTrackerRemembersItsListOverARestart(t *testing.T) {
	data := t.TempDir()
	url, said, stop := startTracker(t, data)
	a, b := startTrackerNode(t), startTrackerNode(t)
	if list := a.ask(t, url); len(list) != 0 {
		t.Errorf("an empty list hands out %v", list)
	}
	said.Wait(t, "node listed")
	if agent := a.caller.Load(); agent != "feedex/test" {
		t.Errorf("called back by %q", agent)
	}
	if list := b.ask(t, url); len(list) != 1 || list[0] != a.id {
		t.Errorf("handed out %v, want %v", list, a.id)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	again, _, _ := startTracker(t, data)
	if list := b.ask(t, again); len(list) != 1 || list[0] != a.id {
		t.Errorf("after a restart handed out %v, want %v", list, a.id)
	}
	if rest, err := filepath.Glob(filepath.Join(data, listName+"*")); err != nil || len(rest) != 1 {
		t.Errorf("the list's files are %v, %v", rest, err)
	}
}

func TestTrackerSetsADamagedListAside(t *testing.T) {
	data := t.TempDir()
	path := filepath.Join(data, listName)
	const damaged = `[{"id":"192.0.2.1:77`
	if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	url, said, stop := startTracker(t, data)
	said.Wait(t, "list of an earlier run is damaged; starting with an empty one")
	if text, err := os.ReadFile(path + ".damaged"); err != nil || string(text) != damaged {
		t.Errorf("set aside: %q, %v", text, err)
	}
	a := startTrackerNode(t)
	if list := a.ask(t, url); len(list) != 0 {
		t.Errorf("handed out %v of a damaged list", list)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), a.id.String()) {
		t.Errorf("the new list is %q, %v", text, err)
	}
}

// What the owner of the directory put in the place of the list is not followed.
func TestTrackerReadsNoLink(t *testing.T) {
	data, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(elsewhere, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(data, listName)); err != nil {
		t.Skip("no symbolic link can be made here, as on Windows: ", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, Config{Data: data, Listen: "127.0.0.1:0"}); err == nil ||
		!strings.Contains(err.Error(), "no regular file") {
		t.Errorf("it ended with %v", err)
	}
}

func TestTrackerAnswersNothingButGetNeighbors(t *testing.T) {
	url, _, _ := startTracker(t, t.TempDir())
	a := startTrackerNode(t)
	for _, c := range []protocol.Call{
		protocol.Connect{Subset: protocol.Subset{{Feed: "http://example.com/feed"}}}, protocol.UpdateSubset{},
		protocol.CheckDID{}, protocol.CheckDIDs{DIDs: []protocol.DID{{1}}},
		protocol.PutEntries{Bundle: protocol.NewBundle("http://example.com/feed", nil)}, protocol.QueryFeed{},
		protocol.GetEntries{},
		protocol.Disconnect{}, protocol.Vouch{Session: hex.EncodeToString(make([]byte, 16))}, protocol.WhoAmI{},
	} {
		r, err := a.client.Call(t.Context(), url, "", c)
		if refused, ok := errors.AsType[*protocol.RemoteError](err); !ok || refused.Code != protocol.UnknownMethod {
			t.Errorf("%s is answered %v, %v", c.Method(), r.Reply, err)
		}
	}
	if r := (&registryHost{}).serve(context.Background(), transport.Request{Call: protocol.WhoAmI{}}); r.Fault == nil ||
		r.Fault.Code != protocol.UnknownMethod {
		t.Errorf("past the handler, who_am_i is answered %+v", r)
	}
	if r, err := a.client.Call(t.Context(), url, "", protocol.ListMethods{}); err != nil ||
		!strings.Contains(strings.Join(r.Reply.(protocol.Methods), " "), "get_neighbors") {
		t.Errorf("system.listMethods is answered %v, %v", r.Reply, err)
	}
}

func TestTrackerShowsHowItIsDoing(t *testing.T) {
	url, said, _ := startTracker(t, t.TempDir())
	a := startTrackerNode(t)
	a.ask(t, url)
	said.Wait(t, "node listed")

	status, page := get(t, url)
	for _, want := range []string{"<tr><td>Nodes on the list<td>1\n", "<tr><td>Calls answered<td>1\n",
		"--tracker " + url} {
		if status != 200 || !strings.Contains(page, want) {
			t.Errorf("the page is answered %d without %q\n%s", status, want, page)
		}
	}
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the page may load from elsewhere: %q", policy)
	}
	if status, _ := get(t, url+"nothing"); status != 404 {
		t.Errorf("a page that is not there is answered %d", status)
	}

	status, metrics := get(t, url+"metrics")
	for _, want := range []string{"\nfeedex_tracker_nodes_listed 1\n", "\nfeedex_tracker_calls_total 1\n",
		"\nfeedex_tracker_call_backs_confirmed_total 1\n"} {
		if status != 200 || !strings.Contains(metrics, want) {
			t.Errorf("metrics are answered %d without %q\n%s", status, want, metrics)
		}
	}
	problems, err := promlint.New(strings.NewReader(metrics)).Lint()
	if err != nil || len(problems) != 0 {
		t.Errorf("metrics: %v, %v", problems, err)
	}
}

// A tracker whose list cannot be saved says so, until it can.
func TestTrackerSaysWhetherItWorks(t *testing.T) {
	data := filepath.Join(t.TempDir(), "gone")
	h := &registryHost{config: Config{Data: data}, registry: tracker.New(tracker.Config{}, rand.New(rand.NewPCG(1, 2)))}
	health := func() (int, string) {
		w := httptest.NewRecorder()
		h.healthz(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		return w.Code, w.Body.String()
	}
	if err := h.save(); err == nil {
		t.Fatal("a list was saved in a directory that is not there")
	}
	if code, text := health(); code != 503 || text != "the list is not saved\n" {
		t.Errorf("answered %d %q", code, text)
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := h.save(); err != nil {
		t.Fatal(err)
	}
	if code, text := health(); code != 200 || text != "ok\n" {
		t.Errorf("answered %d %q", code, text)
	}
	url, _, _ := startTracker(t, t.TempDir())
	if code, text := get(t, url+"healthz"); code != 200 || text != "ok\n" {
		t.Errorf("over the network: %d %q", code, text)
	}
}

// A tracker that is full says once an hour that it turns callers away.
func TestTrackerSaysThatItIsFull(t *testing.T) {
	log, said := logtest.Overhear()
	now := time.Now()
	h := &registryHost{config: Config{Log: log}, started: now,
		registry: tracker.New(tracker.Config{Capacity: 1}, rand.New(rand.NewPCG(1, 2)))}
	call := func(address string) {
		id := protocol.NewNodeID(netip.MustParseAddr(address), 7790)
		if wanted, _ := h.registry.Register(now, id); wanted {
			h.registry.Confirm(now, id, true)
		}
	}
	for _, c := range []struct {
		after   time.Duration
		caller  string
		warning bool
	}{{0, "11.1.1.1", false}, {0, "11.2.1.1", true}, {complainEvery - 1, "11.3.1.1", false},
		{complainEvery, "11.1.1.1", true}, {3 * complainEvery, "11.1.1.1", false}} {
		call(c.caller)
		h.complain(now.Add(c.after))
		if got := len(said.Count()) > 0; got != c.warning {
			t.Errorf("after %v: warned = %v", c.after, got)
		}
	}
	w := httptest.NewRecorder()
	h.page(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if want := "<tr><td>Nodes known<td>1, which is all that fit\n<tr><td>Callers turned away<td>2\n"; !strings.Contains(
		w.Body.String(), want) {
		t.Errorf("the page has no %q\n%s", want, w.Body)
	}
}

// startTracker runs a tracker on loopback until the test ends, and returns its URL and what it says.
func startTracker(t *testing.T, data string) (url string, log logtest.Said, stop func() error) {
	t.Helper()
	logger, log := logtest.Overhear()
	ready := make(chan string, 1)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{Data: data, Listen: "127.0.0.1:0",
			AllowLocal: true, UserAgent: "feedex/test", Log: logger, Ready: func(a string) { ready <- a }})
	}()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("tracker ended: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	select {
	case address := <-ready:
		return "http://" + address + "/", log, stop
	case err := <-ended:
		ended <- nil
		t.Fatalf("tracker did not start: %v", err)
	}
	return "", log, stop
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
