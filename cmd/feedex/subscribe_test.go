package main

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"feedex/control"
	"feedex/discover"
	"feedex/reading"
)

// What is shown of a feed is said of the feed that is followed, and not where no flag says it.
func TestSubscribeSaysWhatIsShown(t *testing.T) {
	const at = "https://example.com/feed"
	for _, test := range []struct {
		flags []string
		want  []reading.Arrangement
	}{
		{nil, nil},
		{[]string{"--pictures"}, []reading.Arrangement{{URL: at, Pictures: new(true)}}},
		{[]string{"--pictures=false", "--full-text"},
			[]reading.Arrangement{{URL: at, Pictures: new(false), FullText: new(true)}}},
	} {
		n := new(newcomer)
		c := newSubscribe()
		c.SetOut(io.Discard)
		c.SetArgs(append([]string{"--data", served(t, control.NewHandler(n).ServeHTTP), at}, test.flags...))
		if err := c.ExecuteContext(t.Context()); err != nil || !reflect.DeepEqual(n.arranged, test.want) {
			t.Errorf("%q: arranged %+v, %v, want %+v", test.flags, n.arranged, err, test.want)
		}
	}
}

// A failingNode keeps a feed at home, leaves a choice at a site, and fails at the feed that comes last.
type failingNode struct{ control.Owner }

const lastFeed = "https://last.example/feed"

var errFails = control.BadRequest{Err: errors.New("the disk is full")}

func (failingNode) FollowAddress(_ context.Context, w control.FollowAddress) (s control.FollowedAddress, err error) {
	switch s.Feed = w.Feeds[0]; s.Feed {
	case "https://kept.example/feed":
		s.Kept, s.Undecided = "its address may hold a key", true
	case "https://site.example/":
		s.Page = s.Feed
		s.Choices = []discover.SiteFeed{{URL: "https://site.example/a"}, {URL: "https://site.example/b"}}
	case lastFeed:
		if w.Weight == 5 {
			err = errFails
		}
	}
	return s, err
}

func (failingNode) Arrange(_ context.Context, list []reading.Arrangement) error {
	if list[0].URL == lastFeed {
		return errFails
	}
	return nil
}

func (failingNode) SetRetention(_ context.Context, w control.RetentionChange) error {
	if w.Feeds[0] == lastFeed {
		return errFails
	}
	return nil
}

// What is to be said of some addresses is, whatever comes of a later one.
func TestSubscribeSaysWhatItHasToSay(t *testing.T) {
	data := served(t, control.NewHandler(failingNode{}).ServeHTTP)
	for _, flag := range []string{"--weight=5", "--full-text", "--keep-count=5"} {
		var notes strings.Builder
		c := newSubscribe()
		c.SetOut(io.Discard)
		c.SetErr(&notes)
		c.SetArgs([]string{"--data", data, flag, "https://kept.example/feed", "https://site.example/", lastFeed})
		err := c.ExecuteContext(t.Context())
		if err == nil || !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("%s: %v", flag, err)
		}
		for _, want := range []string{"kept.example/feed stays on this node: its address", "--private=false",
			"site.example/ is a web page that names 2 feeds", "feedex subscribe https://site.example/b"} {
			if !strings.Contains(notes.String(), want) {
				t.Errorf("%s: nothing says %q:\n%s", flag, want, notes.String())
			}
		}
	}
}

func TestKeepFlags(t *testing.T) {
	c := newSubscribe()
	for _, args := range [][]string{{"--keep-age", "0"}, {"--keep-age", "soon"}, {"--keep-count", "0"},
		{"--keep-count", "-5"}, {"--keep-bytes", "12"}} {
		if err := c.ParseFlags(args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
	var w control.RetentionChange
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	keepFlags(f, &w)
	if err := f.Parse(nil); err != nil || !w.IsZero() {
		t.Errorf("without a flag %+v is to change, %v", w, err)
	}
	if err := f.Parse([]string{"--keep-bytes=2MB", "--keep-age=all", "--keep-count=7"}); err != nil {
		t.Fatal(err)
	}
	if *w.Bytes != 2e6 || *w.Age != 0 || *w.Count != 7 {
		t.Errorf("%d bytes, %v and %d entries are to be kept", *w.Bytes, *w.Age, *w.Count)
	}
}
