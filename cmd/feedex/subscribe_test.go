package main

import (
	"testing"
)

func TestKeepFlags(t *testing.T) {
	var k keepFlags
	c := newSubscribe()
	if w := k.wish(); !w.IsZero() {
		t.Errorf("without a flag %+v is to change", w)
	}
	for _, args := range [][]string{{"--keep-age", "0"}, {"--keep-age", "soon"}, {"--keep-count", "0"},
		{"--keep-count", "-5"}, {"--keep-bytes", "12"}} {
		if err := c.ParseFlags(args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
	k = keepFlags{bytes: "2MB", age: "all", count: new(int64(7))}
	if w := k.wish(); *w.Bytes != 2e6 || *w.Age != 0 || *w.Count != 7 {
		t.Errorf("%d bytes, %v and %d entries are to be kept", *w.Bytes, *w.Age, *w.Count)
	}
}
