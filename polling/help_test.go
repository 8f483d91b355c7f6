package polling_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/polling"
)

func TestHelpComesAndGoes(t *testing.T) {
	var h polling.Help
	if h = h.After(5, 0); h != 0 {
		t.Errorf("alone: %v", h)
	}
	if h = h.After(0, 200); h < 0.99 {
		t.Errorf("of 200 entries neighbors brought all: %v", h)
	}
	if h = h.After(8, 0); h > 0.4 || h < 0.3 {
		t.Errorf("of 8 more they brought none: %v, want about 1/e", h)
	}
	for range 100 {
		h = h.After(0, 3).After(1, 0)
	}
	if h < 0.65 || h > 0.85 {
		t.Errorf("three of four: %v", h)
	}
}

func TestHelpIsAShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := polling.Help(rapid.Float64().Draw(t, "before"))
		h = h.After(rapid.IntRange(0, 1_000_000).Draw(t, "own"), rapid.IntRange(0, 1_000_000).Draw(t, "brought"))
		if !(h >= 0 && h <= 1) && !math.IsNaN(float64(h)) {
			t.Errorf("%v is no share", h)
		}
	})
}

// Of 7 nodes that share what they find each polls four times more rarely than alone; more help changes nothing.
func TestAutoPollsMoreRarelyWithHelp(t *testing.T) {
	const h = time.Hour
	p := polling.Auto{Range: polling.Range{Max: 30 * 24 * h}}
	poll := polling.Poll{At: clock(0), Interval: h, History: every(967*time.Minute, 160)}
	alone := p.Interval(poll)
	for helped, times := range map[float64]float64{0: 1, 0.5: 1.5, 0.75: 2.5, 6.0 / 7: 4, 0.999: 4, 1: 4, 7: 4, -3: 1} {
		poll.Helped = helped
		if got := p.Interval(poll).Seconds() / alone.Seconds(); math.Abs(got-times) > times/10 {
			t.Errorf("neighbors bring %v: %.2f times as long, want %v", helped, got, times)
		}
	}
	// Half of the document is never passed: the neighbors may fall silent.
	poll.History.Window, poll.Helped = 1, 0.99
	p.TargetDelay = 200 * h
	if got, want := p.Interval(poll), 967*time.Minute/2; got < want*8/10 || got > want*12/10 {
		t.Errorf("one entry in the document: %v, want %v", got, want)
	}
	// Nor is it rarer than four times where the range go before the target.
	poll.History.Window = 60
	for _, p := range []polling.Auto{
		{Range: polling.Range{Max: 2 * h}, TargetDelay: 200 * h},
		{Range: polling.Range{Min: 100 * h}, TargetDelay: time.Minute},
	} {
		if got, want := p.Interval(poll), 4*max(p.Max, p.Min); got != want || got > p.Longest() {
			t.Errorf("%+v: %v, want %v", p, got, want)
		}
	}
}
