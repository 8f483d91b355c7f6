package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressEvery is how often a line of progress is written anew.
const progressEvery = 100 * time.Millisecond

// A progress is a line on a terminal that says how far something is, for how long it has run and, where it is known how
// much there is to do, about how long it will yet. Elsewhere it is not written.
type progress struct {
	w       io.Writer // nil where there is no terminal
	what    string
	bar     *progressbar.ProgressBar // nil where no line is there
	done    int64
	total   int64
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
	if !p.due() {
		return
	}
	text := fmt.Sprintf("%s: %s", p.what, unit(done))
	if total > 0 {
		text += " of " + unit(total)
	}
	p.show(done, total, text)
}

// part says that such a part of the whole is done, from 0 to 1.
func (p *progress) part(done float64) {
	if p.due() {
		const whole = 1_000_000
		p.show(int64(done*whole), whole, p.what)
	}
}

// span says how far back something is that goes from one time to an earlier one, zero where that is open, and what came
// of it.
func (p *progress) span(from, at, to time.Time, text string) {
	if !p.due() {
		return
	}
	var done, whole time.Duration
	if all := from.Sub(to); !to.IsZero() && all > 0 && !at.IsZero() {
		done, whole = from.Sub(at), all
	}
	p.show(int64(done/time.Second), int64(whole/time.Second), p.what+": "+text)
}

// due reports whether the line is to be written anew.
func (p *progress) due() bool { return p.w != nil && time.Since(p.written) >= progressEvery }

// show writes the line.
func (p *progress) show(done, total int64, text string) {
	if total <= 0 {
		total = -1 // not known, as the library has it
	} else {
		done = min(max(done, 0), total)
	}
	if p.bar != nil && done < p.done { // another part of the whole begins
		p.end()
	}
	switch {
	case p.bar == nil:
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.w), progressbar.OptionUseANSICodes(true), progressbar.OptionSetWidth(30),
			progressbar.OptionSpinnerType(14),
			progressbar.OptionSetSpinnerChangeInterval(0), // or it would draw by itself, after the end as well
			progressbar.OptionSetElapsedTime(true), progressbar.OptionSetPredictTime(total > 0),
			progressbar.OptionClearOnFinish())
	case total != p.total:
		p.bar.ChangeMax64(total)
	}
	// A line that cannot be written is nothing to end the work for.
	_ = p.bar.Set64(done)
	p.bar.Describe(text) // draws it in any case, with the time that passed
	p.done, p.total, p.written = done, total, time.Now()
}

// end removes the line.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
