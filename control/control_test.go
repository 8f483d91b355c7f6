package control

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"feedex/archive"
	"feedex/archive/archivetest"
	"feedex/archive/jsonl"
	"feedex/discover"
	"feedex/feed"
	"feedex/grade"
	"feedex/internal/asnobody"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
	"feedex/recommend"
)

var _ Owner = (*Client)(nil)

// A server of net/http lingers on a connection that it closes before it has read all.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

const exampleFeed = feed.URL("http://example.com/feed")

func peer() protocol.NodeID { return protocol.NewNodeID(netip.MustParseAddr("192.0.2.7"), 7790) }

// following is the wish to follow a feed.
func following(u feed.URL) node.Subscribe { return node.Subscribe{Feeds: []feed.URL{u}} }

func TestClientAsksOwner(t *testing.T) {
	at := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	peer := peer()
	entry := feed.Entry{
		Feed: "http://example.com/feed", ID: "tag:1", Title: "A & <b>B</b>", Link: "http://example.com/1",
		Authors: []string{"Ann"}, Published: at, Updated: at.Add(time.Hour), Summary: "s", Content: "c",
		Categories: []string{"x"},
		Enclosures: []feed.Enclosure{{URL: "http://example.com/1.mp3", Type: "audio/mpeg", Length: 9}},
	}
	polled := archive.NewRecord(entry, at, protocol.NodeID{})
	polled.Seq = 2
	bare := archive.NewRecord(feed.Entry{Feed: "http://example.com/feed", Title: "bare"}, at, peer)
	bare.Seq = 1
	o := &fakeOwner{
		report: Report{
			Status:  &node.Status{Self: peer, Started: at, Feeds: 3, Neighbors: 2, Counters: node.Counters{Polls: 5}},
			Version: "v1", Uptime: time.Minute, Data: "/d", Listen: ":7790", Reader: "127.0.0.1:7791",
			Archive: ArchiveReport{Entries: 1, Feeds: 2, Bytes: 3, Unindexed: 4}, Storage: "disk full",
		},
		neighbors: []node.NeighborStatus{{ID: peer, Since: at, Chosen: true, RTT: time.Millisecond}},
		feeds:     []node.FeedStatus{{URL: "http://example.com/feed", Title: "T", Interval: time.Hour, LastPoll: at}},
		records:   []archive.Record{polled, bare},
		hosts: []grade.Assessment{{Host: "example.com", Since: at, Requests: 2,
			Grades: []grade.Grade{{Respect: "pace", Mark: grade.Fair, Reason: "r"}}}},
	}
	c := serve(t, o)
	ctx := t.Context()

	if got, err := c.Status(ctx); err != nil || !reflect.DeepEqual(got, o.report) {
		t.Errorf("Status = %+v, %v; want %+v", got, err, o.report)
	}
	if got, err := c.Neighbors(ctx); err != nil || !reflect.DeepEqual(got, o.neighbors) {
		t.Errorf("Neighbors = %+v, %v; want %+v", got, err, o.neighbors)
	}
	if got, err := c.Feeds(ctx); err != nil || !reflect.DeepEqual(got, o.feeds) {
		t.Errorf("Feeds = %+v, %v; want %+v", got, err, o.feeds)
	}
	if got, err := c.Publishers(ctx); err != nil || !reflect.DeepEqual(got, o.hosts) {
		t.Errorf("Publishers = %+v, %v; want %+v", got, err, o.hosts)
	}
	filter := feed.Filter{
		Feed: "http://example.com/feed", Words: []string{"a b"}, Title: []string{"c*"}, Since: at,
		Until: at.Add(time.Hour), IDs: []feed.EntryID{polled.ID}, Limit: 7, Shareable: true, NoSecrets: true,
	}
	if got, err := c.Search(ctx, filter); err != nil || !reflect.DeepEqual(got, o.records) {
		t.Errorf("Search = %+v, %v; want %+v", got, err, o.records)
	}
	if !reflect.DeepEqual(o.filter, filter) {
		t.Errorf("the owner was asked for %+v, want %+v", o.filter, filter)
	}
	yes, policy := true, "auto:15m"
	for _, wish := range []node.Subscribe{
		{Feeds: []feed.URL{"http://example.com/a"}},
		{Feeds: []feed.URL{"http://example.com/a"}, Weight: 100, Discreet: &yes, Policy: &policy},
		{Feeds: []feed.URL{"http://example.com/a"}, Discreet: new(bool), Policy: new(string),
			Backlog: archive.NoBacklog},
		{Feeds: []feed.URL{"http://example.com/a"}, Backlog: archive.WholeBacklog},
	} {
		if err := c.Subscribe(ctx, wish); err != nil || !reflect.DeepEqual(o.subscribed, wish) {
			t.Errorf("Subscribe: %v, the owner was asked for %+v, want %+v", err, o.subscribed, wish)
		}
	}
	want := []Refreshed{{Feed: "http://example.com/a", NotBefore: refreshable}}
	if got, err := c.Refresh(ctx, []feed.URL{"http://example.com/a"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Refresh = %+v, %v; want %+v", got, err, want)
	}
	if err := c.Unsubscribe(ctx, "http://example.com/b"); err != nil || o.unsubscribed != "http://example.com/b" {
		t.Errorf("Unsubscribe: %v, the owner was asked for %q", err, o.unsubscribed)
	}
}

func TestClientReportsTheNodesWords(t *testing.T) {
	c := serve(t, &fakeOwner{err: errors.New("store entries: disk is full")})
	for name, call := range map[string]func() error{
		"status":    func() error { _, err := c.Status(t.Context()); return err },
		"neighbors": func() error { _, err := c.Neighbors(t.Context()); return err },
		"feeds":     func() error { _, err := c.Feeds(t.Context()); return err },
		"search":    func() error { _, err := c.Search(t.Context(), feed.Filter{}); return err },
		"query": func() error {
			return c.Query(t.Context(), QueryRequest{},
				func(QueryPart) error { return nil })
		},
		"subscribe":   func() error { return c.Subscribe(t.Context(), following("http://example.com/")) },
		"refresh":     func() error { _, err := c.Refresh(t.Context(), nil); return err },
		"unsubscribe": func() error { return c.Unsubscribe(t.Context(), "http://example.com/") },
	} {
		if err := call(); err == nil || err.Error() != "store entries: disk is full" {
			t.Errorf("%s: error %v, want the owner's", name, err)
		}
	}
	for _, weight := range []int{-1, 101} {
		wish := following("http://example.com/")
		wish.Weight = weight
		if err := c.Subscribe(t.Context(), wish); err == nil ||
			err.Error() != fmt.Sprintf("weight is %d, want 1 to 100", weight) {
			t.Errorf("a weight of %d: %v", weight, err)
		}
	}
	if err := c.Subscribe(t.Context(), following("gopher://example.com/")); err == nil ||
		!strings.Contains(err.Error(), feed.ErrURL.Error()) {
		t.Errorf("subscribe to a URL that is none: %v", err)
	}
}

// Results that a search found before it was cut arrive, and that it was.
func TestClientLearnsOfACut(t *testing.T) {
	r := archive.NewRecord(feed.Entry{Feed: "http://example.com/feed"}, time.Unix(1000, 0), protocol.NodeID{})
	o := &fakeOwner{records: []archive.Record{r}, err: archive.ErrCut}
	m, err := feed.ParseMatch("a OR b")
	if err != nil {
		t.Fatal(err)
	}
	asked := feed.Filter{Match: m, Relevance: true}
	found, err := serve(t, o).Search(t.Context(), asked)
	if !errors.Is(err, archive.ErrCut) || len(found) != 1 || found[0].ID != r.ID ||
		!reflect.DeepEqual(o.filter, asked) {
		t.Errorf("found %v, %v; asked %+v", found, err, o.filter)
	}
}

func TestControlRefusesBadRequests(t *testing.T) {
	c := serve(t, &fakeOwner{})
	for _, tt := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"a feed that is none among others", "POST", "/subscribe", `{"urls":["http://example.com/","x"]}`, 400},
		{"not JSON", "POST", "/subscribe", "url=x", 400},
		{"a weight out of range", "POST", "/subscribe", `{"urls":["http://example.com/"],"weight":101}`, 400},
		{"a backlog that is none", "POST", "/subscribe", `{"urls":["http://example.com/"],"unread":"-1"}`, 400},
		{"a policy that is none", "POST", "/subscribe", `{"urls":["http://example.com/"],"policy":"hourly"}`, 400},
		{"a member of another request", "POST", "/unsubscribe", `{"url":"http://example.com/","weight":1}`, 400},
		{"an unknown member", "POST", "/search", `{"wrods":["a"]}`, 400},
		{"more hops than there may be", "POST", "/query", `{"hops":10000}`, 400},
		{"a wait without end", "POST", "/query", `{"wait":60001}`, 400},
		{"an id that is none", "POST", "/search", `{"ids":["abc"]}`, 400},
		{"a body over the limit", "POST", "/search", `{"words":["` + strings.Repeat("a", maxControlBytes) + `"]}`, 400},
		{"the wrong method", "GET", "/subscribe", "", 405},
		{"an unknown path", "GET", "/nothing", "", 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, "http://node"+tt.path,
			strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.http.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != tt.want {
			t.Errorf("%s: status %d, want %d", tt.name, resp.StatusCode, tt.want)
		}
	}
}

func TestSearchThatFoundNothingIsAnEmptyList(t *testing.T) {
	c := serve(t, &fakeOwner{})
	resp, err := c.http.Post("http://node/search", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "[]\n" {
		t.Errorf("answer %q, %v; want []", body, err)
	}
}

func TestDialWithoutNode(t *testing.T) {
	empty := t.TempDir()
	if _, err := Dial(empty); !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), empty) {
		t.Errorf("empty data directory: %v, want ErrNotRunning that names it", err)
	}
	if _, err := Dial(filepath.Join(empty, "absent")); !errors.Is(err, ErrNotRunning) {
		t.Errorf("absent data directory: %v, want ErrNotRunning", err)
	}

	stale := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(stale, socketName)})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := Dial(stale); !errors.Is(err, ErrNotRunning) {
		t.Errorf("socket that a killed node left: %v, want ErrNotRunning", err)
	}

	file := t.TempDir()
	if err := os.WriteFile(filepath.Join(file, socketName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(file); !errors.Is(err, ErrNotRunning) {
		t.Errorf("a file in the socket's place: %v, want ErrNotRunning", err)
	}
}

// Where there can be no socket the error says what to do.
func TestNoPlaceForASocket(t *testing.T) {
	_, err := Listen(filepath.Join(t.TempDir(), "none"))
	if err == nil || !strings.Contains(err.Error(), "with --data") {
		t.Errorf("%v, want what to do", err)
	}
}

func TestDialForeignNode(t *testing.T) {
	if !asnobody.Run(t) {
		return
	}
	data := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(data, socketName))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chmod(filepath.Join(data, socketName), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(data); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("socket of another user: %v, want fs.ErrPermission", err)
	}
}

func TestSocketPathTooLong(t *testing.T) {
	long := filepath.Join("/", strings.Repeat("x", 100))
	if _, err := SocketPath(long); err == nil || !strings.Contains(err.Error(), "shorter path") {
		t.Errorf("SocketPath = %v, want an error that asks for a shorter path", err)
	}
	if _, err := Dial(long); err == nil || errors.Is(err, ErrNotRunning) {
		t.Errorf("Dial = %v, want an error about the path", err)
	}
}

// Titles, folders and passwords pass through the socket as they are.
func TestClientArranges(t *testing.T) {
	o := new(fakeOwner)
	c := serve(t, o)
	name := "Mine"
	var list []reading.Arrangement
	for i := range 2*ListStep + 1 {
		list = append(list, reading.Arrangement{Feed: reading.FeedID(i), URL: exampleFeed, Name: &name,
			Into: []string{"A › B"}, Out: []string{"C"}})
	}
	if err := c.Arrange(t.Context(), list); err != nil || !reflect.DeepEqual(o.arranged, list) {
		t.Errorf("Arrange: %v; the owner got %+v", err, o.arranged)
	}
	o.arranged, o.noFolders = nil, []NoFolder{{"C", "its name is taken"}}
	wish := node.Subscribe{Feeds: []feed.URL{exampleFeed}, Backlog: 7}
	if none, err := c.FollowList(t.Context(), wish, list); err != nil || !slices.Equal(none, o.noFolders) ||
		!reflect.DeepEqual(o.arranged, list) || !reflect.DeepEqual(o.subscribed, wish) {
		t.Errorf("FollowList = %+v, %v; the owner got %+v, %+v", none, err, o.subscribed, o.arranged)
	}
	if secret, err := c.AddPassword(t.Context(), PasswordRequest{"phone", "Ann", reading.ReaderScope}); err != nil ||
		secret != "reader of Ann, phone" {
		t.Errorf("AddPassword = %q, %v", secret, err)
	}
	if err := c.RemovePassword(t.Context(), "phone"); err != nil || len(o.passwords) > 0 {
		t.Errorf("RemovePassword: %v, there is %q", err, o.passwords)
	}
	if err := c.AddPerson(t.Context(), "Ann B."); err != nil || !slices.Equal(o.people, []string{"Ann B."}) {
		t.Errorf("AddPerson: %v, there are %q", err, o.people)
	}
	if err := c.RemovePerson(t.Context(), "Ann B."); err != nil || len(o.people) > 0 {
		t.Errorf("RemovePerson: %v, there are %q", err, o.people)
	}
	storms := FilterRequest{"Ann B.", reading.FilterWish{Name: "Storms", Words: "storm NOT brain", Folder: "News",
		Rule: reading.RuleStar}}
	if r, err := c.AddFilter(t.Context(), storms); err != nil || r != (FilterReport{7, 3, true}) ||
		!slices.Equal(o.filters, []FilterRequest{storms}) {
		t.Errorf("AddFilter = %+v, %v; the owner got %+v", r, err, o.filters)
	}
	if err := c.StandFilter(t.Context(), FilterStanding{"Storms", true}); err != nil || !o.filters[0].Standing {
		t.Errorf("StandFilter: %v, there are %+v", err, o.filters)
	}
	if rule, err := c.RemoveFilter(t.Context(), FilterRemoval{"Ann B.", "Storms", true}); err != nil ||
		rule != reading.RuleStar || len(o.filters) > 0 {
		t.Errorf("RemoveFilter = %q, %v, there are %+v", rule, err, o.filters)
	}
	o.err = BadRequest{reading.ErrTaken}
	if _, err := c.AddPassword(t.Context(), PasswordRequest{Name: "phone"}); err == nil ||
		err.Error() != reading.ErrTaken.Error() {
		t.Errorf("a name that is taken: %v", err)
	}
	if err := c.Arrange(t.Context(), list); err == nil || err.Error() != reading.ErrTaken.Error() {
		t.Errorf("Arrange that fails: %v", err)
	}
}

func TestQueriesComeInParts(t *testing.T) {
	at := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	entry := archive.NewRecord(feed.Entry{Feed: exampleFeed, ID: "1", Title: "Here"}, at, protocol.NodeID{})
	remote := Remote{
		ID: entry.ID.String(), Digest: entry.Digest.String(), Feed: exampleFeed, Title: "There",
		Link:      "http://example.com/1",
		Published: at, Seen: at, Holders: []protocol.NodeID{peer()}, Told: 2,
	}
	o := &fakeOwner{parts: []QueryPart{
		{Here: &Local{Records: []archive.Record{entry}, More: true}},
		{Found: []Remote{remote}},
		{End: &QueryEnd{Network: true, Asked: 3, Cut: []string{"time"}, Found: []Remote{remote}}},
	}}
	c := serve(t, o)
	yes := true
	q := QueryRequest{Filter: feed.Filter{Words: []string{"a"}, Limit: 7}, Network: &yes, Hops: 2,
		Wait: 1500 * time.Millisecond}
	var got []QueryPart
	err := c.Query(t.Context(), q, func(p QueryPart) error { got = append(got, p); return nil })
	if err != nil || !reflect.DeepEqual(got, o.parts) {
		t.Errorf("came %+v, %v\nwant %+v", got, err, o.parts)
	}
	if !reflect.DeepEqual(o.query, q) {
		t.Errorf("the owner was asked for %+v, want %+v", o.query, q)
	}
	answer := httptest.NewRecorder()
	NewHandler(o).ServeHTTP(answer, httptest.NewRequest("POST", "/query", strings.NewReader("{}")))
	if lines := answer.Body.String(); strings.Count(lines, "\n") != len(o.parts) || strings.Contains(lines, `"error"`) {
		t.Errorf("the answer is %q", lines)
	}
	enough := errors.New("enough")
	if err := c.Query(t.Context(), q, func(QueryPart) error { return enough }); err != enough {
		t.Errorf("Query = %v, want the error of the reading side", err)
	}
	o.parts = o.parts[:1]
	if err := c.Query(t.Context(), q, func(QueryPart) error { return nil }); err == nil {
		t.Error("an answer without its end passed for whole")
	}
}

func TestFirstPollsAreTold(t *testing.T) {
	o := &fakeOwner{waiting: []int{2, 1, 0}}
	c := serve(t, o)
	var got []int
	each := func(waiting int) error { got = append(got, waiting); return nil }
	list := []feed.URL{exampleFeed, "http://example.org/feed"}
	if err := c.FirstPolls(t.Context(), list, each); err != nil || !slices.Equal(got, o.waiting) ||
		!slices.Equal(o.polled, list) {
		t.Errorf("told %v of %v, %v", got, o.polled, err)
	}
	// The client leaves at the last number, when the first owner may still be at work.
	c = serve(t, &fakeOwner{waiting: []int{2}, err: reading.ErrRests})
	if err := c.FirstPolls(t.Context(), list, each); err == nil || err.Error() != reading.ErrRests.Error() {
		t.Errorf("FirstPolls = %v, want why it ended", err)
	}
}

// A node of an older version knows neither each path nor each member.
func TestAnotherVersion(t *testing.T) {
	c := serve(t, &fakeOwner{})
	for path, in := range map[string]map[string]string{
		"/later": nil, "/unsubscribe": {"url": "http://example.com/", "later": "1"},
	} {
		_, err := c.open(t.Context(), "POST", path, in)
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "another version") {
			t.Errorf("%s: it says %v", path, err)
		}
	}
}

func TestSiteFeedsOverTheSocket(t *testing.T) {
	o := &fakeOwner{}
	c := serve(t, o)
	if got, err := c.SiteFeeds(t.Context(), "example.org"); err != nil || o.site != "example.org" || len(got) != 1 ||
		got[0] != "https://example.com/feed" {
		t.Errorf("%v, %v; asked for %q", got, err, o.site)
	}
	o.err = errors.New("it names no node")
	if _, err := c.SiteFeeds(t.Context(), "example.org"); err == nil || err.Error() != o.err.Error() {
		t.Errorf("SiteFeeds = %v, want %v", err, o.err)
	}
}

func TestJoinOverTheSocket(t *testing.T) {
	o := &fakeOwner{}
	c := serve(t, o)
	want := JoinRequest{Host: "192.0.2.7:7790", Key: protocol.NodeKey{1}}
	if got, err := c.Join(t.Context(), want); err != nil || got != peer() || o.joined != want {
		t.Errorf("joined %v, %v; asked for %+v", got, err, o.joined)
	}
	o.err = node.ErrNothingToOffer
	if _, err := c.Join(t.Context(), want); err == nil || err.Error() != o.err.Error() {
		t.Errorf("Join = %v, want %v", err, o.err)
	}
}

func TestSourcesOverTheSocket(t *testing.T) {
	o := &fakeOwner{}
	c := serve(t, o)
	const name = "http://tracker.example.net:7788/"
	want := node.SourceStatus{Name: name, Tracker: true, Problem: "nobody answers"}
	if got, err := c.NameSource(t.Context(), name); err != nil || got != want || o.source != name {
		t.Errorf("named %+v, %v; asked for %q", got, err, o.source)
	}
	if err := c.ForgetSource(t.Context(), name); err != nil || o.forgotten != name {
		t.Errorf("ForgetSource: %v, asked for %q", err, o.forgotten)
	}
	o.source = ""
	if _, err := c.NameSource(t.Context(), "ftp://example.net/"); err == nil || o.source != "" {
		t.Errorf("%v, the owner was asked for %q", err, o.source)
	}
	o.err = errors.New("there are too many")
	if _, err := c.NameSource(t.Context(), name); err == nil || err.Error() != o.err.Error() {
		t.Errorf("NameSource = %v, want %v", err, o.err)
	}
	if err := c.ForgetSource(t.Context(), name); err == nil || err.Error() != o.err.Error() {
		t.Errorf("ForgetSource = %v, want %v", err, o.err)
	}
}

// What is named is a tracker by its URL, a node or a site without one, and nothing else.
func TestReadSource(t *testing.T) {
	key := "?key=ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
	for text, want := range map[string]string{
		" http://tracker.example.net:7788/\n": "tracker http://tracker.example.net:7788/",
		"https://[2001:db8::1]/t":             "tracker https://[2001:db8::1]/t",
		"node.example.net:7790":               "node.example.net:7790",
		"192.0.2.7:7790":                      "192.0.2.7:7790",
		"Example.org":                         "example.org",
		"":                                    "", "feedex://192.0.2.7:7790/" + key: "", "ftp://example.net/": "",
		"http://": "", "http://a b/": "", "javascript:alert(1)": "", "a\nb": "", "http://a/\nhttp://b/": "",
		"http://example.net/" + strings.Repeat("a", feed.MaxURLBytes): "", "192.0.2.7:0": "",
		"http://x:y@t.example/": "", "x@y.example:1": "", "http://example.net:99999/": "", "http://example.net:0/": "",
	} {
		got, tracker, err := ReadSource(text)
		if tracker {
			got = "tracker " + got
		}
		if got != want || (err == nil) != (want != "") || err != nil && !errors.As(err, new(BadRequest)) ||
			strings.Contains(fmt.Sprint(err), "x:y") {
			t.Errorf("%.60q is %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestUseDHTOverTheSocket(t *testing.T) {
	o := &fakeOwner{}
	c := serve(t, o)
	for _, on := range []bool{true, false} {
		if err := c.UseDHT(t.Context(), on); err != nil || o.dht[len(o.dht)-1] != on {
			t.Errorf("UseDHT(%t): %v, asked for %v", on, err, o.dht)
		}
	}
	o.err = BadRequest{errors.New("the settings say so")}
	if err := c.UseDHT(t.Context(), true); err == nil || err.Error() != o.err.Error() {
		t.Errorf("UseDHT = %v, want %v", err, o.err)
	}
}

func TestPullOverTheSocket(t *testing.T) {
	o := &fakeOwner{pulled: PullReport{
		Stored: []string{"a"}, Missing: []string{"b"},
		Refused: []RefusedFetch{{Holder: peer(), Lied: true, Why: "why"}},
	}}
	c := serve(t, o)
	r := Remote{ID: "a", Digest: "b", Feed: exampleFeed, Title: "not needed",
		Holders: []protocol.NodeID{peer()}}
	got, err := c.Pull(t.Context(), []Remote{r})
	r.Title = ""
	if err != nil || !reflect.DeepEqual(got, o.pulled) || !reflect.DeepEqual(o.wanted, []Remote{r}) {
		t.Errorf("got %+v, %v; asked for %+v", got, err, o.wanted)
	}
	o.err = node.ErrNeverNetwork
	if _, err := c.Pull(t.Context(), []Remote{r}); err == nil || err.Error() != o.err.Error() {
		t.Errorf("Pull = %v, want %v", err, o.err)
	}
}

func TestFollowAddressOverTheSocket(t *testing.T) {
	yes, policy := true, "fixed:1h"
	want := FollowAddress{Subscribe: node.Subscribe{Feeds: []feed.URL{"https://two.example/"}, Weight: 3,
		Discreet: &yes, Private: &yes, Policy: &policy, Backlog: 7}, Wait: time.Second, Keep: true, Anyway: true}
	o := &fakeOwner{followed: FollowedAddress{Page: "https://two.example/",
		Choices: []discover.SiteFeed{{URL: "https://two.example/a", Title: "A", Type: "b"}}}}
	c := serve(t, o)
	if got, err := c.FollowAddress(t.Context(), want); err != nil || !reflect.DeepEqual(got, o.followed) ||
		!reflect.DeepEqual(o.wish, want) {
		t.Errorf("settled as %+v, %v, for %+v", got, err, o.wish)
	}
	o.err = errors.New("disk is full")
	if _, err := c.FollowAddress(t.Context(), want); err == nil || err.Error() != o.err.Error() {
		t.Errorf("an error comes as %v", err)
	}
	if _, err := c.FollowAddress(t.Context(),
		FollowAddress{Subscribe: node.Subscribe{Feeds: []feed.URL{"x"}}}); err == nil {
		t.Error("what is no URL is followed")
	}
}

func TestClientMaintains(t *testing.T) {
	o := new(fakeOwner)
	c := serve(t, o)
	lines := archivetest.PastLines(exampleFeed, 3)
	lines[1].Title = "<b>\u2028"
	r := lines[1].Record()
	lines[1] = jsonl.NewLine(&r, true)
	for i := range lines { // as their receiver does
		if err := lines[i].Check(); err != nil {
			t.Fatal(err)
		}
	}
	if added, err := c.Import(t.Context(), lines); err != nil || added != 3 || !reflect.DeepEqual(o.imported, lines) {
		t.Errorf("Import = %d, %v; the owner got %+v, want %+v", added, err, o.imported, lines)
	}
	forged := archivetest.PastLines(exampleFeed, 2)
	forged[1].Title = "forged"
	if added, err := c.Import(t.Context(), forged); err == nil || added != 0 || len(o.imported) != 3 {
		t.Errorf("Import of a forged line = %d, %v", added, err)
	}
	if err := c.Vacuum(t.Context()); err != nil || !o.vacuumed {
		t.Errorf("Vacuum: %v", err)
	}
	o.err = errors.New("disk is full")
	if err := c.Vacuum(t.Context()); err == nil || err.Error() != "disk is full" {
		t.Errorf("Vacuum that fails: %v", err)
	}
	if _, err := c.Import(t.Context(), lines); err == nil || err.Error() != "disk is full" {
		t.Errorf("Import that fails: %v", err)
	}
}

func TestRecommendOverTheSocket(t *testing.T) {
	o := &fakeOwner{suggested: []Recommendation{{
		Suggestion: recommend.Suggestion{Feed: "https://example.com/", Followers: 2, Of: 3, Shared: 4},
		Title:      "Example", Number: 5}}}
	c := serve(t, o)
	if got, err := c.Recommend(t.Context()); err != nil || !slices.Equal(got, o.suggested) {
		t.Errorf("suggested are %v, %v", got, err)
	}
	if err := c.Decline(t.Context(), "https://example.com/"); err != nil || len(o.declined) != 1 {
		t.Errorf("declined are %v, %v", o.declined, err)
	}
	if err := c.Decline(t.Context(), "nonsense"); err == nil || len(o.declined) != 1 {
		t.Errorf("what is no feed was declined, %v", err)
	}
}
