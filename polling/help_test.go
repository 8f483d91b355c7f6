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
	if h = h.After(5, 0, 1); h != 0 {
		t.Errorf("alone: %v", h)
	}
	if h = h.After(0, 200, 1); h < 0.99 {
		t.Errorf("of 200 entries neighbors brought all: %v", h)
	}
	if h = h.After(16, 0, 1); h > 0.4 || h < 0.3 {
		t.Errorf("of 16 more they brought none: %v, want about 1/e", h)
	}
	for range 100 {
		h = h.After(0, 3, 1).After(1, 0, 1)
	}
	if h < 0.65 || h > 0.85 {
		t.Errorf("three of four: %v", h)
	}
}

func TestHelpIsAShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := polling.Help(rapid.Float64().Draw(t, "before"))
		h = h.After(rapid.IntRange(0, 1_000_000).Draw(t, "own"), rapid.IntRange(0, 1_000_000).Draw(t, "brought"),
			rapid.IntRange(0, 1_000_000).Draw(t, "pollers"))
		if !(h >= 0 && h <= 1) && !math.IsNaN(float64(h)) {
			t.Errorf("%v is no share", h)
		}
	})
}

// A node takes its neighbors' word for how many poll with the first entry that they bring, and not before; from then on
// own polls show what it is worth.
func TestHelpBeginsWithTheWordOfNeighbors(t *testing.T) {
	if h := polling.Help(0).After(3, 0, 8); h != 0 {
		t.Errorf("they brought nothing: %v", h)
	}
	h := polling.Help(0).After(0, 1, 8)
	if h < 7./8 || h > .9 {
		t.Errorf("they brought one entry, and say that they are eight: %v", h)
	}
	if h = h.After(16, 0, 8); h > .4 {
		t.Errorf("of 16 more they brought none: %v", h)
	}
	if again := h.After(0, 1, 1000); again > h+.1 {
		t.Errorf("they say that they are a thousand: from %v to %v", h, again)
	}
}

// So many more poll than own polls show as neighbors say, up to four times as many others; with none to say so, as many
// as own polls show. Who says that nobody polls is believed.
func TestAutoBelievesNeighborsAsFarAsTheyHelp(t *testing.T) {
	const h = time.Hour
	p := polling.Auto{Range: polling.Range{Max: 30 * 24 * h}}
	poll := polling.Poll{At: clock(0), Interval: h, History: every(967*time.Minute, 160)}
	alone := p.Interval(poll)
	for _, c := range []struct {
		helped  float64
		pollers int
		as      float64 // so many nodes
	}{{0, 0, 1}, {0, 8, 1}, {.5, 0, 2}, {.5, 1, 1}, {.5, 3, 3}, {.5, 100, 5}, {.2, 100, 2}, {.75, 4, 4}, {.75, 6, 6}} {
		poll.Helped, poll.Pollers = c.helped, c.pollers
		got, want := p.Interval(poll).Seconds()/alone.Seconds(), math.Pow(c.as, .63)
		if math.Abs(got-want) > want/10 {
			t.Errorf("%+v: %.2f times as long as alone, want %.2f", c, got, want)
		}
	}
}

// Of 8 nodes that share what they find each polls 3.7 times more rarely than alone, and 4 times at most.
func TestAutoPollsMoreRarelyWithHelp(t *testing.T) {
	const h = time.Hour
	p := polling.Auto{Range: polling.Range{Max: 30 * 24 * h}}
	poll := polling.Poll{At: clock(0), Interval: h, History: every(967*time.Minute, 160)}
	alone := p.Interval(poll)
	for helped, times := range map[float64]float64{
		0: 1, .5: 1.55, .75: 2.4, 7. / 8: 3.7, .999: 4, 1: 4, 7: 4, -3: 1,
	} {
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
	// Nor is it rarer than 4 times where the range goes before the target, or than once a day, turns that last a tenth
	// longer included, unless it is alone.
	poll.History.Window = 60
	for want, p := range map[time.Duration]polling.Auto{
		8 * h:   {Range: polling.Range{Max: 2 * h}, TargetDelay: 200 * h},
		12 * h:  {Range: polling.Range{Min: 3 * h}, TargetDelay: time.Minute},
		21 * h:  {Range: polling.Range{Max: 16 * h}, TargetDelay: 200 * h},
		100 * h: {Range: polling.Range{Min: 100 * h}, TargetDelay: time.Minute},
	} {
		if got := p.Interval(poll); got != want || got > p.Longest() {
			t.Errorf("%+v: %v, want %v", p, got, want)
		}
	}
}
