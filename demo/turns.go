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
	Nodes     []int         // that polled it last, from 1, in order
	Gap       time.Duration // mean time between two polls of a feed, of all feeds; 0 for not yet
	Deviation float64       // of these times, in parts of their mean
	Random    float64       // the deviation if each node polled at times of its own
}

// lately are the turns of a feed that came since then, and how long after the one before, in seconds.
func lately(list []turn, since time.Time) (nodes []int, gaps []float64) {
	for i, t := range list {
		if !t.at.After(since) {
			continue
		}
		nodes = append(nodes, t.node)
		if i > 0 {
			gaps = append(gaps, t.at.Sub(list[i-1].at).Seconds())
		}
	}
	return nodes, gaps
}

// turnsOf tells how the nodes polled until now. The caller holds the lock.
func (s *score) turnsOf(now time.Time) Turns {
	// Polls of n nodes at times of their own are as n random points on a circle.
	n := float64(len(s.nodes))
	t := Turns{Feed: title(0), Random: math.Sqrt((n - 1) / (n + 1))}
	var sum, squares, count float64
	for i, u := range s.feeds {
		nodes, gaps := lately(s.turns[u], now.Add(-s.poll))
		if i == 0 {
			t.Nodes = nodes
		}
		for _, gap := range gaps {
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
	if len(t.Nodes) == 0 {
		return t.Feed + ": nobody's second turn has come"
	}
	text := strings.Trim(fmt.Sprint(t.Nodes), "[]")
	if t.Gap == 0 {
		return fmt.Sprintf("%s: polled by node %s", t.Feed, text)
	}
	return fmt.Sprintf("%s: polled by node %s, every %s", t.Feed, text, lag(t.Gap))
}

// evenness says how even the times between polls are, "" while nothing is known.
func (t Turns) evenness() string {
	if t.Gap == 0 {
		return ""
	}
	return fmt.Sprintf("%6s, give or take %.0f%%; at random times %.0f%%", lag(t.Gap), 100*t.Deviation, 100*t.Random)
}
