package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"
	"time"

	"feedex/archive/archivetest/ondisk"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/opml"
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
	if number != 7 {
		return "", o.err
	}
	return "https://example.com/seven", o.err
}
func (o *fakeOwner) Arrange(_ context.Context, list []reading.Arrangement) error {
	o.arranged = append(o.arranged, list...)
	return o.err
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

var errDiskFull = errors.New("disk is full")

// serve serves o on a socket in a new data directory and returns a client.
func serve(t *testing.T, o control.Owner) *control.Client {
	t.Helper()
	data := t.TempDir()
	if _, err := control.SocketPath(data); err != nil {
		t.Skipf("the folder for temporary files has too long a name for a Unix socket: %v", err)
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
func numbered(n int) (list []opml.Feed, urls []feed.URL) {
	for i := range n {
		u := feed.URL(fmt.Sprintf("https://example.com/%d", i))
		list, urls = append(list, opml.Feed{URL: u, Line: i + 1}), append(urls, u)
	}
	return list, urls
}

// A list is followed in a few requests, each feed once, also over the socket.
func TestFollow(t *testing.T) {
	list, urls := numbered(250)
	twice := opml.Feed{URL: urls[7], Line: 251}
	list = append(list, twice)
	want := Followed{New: slices.Concat(urls[:3], urls[4:]), Duplicates: []Duplicate{{list[3], 0}, {twice, 8}}}
	for name, over := range map[string]func(*followingOwner) control.Owner{
		"by itself":       func(o *followingOwner) control.Owner { return o },
		"over the socket": func(o *followingOwner) control.Owner { return serve(t, o) },
	} {
		o := &followingOwner{fakeOwner: fakeOwner{feeds: []node.FeedStatus{{URL: urls[3]}}}}
		var steps []int
		got, err := Follow(t.Context(), over(o), list, func(done, total int) {
			if total != 249 {
				t.Errorf("%s: %d of %d", name, done, total)
			}
			steps = append(steps, done)
		})
		if err != nil || !reflect.DeepEqual(got, want) || !slices.Equal(steps, []int{100, 200, 249}) ||
			o.requests != 3 {
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
	for i := range control.SubscribeStep + 1 {
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
	o := &followingOwner{failAt: 2}
	got, err := Follow(t.Context(), o, list, func(int, int) {})
	if !errors.Is(err, errDiskFull) || len(got.New) != 100 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Follow(t.Context(), &fakeOwner{err: errDiskFull}, list, nil); !errors.Is(err, errDiskFull) ||
		len(got.New) != 0 {
		t.Errorf("feeds are not known: %+v, %v", got, err)
	}
}

// An owner who exports from a reader that reads through the node has addresses at the node, which it would ask itself
// for.
func TestFollowFeedsBehindTheNode(t *testing.T) {
	for raw, want := range map[feed.URL]feed.URL{
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
		_, err := Follow(t.Context(), serve(t, o), []opml.Feed{{URL: raw, Line: 1}}, func(int, int) {})
		if err != nil || !slices.Equal(o.followed, []feed.URL{want}) {
			t.Errorf("%s: followed %v, %v; want %s", raw, o.followed, err, want)
		}
	}
}

// A list that names a page in whose place a feed is followed names nothing new.
func TestFollowPageAgain(t *testing.T) {
	o := &followingOwner{fakeOwner: fakeOwner{feeds: []node.FeedStatus{{URL: "https://site.example/atom.xml",
		Page: "https://site.example/"}}}}
	got, err := Follow(t.Context(), o, []opml.Feed{{URL: "https://site.example/", Line: 1, Folder: []string{"A"}}},
		func(int, int) {})
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
		if f, err := Follow(b.Context(), c, l.Feeds, func(int, int) {}); err != nil || len(f.New) != len(list) {
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
