package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progressEvery is how often a line of progress is written anew.
const progressEvery = 100 * time.Millisecond

// A progress is a line on a terminal that says how far something is. Elsewhere it is not written.
type progress struct {
	w       io.Writer // nil where there is no terminal
	what    string
	written time.Time
}

// newProgress says how far what is, on w.
func newProgress(w io.Writer, what string) *progress {
	p := &progress{what: what}
	if isTerminal(w) {
		p.w = w
	}
	return p
}

// at says that done of total are done, 0 for a total that is not known. unit writes numbers.
func (p *progress) at(done, total int64, unit func(int64) string) {
	if p.w == nil || time.Since(p.written) < progressEvery {
		return
	}
	p.written = time.Now()
	line := fmt.Sprintf("%s: %s", p.what, unit(done))
	if total > 0 {
		line = fmt.Sprintf("%s: %s %s of %s, %d%%", p.what, bar(done, total), unit(done), unit(total), min(100, 100*done/total))
	}
	fmt.Fprintf(p.w, "\r%s\x1b[K", line)
}

// span says how far back something is that goes from one time to an earlier one, zero where that is open, and what came
// of it.
func (p *progress) span(from, at, to time.Time, text string) {
	if p.w == nil || time.Since(p.written) < progressEvery {
		return
	}
	p.written = time.Now()
	line := p.what + ": " + text
	if whole := from.Sub(to); !to.IsZero() && whole > 0 && !at.IsZero() {
		line = fmt.Sprintf("%s: %s %s", p.what, bar(int64(from.Sub(at)/time.Second), int64(whole/time.Second)), text)
	}
	fmt.Fprintf(p.w, "\r%s\x1b[K", line)
}

// barWidth is how many characters a full bar has.
const barWidth = 20

// bar draws which part of a total is done.
func bar(done, total int64) string {
	full := 0
	if total > 0 {
		full = int(min(max(done, 0), total) * barWidth / total)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", barWidth-full) + "]"
}

// end removes the line.
func (p *progress) end() {
	if p.w != nil && !p.written.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
