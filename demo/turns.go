package demo

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// A turn is a poll of one feed: by which node, from 1, and when.
type turn struct {
	node int
	at   time.Time
}

// Turns are how the nodes poll in turn, in the time in which each polls a feed once. The first poll of each does not
// count: all begin together.
type Turns struct {
	Feed      string        // title of one of the feeds
	Line      string        // which node polled it when, from 1, until now: "2---1---"
	Gap       time.Duration // mean time between two polls of a feed, of all feeds; 0 for not yet
	Deviation float64       // of these times, in parts of their mean
	Random    float64       // the deviation if each node polled at times of its own
}

// turnsWidth is how many columns show the time in which each node polls a feed once.
const turnsWidth = 32

// line draws which node polled a feed when, in the time until now.
func line(list []turn, now time.Time, poll time.Duration) string {
	cells := []byte(strings.Repeat("-", turnsWidth))
	for _, t := range list {
		if ago := now.Sub(t.at); ago >= 0 && ago < poll {
			cells[turnsWidth-1-int(turnsWidth*ago/poll)] = "0123456789abcdef"[t.node%16]
		}
	}
	return string(cells)
}

// lately are how long after the one before the turns of a feed came since then, in seconds.
func lately(list []turn, since time.Time) (gaps []float64) {
	for i, t := range list {
		if i > 0 && t.at.After(since) {
			gaps = append(gaps, t.at.Sub(list[i-1].at).Seconds())
		}
	}
	return gaps
}

// turnsOf tells how the nodes polled until now. The caller holds the lock.
func (s *score) turnsOf(now time.Time) Turns {
	// Polls of n nodes at times of their own are as n random points on a circle.
	n := float64(len(s.nodes))
	t := Turns{Feed: titles[0], Random: math.Sqrt((n - 1) / (n + 1))}
	var sum, squares, count float64
	for i, u := range s.feeds {
		if i == 0 {
			t.Line = line(s.turns[u], now, pollEvery)
		}
		for _, gap := range lately(s.turns[u], now.Add(-pollEvery)) {
			sum, squares, count = sum+gap, squares+gap*gap, count+1
		}
	}
	if mean := sum / count; count > 0 && mean > 0 {
		t.Gap = time.Duration(mean * float64(time.Second))
		t.Deviation = math.Sqrt(max(0, squares/count-mean*mean)) / mean
	}
	return t
}

// String says who polled one of the feeds.
func (t Turns) String() string {
	if strings.Trim(t.Line, "-") == "" {
		return t.Feed + ": nobody's second turn has come"
	}
	text := t.Feed + ", polled by node " + t.Line
	if t.Gap > 0 {
		text += ", every " + lag(t.Gap)
	}
	return text
}

// evenness says how even the times between polls are, "" while nothing is known.
func (t Turns) evenness() string {
	if t.Gap == 0 {
		return ""
	}
	return fmt.Sprintf("%6s, give or take %.0f%%; at random times %.0f%%", lag(t.Gap), 100*t.Deviation, 100*t.Random)
}
