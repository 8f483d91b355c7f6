package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// shown are the lines that one writes to a terminal, each as it looked last.
func shown(tell func(p *progress)) []string {
	var b bytes.Buffer
	p := &progress{w: &b, what: "verify"}
	tell(p)
	var lines []string
	for _, part := range strings.Split(b.String(), "\r") {
		if part = strings.TrimSuffix(strings.TrimSuffix(part, "\x1b[0K"), "\x1b[2K"); part != "" {
			lines = append(lines, part)
		}
	}
	return lines
}

func TestProgress(t *testing.T) {
	lines := shown(func(p *progress) {
		p.at(1500, 3000, counted)
		p.at(1600, 3000, counted) // too soon after the last
		p.end()
	})
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "verify: 1,500 entries of 3,000 entries  50% |███████████████               |") {
		t.Errorf("wrote %q", lines)
	}
	if b := new(bytes.Buffer); newProgress(b, "verify").w != nil {
		t.Error("progress where there is no terminal")
	}
}

// Where it is not known how much there is to do, the line says what was done.
func TestProgressWithoutEnd(t *testing.T) {
	lines := shown(func(p *progress) { p.at(2000, 0, counted) })
	if last := lines[len(lines)-1]; !strings.Contains(last, "verify: 2,000 entries ") || strings.Contains(last, "%") {
		t.Errorf("wrote %q", lines)
	}
}

// Nothing draws the line but the code that says how far it is: what is written after its end stays as it is.
func TestProgressDrawsNothingByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := &progress{w: &b, what: "verify"}
		p.at(2000, 0, counted)
		p.end()
		wrote := b.Len()
		time.Sleep(time.Second)
		if b.Len() != wrote {
			t.Errorf("wrote %q after the end", b.String()[wrote:])
		}
	})
}

// A second file begins a line of its own, and what was is removed in the end.
func TestProgressOfTwoFiles(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, what: "import"}
	for _, done := range []int64{900, 1000, 10} {
		p.written = time.Time{}
		p.at(done, 1000, grouped)
	}
	if !strings.Contains(b.String(), "import: 10 of 1,000   1% ") {
		t.Errorf("wrote %q", &b)
	}
	p.end()
	p.end()
	if !strings.HasSuffix(b.String(), "\x1b[2K\r") {
		t.Errorf("wrote %q in the end", &b)
	}
}

func TestProgressIntoThePast(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2025, 1, n, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		from, at, to time.Time
		want         string
	}{
		{day(21), day(16), day(1), "verify: text  25% |"},
		{day(21), day(16), time.Time{}, " verify: text "},
	} {
		lines := shown(func(p *progress) { p.span(c.from, c.at, c.to, "text") })
		if last := lines[len(lines)-1]; !strings.Contains(last, c.want) {
			t.Errorf("wrote %q, want %q", lines, c.want)
		}
	}
	if lines := shown(func(p *progress) {
		p.span(day(21), day(1).AddDate(-1, 0, 0), day(1),
			"text")
	}); len(lines) != 0 {
		t.Errorf("wrote %q where all is done", lines)
	}
}
