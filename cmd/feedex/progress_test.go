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
	want := "\rverify: [##########----------] 1,500 entries of 3,000 entries, 50%\x1b[K\rverify: 2,000 entries\x1b[K\r\x1b[K"
	if b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
	if quiet := newProgress(&b, "verify"); quiet.w != nil {
		t.Error("progress where there is no terminal")
	}
}

func TestProgressIntoThePast(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2025, 1, n, 0, 0, 0, 0, time.UTC) }
	for want, at := range map[string]struct{ from, at, to time.Time }{
		"\rbackfill: [#####---------------] text\x1b[K": {day(21), day(16), day(1)},
		"\rbackfill: [####################] text\x1b[K": {day(21), day(1).AddDate(-1, 0, 0), day(1)},
		"\rbackfill: text\x1b[K":                        {day(21), day(16), time.Time{}},
	} {
		var b bytes.Buffer
		p := &progress{w: &b, what: "backfill"}
		if p.span(at.from, at.at, at.to, "text"); b.String() != want {
			t.Errorf("wrote %q, want %q", b.String(), want)
		}
	}
}
