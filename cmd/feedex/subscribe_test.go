package main

import (
	"feedex/control"
	"testing"

	"github.com/spf13/pflag"
)

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
