package main

import (
	"bytes"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, what: "verify"}
	p.at(1500, 3000, counted)
	p.at(1600, 3000, counted) // too soon after the last
	p.written = p.written.Add(-time.Second)
	p.at(2000, 0, counted)
	p.end()
	want := "\rverify: 1,500 entries of 3,000 entries, 50%\x1b[K\rverify: 2,000 entries\x1b[K\r\x1b[K"
	if b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
	if quiet := newProgress(&b, "verify"); quiet.w != nil {
		t.Error("progress where there is no terminal")
	}
}
