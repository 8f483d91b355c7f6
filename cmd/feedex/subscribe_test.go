package main

import (
	"io"
	"reflect"
	"testing"

	"github.com/spf13/pflag"

	"feedex/control"
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
