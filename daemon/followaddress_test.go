package daemon

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"feedex/control"
	"feedex/discover"
	"feedex/feed"
	"feedex/node"
	"feedex/reading"
)

// sites are a fetcher: feeds, and web pages that name some.
type sites struct {
	mu    sync.Mutex
	pages map[feed.URL][]feed.URL // what they name
	feeds map[feed.URL]bool
	slow  time.Duration
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
			"https://two.example/b": true, "https://ann:pw@two.example/a": true},
		slow:  time.Millisecond,
		asked: make(map[feed.URL]int),
	}
}

func (s *sites) Fetch(ctx context.Context, f node.Fetch) node.Fetched {
	if err := rest(ctx, s.slow); err != nil {
		return node.Fetched{Feed: f.Feed, Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[f.Feed]++
	got := node.Fetched{Feed: f.Feed, Status: 200, From: f.Feed.Host()}
	names, isPage := s.pages[f.Feed]
	switch {
	case s.feeds[f.Feed]:
		got.Document = &feed.Document{Feed: f.Feed, Title: "Title of " + string(f.Feed)}
	case isPage:
		got.WebPage, got.Err = true, fmt.Errorf("get %s: a web page", f.Feed.Host())
		for _, u := range names {
			got.Named = append(got.Named, discover.Feed{URL: u, Title: string(u)})
		}
	default:
		got.Status, got.Err = 404, fmt.Errorf("get %s: HTTP 404", f.Feed.Host())
	}
	return got
}

func TestFollowAddress(t *testing.T) {
	const one, two, none, chain, mine feed.URL = "https://one.example/", "https://two.example/",
		"https://none.example/", "https://chain.example/", "https://ann:pw@two.example/"
	named := func(list ...feed.URL) (choices []discover.Feed) {
		for _, u := range list {
			choices = append(choices, discover.Feed{URL: u, Title: string(u)})
		}
		return choices
	}
	for name, test := range map[string]struct {
		at       feed.URL
		keep     bool
		before   []feed.URL
		want     control.FollowedAddress
		followed []feed.URL
	}{
		"a feed": {at: one + "a",
			want:     control.FollowedAddress{Feed: one + "a", Title: "Title of https://one.example/a", New: true},
			followed: []feed.URL{one + "a"}},
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
		"a page of none": {at: none, keep: true, want: control.FollowedAddress{Page: none, Problem: "a web page"}},
		"a page of a page": {at: chain, keep: true,
			want: control.FollowedAddress{Page: chain,
				Problem: "it names https://none.example/, and there is no feed either"}},
		"what is not there": {at: one + "x", want: control.FollowedAddress{Feed: one + "x", New: true,
			Problem: "HTTP 404"}, followed: []feed.URL{one + "x"}},
		"a page with a password": {at: mine, want: control.FollowedAddress{Page: mine,
			Choices: []discover.Feed{{URL: mine + "a", Title: "https://two.example/a"},
				{URL: "https://other.example/b", Title: "https://other.example/b"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			runLoop(t, friendly, func(t *testing.T, l *testLoop) {
				l.inspect(func(h *host) { h.fetcher = newSites() })
				for _, u := range test.before {
					if _, err := l.FollowAddress(t.Context(),
						control.FollowAddress{Subscribe: node.Subscribe{Feeds: []feed.URL{u}}, Wait: maxFirstPollWait,
							Keep: true}); err != nil {
						t.Fatal(err)
					}
				}
				got, err := l.FollowAddress(t.Context(),
					control.FollowAddress{Subscribe: node.Subscribe{Feeds: []feed.URL{test.at}}, Wait: maxFirstPollWait,
						Keep: test.keep})
				if err != nil || !reflect.DeepEqual(got, test.want) {
					t.Errorf("settled as %+v, %v;\nwant %+v", got, err, test.want)
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

// An owner who does not wait, or not long enough, hears so; the wish is done all the same.
func TestFollowAddressLater(t *testing.T) {
	const page, found feed.URL = "https://one.example/", "https://one.example/a"
	for _, wait := range []time.Duration{0, time.Second} {
		runLoop(t, friendly, func(t *testing.T, l *testLoop) {
			s := newSites()
			s.slow = 5 * time.Second
			l.inspect(func(h *host) { h.fetcher = s })
			got,
				err := l.FollowAddress(t.Context(),
				control.FollowAddress{Subscribe: node.Subscribe{Feeds: []feed.URL{page}},
					Wait: wait})
			if want := (control.FollowedAddress{Feed: page, New: true, Waiting: true}); err != nil ||
				!reflect.DeepEqual(got, want) {
				t.Errorf("settled as %+v, %v", got, err)
			}
			l.pass(time.Minute)
			if list, err := l.Feeds(t.Context()); err != nil || len(list) != 1 || list[0].URL != found {
				t.Errorf("follows %+v, %v", list, err)
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
			t.Errorf("settled as %+v", got)
		}
	})
}

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
	if _, err := l.Subscribe(ctx, "https://none.example/"); !errors.Is(err, reading.ErrNoFeed) {
		t.Errorf("a page of none: %v", err)
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
	// What was looked at is not asked for again by the first poll.
	s.feeds["https://new.example/"] = true
	if _, err := l.Discover(ctx, "https://new.example/"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Subscribe(ctx, "https://new.example/"); err != nil || s.asked["https://new.example/"] != 1 {
		t.Errorf("%v, asked for %d times", err, s.asked["https://new.example/"])
	}
}
