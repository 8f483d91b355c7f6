package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/control"
	"feedex/discover"
	"feedex/feed"
	"feedex/internal/sleep"
	"feedex/node"
	"feedex/opml"
	"feedex/reader"
	"feedex/reading"
)

// A fakeOwner answers from its fields and remembers what it was asked.
type fakeOwner struct {
	control.Owner
	feeds    []node.FeedStatus
	report   control.Report
	arranged []reading.Arrangement
	err      error
}

func (o *fakeOwner) Status(context.Context) (control.Report, error)   { return o.report, o.err }
func (o *fakeOwner) Feeds(context.Context) ([]node.FeedStatus, error) { return o.feeds, o.err }
func (o *fakeOwner) Numbered(_ context.Context, number int64) (feed.URL, error) {
	return map[int64]feed.URL{7: "https://example.com/seven", 9: "https://example.com/?token=hunter2hunter2"}[number],
		o.err
}
func (o *fakeOwner) Arrange(_ context.Context, list []reading.Arrangement) error {
	o.arranged = append(o.arranged, list...)
	return o.err
}
func (o *fakeOwner) FollowList(ctx context.Context, _ node.Subscribe,
	list []reading.Arrangement) ([]control.NoFolder, error) {
	return nil, o.Arrange(ctx, list)
}

// A followingOwner follows what it is told to, in so many requests, and then fails.
type followingOwner struct {
	fakeOwner
	followed []feed.URL
	requests int
	failAt   int // the request that fails, 0 for none
}

func (o *followingOwner) Subscribe(_ context.Context, s node.Subscribe) error {
	if o.requests++; o.requests == o.failAt {
		return errDiskFull
	}
	o.followed = append(o.followed, s.Feeds...)
	return nil
}

func (o *followingOwner) FollowList(ctx context.Context, s node.Subscribe,
	list []reading.Arrangement) ([]control.NoFolder, error) {
	if len(s.Feeds) > 0 {
		if err := o.Subscribe(ctx, s); err != nil {
			return nil, err
		}
	}
	return nil, o.Arrange(ctx, list)
}

var errDiskFull = errors.New("disk is full")

// serve serves o on a socket in a new data directory and returns a client.
func serve(t *testing.T, o control.Owner) *control.Client {
	t.Helper()
	data := t.TempDir()
	if _, err := control.SocketPath(data); err != nil {
		t.Skipf("the name of the folder for temporary files is too long for a Unix socket, set TMPDIR: %v", err)
	}
	l, err := control.Listen(data)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(control.NewHandler(o))
	srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	t.Cleanup(srv.Close)
	c, err := control.Dial(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// numbered is a list of n feeds, each in a line of its own.
func numbered(n int) (list []opml.Outline, urls []feed.URL) {
	for i := range n {
		u := feed.URL(fmt.Sprintf("https://example.com/%d", i))
		list, urls = append(list, opml.Outline{URL: u, Line: i + 1}), append(urls, u)
	}
	return list, urls
}

// A list is followed in a few requests, each feed once, also over the socket.
func TestFollow(t *testing.T) {
	list, urls := numbered(250)
	twice := opml.Outline{URL: urls[7], Line: 251}
	list = append(list, twice)
	want := Followed{New: slices.Concat(urls[:3], urls[4:]), Duplicates: []Duplicate{{list[3], 0}, {twice, 8}}}
	for name, over := range map[string]func(*followingOwner) control.Owner{
		"by itself":       func(o *followingOwner) control.Owner { return o },
		"over the socket": func(o *followingOwner) control.Owner { return serve(t, o) },
	} {
		o := &followingOwner{fakeOwner: fakeOwner{feeds: []node.FeedStatus{{URL: urls[3]}}}}
		var steps []int
		got, err := Follow(t.Context(), over(o), list, archive.UsualBacklog, func(done, total int) {
			if total != 249 {
				t.Errorf("%s: %d of %d", name, done, total)
			}
			steps = append(steps, done)
		})
		if err != nil || !reflect.DeepEqual(got, want) || !slices.Equal(steps, []int{50, 100, 150, 200, 249}) ||
			o.requests != 5 {
			t.Errorf("%s: %+v, %v, in %d requests, by steps %v", name, got, err, o.requests, steps)
		}
		if !slices.Equal(o.followed, slices.Delete(slices.Clone(urls), 3, 4)) {
			t.Errorf("%s: followed %v", name, o.followed)
		}
	}
}

// One request over the socket bears a hundred URLs of the greatest length.
func TestFollowLongURLs(t *testing.T) {
	o := &followingOwner{}
	c := serve(t, o)
	var urls []feed.URL
	for i := range 2*control.ListStep + 1 {
		urls = append(urls, feed.URL(fmt.Sprintf("https://example.com/%0*d",
			feed.MaxURLBytes-len("https://example.com/"), i)))
	}
	if err := c.Subscribe(t.Context(), node.Subscribe{Feeds: urls}); err != nil || o.requests != 2 ||
		!slices.Equal(o.followed, urls) {
		t.Errorf("%v, %d feeds in %d requests", err, len(o.followed), o.requests)
	}
}

func TestFollowBrokenOff(t *testing.T) {
	list, _ := numbered(250)
	o := &followingOwner{failAt: 3}
	got, err := Follow(t.Context(), o, list, archive.UsualBacklog, func(int, int) {})
	if !errors.Is(err, errDiskFull) || len(got.New) != 100 {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = Follow(t.Context(), &fakeOwner{err: errDiskFull}, list, archive.UsualBacklog, nil)
	if !errors.Is(err, errDiskFull) || len(got.New) != 0 {
		t.Errorf("feeds are not known: %+v, %v", got, err)
	}
}

// An owner who exports from a reader that reads through the node has addresses at the node, which it would ask itself
// for.
func TestFollowFeedsBehindTheNode(t *testing.T) {
	const secret feed.URL = "https://example.com/?token=hunter2hunter2" // which a number alone does not open
	key := reader.ChannelKey(secret)
	for raw, want := range map[feed.URL]feed.URL{
		feed.URL("http://localhost:7791/feeds/9-" + key + ".atom"): secret,
		"http://localhost:7791/feeds/9.atom":                       "http://localhost:7791/feeds/9.atom",
		"http://localhost:7791/feeds/9-0123abcd.atom":              "http://localhost:7791/feeds/9-0123abcd.atom",
		"http://[::1]:7791/feed/https://a.example/?b=:7791/feed/":  "https://a.example/?b=:7791/feed/",
		"http://localhost:7791/feed/http://example.com":            "http://example.com/",
		"http://localhost:7791/feeds/7.rss":                        "https://example.com/seven",
		"http://192.168.1.5:7791/feed/https:/example.com/folded":   "https://example.com/folded",
		"https://news.example.org/feed/https://example.com/behind": "https://example.com/behind",
		"https://NEWS.example.org:8443/feeds/7.rss":                "https://example.com/seven",
		"https://example.org/feed/https://a.example/":              "https://example.org/feed/https://a.example/",
		"http://ann:7791/feed/https://example.com/x":               "https://example.com/x",
		"http://a:b@b.example:7791/feed/http://a.example/":         "http://a:b@b.example:7791/feed/http://a.example/",
		"http://127.0.0.1:7791/feeds/7-0123abcd.json":              "https://example.com/seven",
		"http://localhost:7791/feeds/8.atom":                       "http://localhost:7791/feeds/8.atom",
		"http://localhost:7791/feeds/7":                            "http://localhost:7791/feeds/7",
		"http://localhost:8080/feeds/7.rss":                        "http://localhost:8080/feeds/7.rss",
		"http://localhost:7791/feed/x":                             "http://localhost:7791/feed/x",
		"http://localhost:8080/feed/http://a.example/":             "http://localhost:8080/feed/http://a.example/",
		"http://localhost/x:7791/feed/http://a.example/":           "http://localhost/x:7791/feed/http://a.example/",
		"http://example.org:7791/feed/http://a.example/":           "http://example.org:7791/feed/http://a.example/",
	} {
		o := &followingOwner{fakeOwner: fakeOwner{report: control.Report{Reader: "127.0.0.1:7791",
			ReaderHosts: []string{"news.example.org"}}}}
		_, err := Follow(t.Context(), serve(t, o), []opml.Outline{{URL: raw, Line: 1}}, archive.UsualBacklog,
			func(int, int) {})
		if err != nil || !slices.Equal(o.followed, []feed.URL{want}) {
			t.Errorf("%s: followed %v, %v; want %s", raw, o.followed, err, want)
		}
	}
}

// What a node makes of several feeds is no feed to follow for it, whichever way it is named: who follows that has every
// entry once more.
func TestFollowOfWhatTheNodeMakes(t *testing.T) {
	const host = "news.example.org"
	var made []feed.URL
	for _, path := range []string{"all.atom", "all.rss", "all.json?x", "filter/Storms%20now.atom",
		"filter/a.json?key=b"} {
		made = append(made, feed.URL("http://"+host+"/"+path))
	}
	ctx := t.Context()
	l := newLibrary(t)
	l.host.config.ReaderHosts = []string{host}
	for _, u := range made {
		if err := l.host.Subscribe(ctx, following(u)); !errors.Is(err, errMadeHere) {
			t.Errorf("%s: told to follow it: %v", u, err)
		}
		if s, err := l.host.FollowAddress(ctx, control.FollowAddress{Subscribe: following(u)}); err != nil ||
			s.Feed != "" || s.Problem != errMadeHere.Error() {
			t.Errorf("%s: followed as %+v, %v", u, s, err)
		}
		if _, err := l.Subscribe(ctx, u); !errors.Is(err, reading.ErrNoFeed) {
			t.Errorf("%s: a program follows it: %v", u, err)
		}
		if _, err := l.Discover(ctx, u); !errors.Is(err, reading.ErrNoFeed) {
			t.Errorf("%s: a program finds it: %v", u, err)
		}
		o := &followingOwner{fakeOwner: fakeOwner{report: control.Report{ReaderHosts: []string{host}}}}
		got, err := Follow(ctx, o, []opml.Outline{{URL: u, Line: 1}}, archive.UsualBacklog, func(int, int) {})
		filter := strings.Contains(string(u), "/filter/")
		if err != nil || len(o.followed) > 0 || len(got.New) > 0 || (len(got.Duplicates) == 0) != filter ||
			!filter && !strings.Contains(got.Duplicates[0].Reason(), errMadeHere.Error()) {
			t.Errorf("%s: of a list: %+v, %v", u, got, err)
		}
	}
	// In a list of several it is left out, as one that the config file has.
	f := startFeed(t, "news")
	n := startNode(t, Config{ReaderHosts: []string{host}, Subscribe: append(made, f.url)})
	n.waitArrival(f.url)
	if feeds, err := n.client.Feeds(ctx); err != nil || len(feeds) != 1 || feeds[0].URL != f.url {
		t.Errorf("a node follows %+v, %v", feeds, err)
	}
	_, port, _ := net.SplitHostPort(l.host.at.Reader)
	for _, u := range []feed.URL{"http://" + host + "/all.xml", "http://" + host + "/blog/all.atom",
		"http://elsewhere.example/all.atom", feed.URL("http://192.168.1.7:" + port + "/all.atom")} {
		if err := l.host.Subscribe(ctx, following(u)); err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
}

// A list that names a page in whose place a feed is followed names nothing new.
func TestFollowPageAgain(t *testing.T) {
	o := &followingOwner{fakeOwner: fakeOwner{feeds: []node.FeedStatus{{URL: "https://site.example/atom.xml",
		Page: "https://site.example/"}}}}
	got, err := Follow(t.Context(), o, []opml.Outline{{URL: "https://site.example/", Line: 1, Folder: []string{"A"}}},
		archive.UsualBacklog, func(int, int) {})
	if err != nil || len(got.New) != 0 || len(got.Duplicates) != 1 && len(o.arranged) != 1 || o.requests != 0 {
		t.Errorf("%+v, %v, arranged %+v", got, err, o.arranged)
	}
	if len(o.arranged) != 1 || o.arranged[0].URL != "https://site.example/atom.xml" {
		t.Errorf("arranged %+v", o.arranged)
	}
}

// BenchmarkFollow is the import of a list of 1,000 feeds into a running node, over its control socket.
func BenchmarkFollow(b *testing.B) {
	var document bytes.Buffer
	list, _ := numbered(1000)
	for i := range list {
		list[i].URL = feed.URL(fmt.Sprintf("http://127.0.0.1:9/%d", i)) // nobody is there
	}
	if err := opml.Write(&document, opml.List{Feeds: list}, time.Time{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		ready, ended := make(chan Addresses, 1), make(chan error, 1)
		ctx, cancel := context.WithCancel(b.Context())
		data := b.TempDir()
		go func() {
			ended <- Run(ctx, Config{Data: data, Open: ondisk.Open, Listen: "127.0.0.1:0", Reader: "127.0.0.1:0",
				Node: node.Config{AllowLocal: true}, Ready: func(a Addresses) { ready <- a }})
		}()
		<-ready
		c, err := control.Dial(data)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		l, err := opml.Read(document.Bytes())
		if err != nil {
			b.Fatal(err)
		}
		f, err := Follow(b.Context(), c, l.Feeds, archive.UsualBacklog, func(int, int) {})
		if err != nil || len(f.New) != len(list) {
			b.Fatal(len(f.New), err)
		}
		b.StopTimer()
		c.Close()
		cancel()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// sites are a fetcher: feeds, and web pages that name some.
type sites struct {
	mu    sync.Mutex
	pages map[feed.URL][]feed.URL // what they name
	feeds map[feed.URL]bool
	moved map[feed.URL]feed.URL // to feeds
	slow  time.Duration
	says  func(*node.Fetched) // in place of that, nil for nothing
	asked map[feed.URL]int
}

func newSites() *sites {
	return &sites{
		pages: map[feed.URL][]feed.URL{
			"https://one.example/":  {"https://one.example/a"},
			"https://two.example/":  {"https://two.example/a", "https://two.example/b"},
			"https://none.example/": nil, "https://chain.example/": {"https://none.example/"},
			"https://ann:pw@two.example/": {"https://two.example/a", "https://other.example/b"},
		},
		feeds: map[feed.URL]bool{"https://one.example/a": true, "https://two.example/a": true,
			"https://two.example/b": true, "https://ann:pw@two.example/a": true, "http://plain.example/a": true,
			"https://old.example/a": true},
		moved: map[feed.URL]feed.URL{"http://old.example/a": "https://old.example/a"},
		slow:  time.Millisecond,
		asked: make(map[feed.URL]int),
	}
}

func (s *sites) Fetch(ctx context.Context, f node.Fetch) node.Fetched {
	if err := sleep.For(ctx, s.slow); err != nil {
		return node.Fetched{Feed: f.Feed, Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[f.Feed]++
	got := node.Fetched{Feed: f.Feed, Status: 200, From: f.Feed.Host()}
	names, isPage := s.pages[f.Feed]
	if s.says != nil {
		s.says(&got)
		return got
	}
	switch to := s.moved[f.Feed]; {
	case to != "" && f.New:
		got.Instead, got.Document = to, &feed.Document{Feed: to, Title: "Title of " + string(to)}
	case s.feeds[f.Feed]:
		got.Document = &feed.Document{Feed: f.Feed, Title: "Title of " + string(f.Feed)}
	case isPage:
		var named []discover.SiteFeed
		for _, u := range names {
			named = append(named, discover.SiteFeed{URL: u, Title: string(u)})
		}
		meant, _ := discover.Meant(named)
		got.Names, got.Instead = discover.Text(named), meant.URL
		got.Err = fmt.Errorf("get %s: a web page", f.Feed.Host())
	default:
		got.Status, got.Err = 404, fmt.Errorf("get %s: HTTP 404", f.Feed.Host())
	}
	return got
}

func TestFollowAddress(t *testing.T) {
	const one, two, none, chain, mine feed.URL = "https://one.example/", "https://two.example/",
		"https://none.example/", "https://chain.example/", "https://ann:pw@two.example/"
	named := func(list ...feed.URL) (choices []discover.SiteFeed) {
		for _, u := range list {
			choices = append(choices, discover.SiteFeed{URL: u, Title: string(u)})
		}
		return choices
	}
	for name, test := range map[string]struct {
		at, or   feed.URL
		keep     bool
		anyway   bool
		before   []feed.URL
		want     control.FollowedAddress
		followed []feed.URL
	}{
		"a feed": {at: one + "a",
			want:     control.FollowedAddress{Feed: one + "a", Title: "Title of https://one.example/a", New: true},
			followed: []feed.URL{one + "a"}},
		"what has moved": {at: "http://old.example/a", want: control.FollowedAddress{Feed: "https://old.example/a",
			Title: "Title of https://old.example/a", New: true, Page: "http://old.example/a"},
			followed: []feed.URL{"https://old.example/a"}},
		"what has moved to what is followed": {at: "http://old.example/a", before: []feed.URL{"https://old.example/a"},
			want: control.FollowedAddress{Feed: "https://old.example/a", Title: "Title of https://old.example/a",
				Page: "http://old.example/a"},
			followed: []feed.URL{"https://old.example/a"}},
		"a page": {at: one,
			want: control.FollowedAddress{Feed: one + "a", Title: "Title of https://one.example/a", New: true,
				Page: one},
			followed: []feed.URL{one + "a"}},
		"a page of what is followed": {at: one, before: []feed.URL{one + "a"},
			want:     control.FollowedAddress{Feed: one + "a", Title: "Title of https://one.example/a", Page: one},
			followed: []feed.URL{one + "a"}},
		"a page of several": {at: two, want: control.FollowedAddress{Page: two, Choices: named(two+"a", two+"b")}},
		"which is to wait": {at: two, keep: true,
			want:     control.FollowedAddress{Feed: two, New: true, Page: two, Choices: named(two+"a", two+"b")},
			followed: []feed.URL{two}},
		"which waited before": {at: two, before: []feed.URL{two},
			want:     control.FollowedAddress{Feed: two, Page: two, Choices: named(two+"a", two+"b")},
			followed: []feed.URL{two}},
		"a page of none": {at: none, keep: true,
			want: control.FollowedAddress{Page: none, Problem: "a web page", Unread: true}},
		"a page of none, for which http is not tried": {at: none, or: one + "a",
			want: control.FollowedAddress{Page: none, Problem: "a web page", Unread: true}},
		"a page of none that is wanted anyway": {at: none, anyway: true, followed: []feed.URL{none},
			want: control.FollowedAddress{Feed: none, New: true, Problem: "a web page"}},
		"a page of none that is followed already": {at: none, before: []feed.URL{none}, followed: []feed.URL{none},
			want: control.FollowedAddress{Feed: none, Problem: "a web page"}},
		"a page of a page": {at: chain, keep: true,
			want: control.FollowedAddress{Page: chain,
				Problem: "it names https://none.example/, and there is no feed either"}},
		"what is not there": {at: one + "x", want: control.FollowedAddress{Problem: "HTTP 404", Unread: true}},
		"which is wanted anyway": {at: one + "x", anyway: true, want: control.FollowedAddress{Feed: one + "x",
			New: true, Problem: "HTTP 404"}, followed: []feed.URL{one + "x"}},
		"which is followed already": {at: one + "x", before: []feed.URL{one + "x"},
			want: control.FollowedAddress{Feed: one + "x", Problem: "HTTP 404"}, followed: []feed.URL{one + "x"}},
		"what is there by http alone": {at: "https://plain.example/a", or: "http://plain.example/a",
			want: control.FollowedAddress{Feed: "http://plain.example/a", New: true,
				Title: "Title of http://plain.example/a"},
			followed: []feed.URL{"http://plain.example/a"}},
		"what is nowhere": {at: "https://plain.example/x", or: "http://plain.example/x",
			want: control.FollowedAddress{Problem: "HTTP 404", Unread: true}},
		"a page with a password": {at: mine, want: control.FollowedAddress{Page: mine,
			Choices: []discover.SiteFeed{{URL: mine + "a", Title: "https://two.example/a"},
				{URL: "https://other.example/b", Title: "https://other.example/b"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			runLoop(t, friendly, func(t *testing.T, l *testLoop) {
				l.inspect(func(h *host) { h.fetcher = newSites() })
				for _, u := range test.before {
					if _, err := l.FollowAddress(t.Context(),
						control.FollowAddress{Subscribe: node.Subscribe{Feeds: []feed.URL{u}}, Wait: maxFirstPollWait,
							Keep: true, Anyway: true}); err != nil {
						t.Fatal(err)
					}
				}
				tries := slices.DeleteFunc([]feed.URL{test.at, test.or}, func(u feed.URL) bool { return u == "" })
				got, err := l.FollowAddress(t.Context(),
					control.FollowAddress{Subscribe: node.Subscribe{Feeds: tries}, Wait: maxFirstPollWait,
						Keep: test.keep, Anyway: test.anyway})
				if err != nil || !reflect.DeepEqual(got, test.want) {
					t.Errorf("followed as %+v, %v;\nwant %+v", got, err, test.want)
				}
				var followed []feed.URL
				list, err := l.Feeds(t.Context())
				for _, f := range list {
					followed = append(followed, f.URL)
				}
				if err != nil || !reflect.DeepEqual(followed, test.followed) {
					t.Errorf("follows %q, %v; want %q", followed, err, test.followed)
				}
			})
		})
	}
}

// How the page is to be followed holds for its feed, also where that is followed already.
func TestFollowAddressAsWished(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		s := newSites()
		l.inspect(func(h *host) { h.fetcher = s })
		for _, test := range []struct{ say, want int }{{5, 5}, {0, 5}, {9, 9}, {0, 9}} {
			w := control.FollowAddress{Subscribe: node.Subscribe{Feeds: []feed.URL{"https://one.example/"},
				Weight: test.say},
				Wait: maxFirstPollWait}
			if _, err := l.FollowAddress(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			if list, err := l.Feeds(t.Context()); err != nil || len(list) != 1 || list[0].Weight != test.want {
				t.Errorf("follows %+v, %v; want weight %d", list, err, test.want)
			}
		}
		if s.asked["https://one.example/a"] != 1 {
			t.Errorf("the feed was asked for %d times", s.asked["https://one.example/a"])
		}
	})
}

// Of two who follow a feed at once, one by the page that names it, one has brought it.
func TestFollowAddressAtOnce(t *testing.T) {
	const page, found feed.URL = "https://one.example/", "https://one.example/a"
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		s := newSites()
		s.slow = 5 * time.Second
		l.inspect(func(h *host) { h.fetcher = s })
		follow := func(u feed.URL) control.FollowedAddress {
			got, err := l.FollowAddress(t.Context(), control.FollowAddress{Subscribe: following(u), Wait: time.Minute})
			if err != nil || got.Feed != found {
				t.Errorf("%s: followed as %+v, %v", u, got, err)
			}
			return got
		}
		var both sync.WaitGroup
		both.Go(func() {
			if follow(page).New {
				t.Error("the page brought a feed that was followed before")
			}
		})
		both.Go(func() {
			if sleep.For(t.Context(), time.Second) == nil && !follow(found).New {
				t.Error("the feed was followed before")
			}
		})
		both.Wait()
	})
}

// Many that wait are not looked through for every poll of one.
func TestFirstPollsOfMany(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		l.inspect(func(h *host) { h.fetcher = newSites() })
		_, urls := numbered(3 * manyWaiting)
		if err := l.Subscribe(t.Context(), node.Subscribe{Feeds: urls}); err != nil {
			t.Fatal(err)
		}
		given := slices.Clone(urls)
		var last time.Time
		before, looks := len(urls)+1, 0
		err := l.FirstPolls(t.Context(), urls, func(waiting int) error {
			now := time.Now()
			if before <= len(urls) && before > manyWaiting && now.Sub(last) < lookEvery || waiting > before {
				t.Errorf("%d wait %v after %d did", waiting, now.Sub(last), before)
			}
			last, before = now, waiting
			looks++
			return nil
		})
		if err != nil || before != 0 || looks < 3 || !slices.Equal(urls, given) {
			t.Errorf("ended after %d looks while %d wait, %v", looks, before, err)
		}
	})
}

// An owner who does not wait, or not long enough, hears so; the wish is done all the same.
func TestFollowAddressLater(t *testing.T) {
	const page, found feed.URL = "https://one.example/", "https://one.example/a"
	for _, wait := range []time.Duration{0, time.Second} {
		runLoop(t, friendly, func(t *testing.T, l *testLoop) {
			s := newSites()
			s.slow = 5 * time.Second
			l.inspect(func(h *host) { h.fetcher = s })
			got, err := l.FollowAddress(t.Context(), control.FollowAddress{Subscribe: following(page), Wait: wait})
			if want := (control.FollowedAddress{Feed: page, New: true, Waiting: true}); err != nil ||
				!reflect.DeepEqual(got, want) {
				t.Errorf("followed as %+v, %v", got, err)
			}
			l.pass(time.Minute)
			if list, err := l.Feeds(t.Context()); err != nil || len(list) != 1 || list[0].URL != found {
				t.Errorf("follows %+v, %v", list, err)
			}
		})
	}
}

// A caller that follows an address hears of its first poll when that is made, and at once where it never will be.
func TestFollowAddressIsTold(t *testing.T) {
	const u feed.URL = "https://one.example/a"
	for name, tt := range map[string]struct {
		meanwhile func(t *testing.T, l *testLoop)
		took      time.Duration
		problem   string
	}{
		"a poll": {func(*testing.T, *testLoop) {}, 5 * time.Second, ""},
		"its end": {func(t *testing.T, l *testLoop) {
			if err := l.Unsubscribe(t.Context(), u); err != nil {
				t.Error(err)
			}
		}, time.Second, "is followed no more"},
		"a full disk": {func(_ *testing.T, l *testLoop) {
			l.disk.set(diskState{commit: errDiskFull})
			l.knock()
		}, time.Second, reading.ErrRests.Error()},
	} {
		runLoop(t, friendly, func(t *testing.T, l *testLoop) {
			s := newSites()
			s.slow = 5 * time.Second
			l.inspect(func(h *host) { h.fetcher = s })
			begun := time.Now()
			var meanwhile sync.WaitGroup
			meanwhile.Go(func() {
				if sleep.For(t.Context(), time.Second) == nil {
					tt.meanwhile(t, l)
				}
			})
			got, err := l.FollowAddress(t.Context(), control.FollowAddress{Subscribe: following(u), Wait: time.Minute})
			took := time.Since(begun)
			if meanwhile.Wait(); took != tt.took || (err == nil) != (tt.problem == "") || err == nil &&
				got.Title == "" ||
				err != nil && !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%s: after %v %+v, %v", name, took, got, err)
			}
		})
	}
}

// What was refused is refused at once when it is wanted again, without another request; who wants it anyway hears until
// when it is left alone.
func TestFollowAddressOfWhatRests(t *testing.T) {
	const u feed.URL = "https://one.example/a"
	for name, says := range map[string]func(*node.Fetched){
		"too many":    func(f *node.Fetched) { f.Status, f.RetryAfter = 429, time.Hour },
		"unavailable": func(f *node.Fetched) { f.Status, f.RetryAfter = 503, 20*time.Second },
		"gone":        func(f *node.Fetched) { f.Status = 410 },
	} {
		runLoop(t, friendly, func(t *testing.T, l *testLoop) {
			s := newSites()
			s.says = func(f *node.Fetched) {
				says(f)
				f.Err = errors.New("get one.example: no")
			}
			l.inspect(func(h *host) { h.fetcher = s })
			for i, anyway := range []bool{false, false, true, true} {
				begun := time.Now()
				got, err := l.FollowAddress(t.Context(),
					control.FollowAddress{Subscribe: following(u), Wait: 30 * time.Second, Anyway: anyway})
				if took := time.Since(begun); took > time.Second || s.asked[u] != 1 {
					t.Errorf("%s, time %d: it took %v, in %d requests", name, i+1, took, s.asked[u])
				}
				problem := got.Problem
				got.Problem = ""
				want := control.FollowedAddress{Unread: !anyway}
				if anyway {
					want = control.FollowedAddress{Feed: u, New: i == 2}
				}
				if err != nil || !reflect.DeepEqual(got, want) ||
					(i > 0) != strings.Contains(problem, "left alone until") {
					t.Errorf("%s, time %d: followed as %+v, for %q, %v", name, i+1, got, problem, err)
				}
			}
		})
	}
}

// Where nothing can be stored nothing is followed, and nobody is told otherwise.
func TestFollowAddressWhileNothingIsStored(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		l.inspect(func(h *host) { h.fetcher = newSites() })
		l.disk.set(diskState{commit: errDiskFull})
		if got, err := l.FollowAddress(t.Context(),
			control.FollowAddress{Subscribe: node.Subscribe{Feeds: []feed.URL{"https://one.example/"}},
				Wait: maxFirstPollWait}); err == nil {
			t.Errorf("followed as %+v", got)
		}
	})
}

// A shelfOf says that these feeds are followed, whatever is.
type shelfOf struct {
	reading.Shelf
	list []reading.FollowedFeed
}

func (s shelfOf) Subscriptions(context.Context) ([]reading.FollowedFeed, error) { return s.list, nil }

// Programs of the owner that cannot ask which feed is meant get the first, and hear where there is none.
func TestLibraryFollowsSites(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	s := newSites()
	l.host.fetcher = s
	for at, want := range map[feed.URL]feed.URL{"https://one.example/": "https://one.example/a",
		"https://two.example/": "https://two.example/a", "https://two.example/b": "https://two.example/b"} {
		id, err := l.Subscribe(ctx, at)
		if u, _ := l.FeedOf(ctx, id); err != nil || u != want {
			t.Errorf("%s: follows %q, %v; want %s", at, u, err, want)
		}
	}
	for _, at := range []feed.URL{"https://none.example/", "https://one.example/x"} {
		if _, err := l.Subscribe(ctx, at); !errors.Is(err, reading.ErrNoFeed) {
			t.Errorf("%s: %v", at, err)
		}
	}
	list, err := l.Subscriptions(ctx)
	if err != nil || len(list) != 3 {
		t.Errorf("follows %+v, %v", list, err)
	}
	for at, want := range map[feed.URL]struct {
		n   int
		err error
	}{"https://two.example/": {n: 2}, "https://one.example/a": {n: 1},
		"https://none.example/": {err: reading.ErrNoFeed}, "https://one.example/x": {err: reading.ErrUnread}} {
		got, err := l.Discover(ctx, at)
		if len(got) != want.n || !errors.Is(err, want.err) {
			t.Errorf("discovers %+v at %s, %v", got, at, err)
		}
	}
	if s.asked["https://one.example/a"] != 1 {
		t.Errorf("a feed that is followed was asked for %d times", s.asked["https://one.example/a"])
	}
	// What has moved is known by either address, and asked for once.
	for _, at := range []feed.URL{"http://old.example/a", "https://old.example/a", "http://old.example/a"} {
		got, err := l.Discover(ctx, at)
		if err != nil || len(got) != 1 || got[0].Title != "Title of https://old.example/a" {
			t.Errorf("discovers %+v at %s, %v", got, at, err)
		}
		if id, err := l.Subscribe(ctx, at); err != nil {
			t.Error(err)
		} else if u, err := l.FeedOf(ctx, id); err != nil || u != "https://old.example/a" {
			t.Errorf("%s: follows %q, %v", at, u, err)
		}
	}
	if s.asked["http://old.example/a"] != 1 || s.asked["https://old.example/a"] != 0 {
		t.Errorf("what has moved was asked for: %v", s.asked)
	}
	if err := l.host.Unsubscribe(ctx, "https://old.example/a"); err != nil {
		t.Fatal(err)
	}
	// Who wants polled again what was a moment ago hears from when on it may be, and nothing of what nobody follows.
	before := time.Now()
	r, err := l.Refresh(ctx, list[0].ID, list[1].ID, 99)
	if err != nil || r.Later != 2 || r.Polled+r.Ended != 0 || !r.From.After(before) ||
		r.From.After(before.Add(5*time.Minute)) {
		t.Errorf("refreshed %+v, %v", r, err)
	}
	if r, err := l.Refresh(ctx); err != nil || r != (reading.RefreshResult{}) {
		t.Errorf("none is to be refreshed: %+v, %v", r, err)
	}
	// One that is left in that moment does not keep the others from it.
	if err := l.host.Unsubscribe(ctx, list[2].URL); err != nil {
		t.Fatal(err)
	}
	behind := library{Shelf: shelfOf{l.Shelf, list}, host: l.host, person: l.person}
	if r, err := behind.Refresh(ctx, list[0].ID, list[2].ID); err != nil || r.Later != 1 || r.Polled+r.Ended != 0 {
		t.Errorf("refreshed %+v, %v", r, err)
	}
	// Feeds that were looked at are not asked for again by the first poll.
	s.feeds["https://new.example/"] = true
	if _, err := l.Discover(ctx, "https://new.example/"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Subscribe(ctx, "https://new.example/"); err != nil || s.asked["https://new.example/"] != 1 {
		t.Errorf("%v, asked for %d times", err, s.asked["https://new.example/"])
	}
}
