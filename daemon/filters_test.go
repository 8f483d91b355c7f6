package daemon

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/opml"
	"feedex/reader"
	"feedex/reader/websub/websubtest"
	"feedex/reading"
	"feedex/web"
)

// keep keeps a filter of the owner.
func (n *testNode) keep(t *testing.T, w reading.FilterWish) control.FilterReport {
	t.Helper()
	r, err := n.client.AddFilter(t.Context(), control.FilterRequest{FilterWish: w})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A filter is a feed of what it caught of the past and of what arrives, in each format, in the list of
// feeds, and pushed.
func TestAFilterIsAFeed(t *testing.T) {
	x := websubtest.Start(t)
	f, g := startFeed(t, "An early storm", "A calm"), startFeed(t, "A brain storm", "A late storm", "Another calm")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url},
		PushTo: []string{x.Listener.Addr().String()}})
	n.waitArrival(f.url)
	r := n.keep(t, reading.FilterWish{Name: "Storms & more", Words: "storm NOT brain", Folder: "Weather"})
	if r.Caught != 1 || r.Everything {
		t.Errorf("AddFilter = %+v", r)
	}
	base := "http://" + n.at.Reader
	want := func(path string, has ...string) {
		t.Helper()
		code, text := get(t, base+path)
		for _, s := range has {
			plain, lacks := strings.CutPrefix(s, "!")
			if strings.Contains(text, plain) == lacks || code != http.StatusOK {
				t.Errorf("%s: %d, %q: %s", path, code, s, text)
			}
		}
	}
	want("/filter/Storms%20&%20more.atom", "An early storm", "<title>Storms &amp; more</title>", "!A calm")
	want("/filter/Storms%20%26%20more.rss", "An early storm", "!A calm")
	want("/filter/Storms%20&%20more.json", "An early storm", "!A calm")
	want("/opml?via=node", base+"/filter/Storms%20&amp;%20more.atom", `text="Weather"`)
	want("/opml", "!Storms")
	if code, _ := get(t, base+"/filter/Calms.atom"); code != http.StatusNotFound {
		t.Errorf("a filter that is not there: %d", code)
	}
	x.Subscribe(t, base+"/filter/Storms%20&%20more.json")
	if err := n.client.Subscribe(t.Context(), following(g.url)); err != nil {
		t.Fatal(err)
	}
	n.waitArrival(g.url)
	want("/filter/Storms%20&%20more.atom", "An early storm", "A late storm", "!brain", "!calm")
	for text := ""; !strings.Contains(text, "A late storm"); {
		select {
		case p := <-x.Pushed:
			text = p.Text
		case <-t.Context().Done():
			t.Fatal("nothing was pushed")
		}
		if strings.Contains(text, "An early storm") || strings.Contains(text, "brain") {
			t.Errorf("pushed was %s", text)
		}
	}
}

// A filter is its person's: their name finds it by their password alone, and nobody's finds another's.
func TestFiltersAreAPersons(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	s := httptest.NewServer(reader.New(reader.Config{Source: ownersArchive{h.store, h.Shelf}, Entrance: h.door,
		Filters: h.store}))
	defer s.Close()
	h.base = s.URL
	wish := reading.FilterWish{Name: "Mine", Words: "NOT nothing"}
	if _, err := h.host.AddFilter(ctx, control.FilterRequest{Person: "Ann", FilterWish: wish}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"ann": http.StatusOK, "phone": http.StatusNotFound,
		"": http.StatusUnauthorized} {
		if code, text := h.ask("GET", "/filter/Mine.atom", basic(name, h.secrets[name]), ""); code != want {
			t.Errorf("%q: %d, %s", name, code, text)
		}
	}
	for _, err := range []error{
		h.ann.Arrange(ctx, reading.Arrangement{Feed: h.feed, Into: []string{"Mine"}}),
		func() error { _, err := h.ann.AddFolder(ctx, "Mine"); return err }(),
	} {
		if !errors.Is(err, reading.ErrFilterName) {
			t.Errorf("a folder of a filter's name: %v", err)
		}
	}
	if _, err := h.AddFolder(ctx, "Mine"); err != nil {
		t.Errorf("a folder of the name of another's filter: %v", err)
	}
	for _, r := range []control.FilterRemoval{{Name: "Mine"}, {Name: "Mine", TakeBack: true}} {
		if _, err := h.host.RemoveFilter(ctx, r); !errors.Is(err, reading.ErrNoFilter) {
			t.Errorf("another's filter is removed: %v", err)
		}
	}
	for _, c := range []struct {
		wish reading.FilterWish
		want error
	}{
		{reading.FilterWish{Name: "Mine", Words: "storm"}, reading.ErrFilterName},
		{reading.FilterWish{Name: "a\nb", Words: "storm ("}, reading.ErrWords},
		{reading.FilterWish{Name: "", Words: "storm"}, reading.ErrName},
		{reading.FilterWish{Name: strings.Repeat("x", 200), Words: "storm"}, reading.ErrName},
		{reading.FilterWish{Name: "a", Words: "***"}, reading.ErrWords},
		{reading.FilterWish{Name: "a", Words: strings.Repeat("storm ", 10_000)}, reading.ErrWords},
		{reading.FilterWish{Name: "a", Words: "storm", Rule: "shout"}, reading.ErrRule},
	} {
		_, err := h.host.AddFilter(ctx, control.FilterRequest{Person: "Ann", FilterWish: c.wish})
		if !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.wish, err, c.want)
		}
	}
	was, err := h.ann.Filters(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.host.RemoveFilter(ctx, control.FilterRemoval{Person: "Ann", Name: "Mine"}); err != nil {
		t.Error(err)
	}
	byKey := "/filter/Mine.atom?key=" + was[0].Key
	if code, text := h.ask("GET", byKey, basic("ann", h.secrets["ann"]), ""); code == http.StatusOK {
		t.Errorf("of a filter that was removed: %d, %s", code, text)
	}
	if err := h.host.filing.keepAgain(ctx, h.ann.person, was[0].ID, 0); err != nil {
		t.Error(err)
	}
	if code, text := h.ask("GET", byKey, basic("ann", h.secrets["ann"]), ""); code != http.StatusOK {
		t.Errorf("of a filter that is kept again: %d, %s", code, text)
	}
}

// By a filter's key whoever has it reads the filter's feed, but its person alone what is of feeds whose URL is a
// secret.
func TestAFiltersKeyShowsNobodyElseWhatIsSecret(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	s := httptest.NewServer(reader.New(reader.Config{Source: ownersArchive{h.store, h.Shelf}, Entrance: h.door,
		Known: func(*http.Request) bool { return true }, Filters: h.store}))
	defer s.Close()
	h.base = s.URL
	secret := feed.URL("https://ann:pw@example.com/feed")
	if err := h.ann.Import(ctx, []opml.Outline{{URL: secret}}); err != nil {
		t.Fatal(err)
	}
	wish := reading.FilterWish{Name: "Mine", Words: "NOT nothing"}
	if _, err := h.host.AddFilter(ctx, control.FilterRequest{Person: "Ann", FilterWish: wish}); err != nil {
		t.Fatal(err)
	}
	list, err := h.ann.Filters(ctx)
	if err != nil || len(list) != 1 {
		t.Fatalf("filters %+v, %v", list, err)
	}
	for _, u := range []feed.URL{exampleFeed, secret} {
		h.arrive(u, 7)
	}
	for _, c := range []struct {
		name, authorization string
		public, secret      int
	}{
		{"its person", basic("ann", h.secrets["ann"]), 7, 7},
		{"another", basic("phone", h.secrets["phone"]), 7, 0},
		{"nobody", "", 7, 0},
	} {
		code, text := h.ask("GET", "/filter/Mine.atom?key="+list[0].Key, c.authorization, "")
		public, hidden := strings.Count(text, "<id>"+string(exampleFeed)), strings.Count(text, "<id>"+string(secret))
		if code != http.StatusOK || public != c.public || hidden != c.secret {
			t.Errorf("%s: %d, %d entries and %d of the secret feed", c.name, code, public, hidden)
		}
	}
	for _, c := range []struct {
		name, authorization string
		code                int
	}{
		{"its person", basic("ann", h.secrets["ann"]), http.StatusOK},
		{"another", basic("phone", h.secrets["phone"]), http.StatusNotFound},
		{"a wrong password", basic("ann", h.secrets["phone"]), http.StatusUnauthorized},
		{"nobody", "", http.StatusNotFound},
	} {
		if code, text := h.ask("GET", "/filter/Mine.atom", c.authorization, ""); code != c.code {
			t.Errorf("%s, by its name: %d, %s", c.name, code, text)
		}
	}
}

// A filter that is removed comes back with what its rule did and what came meanwhile, until it is erased. Until then
// what its rule did is taken back by its name as well, whoever's it is.
func TestARemovedFilterComesBack(t *testing.T) {
	h := newHousehold(t)
	ctx := t.Context()
	source := dashboard{library: h.library, host: h.host}
	all := reading.FilterWish{Name: "All", Words: "NOT nothing", Rule: reading.RuleStar}
	for _, person := range []string{"", "Ann"} {
		if _, err := h.host.AddFilter(ctx, control.FilterRequest{Person: person, FilterWish: all}); err != nil {
			t.Fatal(err)
		}
	}
	h.arrive(exampleFeed, 7) // one more
	now := time.Now()
	want := func(caught, acted int) reading.FilterID {
		t.Helper()
		list, err := h.CountedFilters(ctx)
		if err != nil || len(list) != 1 || list[0].Caught != caught || list[0].Acted != acted {
			t.Fatalf("filters %+v (%v), want one that has caught %d and acted on %d", list, err, caught, acted)
		}
		return list[0].ID
	}
	id := want(7, 1)
	if err := source.RemoveFilter(ctx, id); err != nil {
		t.Fatal(err)
	}
	h.arrive(exampleFeed, 8)
	err := h.host.eraseHidden(ctx, now.Add(web.UndoTime))
	if err := errors.Join(err, source.KeepFilterAgain(ctx, id, 0)); err != nil {
		t.Fatal(err)
	}
	want(8, 1)

	takeBack := func(person string) {
		t.Helper()
		r := control.FilterRemoval{Person: person, Name: "All", TakeBack: true}
		if rule, err := h.host.RemoveFilter(ctx, r); err != nil || rule != reading.RuleStar {
			t.Errorf("RemoveFilter = %q, %v", rule, err)
		}
	}
	if before := h.state(h.ann); !strings.Contains(before, " 2 starred") {
		t.Fatalf("Ann's rule has done %s", before)
	}
	takeBack("Ann")
	if err := source.RemoveFilter(ctx, id); err != nil {
		t.Fatal(err)
	}
	takeBack("")
	for _, l := range []*library{h.ann, h.library} {
		if got := h.state(l); !strings.Contains(got, " 0 starred") {
			t.Errorf("taken back is all but %s", got)
		}
	}
	if err := h.host.eraseHidden(ctx, now.Add(web.UndoTime+2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := source.KeepFilterAgain(ctx, id, 0); !errors.Is(err, reading.ErrNoFilter) {
		t.Errorf("after it was erased: %v", err)
	}
	r := control.FilterRemoval{Name: "All", TakeBack: true}
	if _, err := h.host.RemoveFilter(ctx, r); !errors.Is(err, reading.ErrNoFilter) {
		t.Errorf("after it was erased what its rule did is taken back: %v", err)
	}
}

// A tap is a listener that keeps all bytes of its connections, in both directions.
type tap struct {
	net.Listener
	heard *tapped
}

type tapped struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (h *tapped) add(b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes.Write(b)
}

func (h *tapped) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bytes.String()
}

func (l tap) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return tappedConn{c, l.heard}, err
}

type tappedConn struct {
	net.Conn
	heard *tapped
}

func (c tappedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	copy(b, legible(b[:n]))
	c.heard.add(b[:n])
	return n, err
}

func (c tappedConn) Write(b []byte) (int, error) {
	b = legible(b)
	c.heard.add(b)
	return c.Conn.Write(b)
}

// legible is what goes over a connection, but that neither side takes gzip, in which nobody could find a word.
func legible(b []byte) []byte {
	return bytes.ReplaceAll(b, []byte("Accept-Encoding: gzip"), []byte("Accept-Encoding: none"))
}

// Nothing of a filter, its name, its folder or its words, is in anything that a neighbor or a tracker is sent.
func TestFiltersStay(t *testing.T) {
	heard := new(tapped)
	tracker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		heard.add(append([]byte(r.URL.String()), text...))
		http.Error(w, "not now", http.StatusServiceUnavailable)
	}))
	defer tracker.Close()
	listen := func(ln net.Listener) net.Listener { return tap{ln, heard} }
	f, g := startFeed(t, "Dawn"), startFeed(t, "Sundown", "Moonrise")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}, metered: listen, standingPause: time.Millisecond,
		Node: node.Config{MinNeighbors: 1, Trackers: []string{tracker.URL}}})
	n.waitArrival(f.url)
	n.keep(t, reading.FilterWish{Name: "Zwieback", Words: "sundown NOT quetzal", Folder: "Ypsilon",
		Rule: reading.RuleStar})
	other := startNode(t, Config{Subscribe: []feed.URL{f.url, g.url}, metered: listen,
		Node: node.Config{MinNeighbors: 1, Peers: []string{n.at.Listen}}})
	for linked := false; !linked; breathe() {
		list, err := other.client.Neighbors(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		linked = len(list) > 0
	}
	other.waitArrival(g.url)
	if err := n.client.Subscribe(t.Context(), following(g.url)); err != nil {
		t.Fatal(err)
	}
	n.waitArrival(g.url)
	code, text := get(t, "http://"+n.at.Reader+"/filter/Zwieback.atom")
	if code != http.StatusOK || !strings.Contains(text, "Sundown") {
		t.Errorf("the filter has caught nothing: %s", text)
	}
	n.keep(t, reading.FilterWish{Name: "Zebra", Words: "moonrise OR quetzal"})
	said := heard.String()
	for end := time.Now().Add(patience); !strings.Contains(said, "Moonrise"); breathe() {
		if said = heard.String(); time.Now().After(end) {
			t.Fatal("nothing was heard") // or it cannot be read
		}
	}
	for _, word := range []string{"wieback", "uetzal", "psilon", "ebra"} {
		if strings.Contains(said, word) {
			t.Errorf("%q was told", word)
		}
	}

	// The words of the one that the owner has neighbors asked for are told, and nothing else.
	if err := n.client.StandFilter(t.Context(), control.FilterStanding{Name: "Zebra", Standing: true}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); !strings.Contains(heard.String(), "uetzal"); breathe() {
		if time.Now().After(end) {
			t.Fatal("the words of a standing query are not told") // or they cannot be read
		}
	}
	said = heard.String()
	for _, word := range []string{"wieback", "undown NOT", "psilon", "ebra"} {
		if strings.Contains(said, word) {
			t.Errorf("%q was told", word)
		}
	}
}
