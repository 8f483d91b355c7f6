package demo

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Columns and Lines are how much room the picture takes on a terminal, with the line that the cursor waits in.
const (
	Columns = 80
	Lines   = 18
)

// A screen shows how the demonstration goes.
type screen struct {
	config Config
	score  *score
	lines  int // of the last picture, to be drawn over
}

// drawEvery is the time between two pictures.
const drawEvery = 250 * time.Millisecond

func newScreen(c Config, s *score, pages string) *screen {
	sc := &screen{config: c, score: s}
	fmt.Fprintf(c.Out, "feedex demo: %d nodes, a tracker and %d feeds on this machine.\n", nodeCount, len(titles))
	fmt.Fprintf(c.Out, "Each feed publishes every %v to %v; each node polls each of its feeds every %v.\n",
		shortestGap, longestGap, pollEvery)
	fmt.Fprintf(c.Out, "Meanwhile one of them shows its pages at %s\n\n", pages)
	if c.Terminal {
		fmt.Fprint(c.Out, "\x1b[?25l") // without its cursor
	}
	return sc
}

// close leaves the terminal as it was found.
func (sc *screen) close() {
	if sc.config.Terminal {
		fmt.Fprint(sc.config.Out, "\x1b[?25h")
	}
}

// draw shows the figures of now.
func (sc *screen) draw(now time.Time) {
	sum := sc.score.summary(now)
	if !sc.config.Terminal {
		if seconds := int(sum.Ran / drawEvery); seconds%20 == 0 { // every five seconds
			fmt.Fprintf(sc.config.Out,
				"%4.0fs  published %d, delivered %d of %d, mean lag %s (alone %s), requests %d, free rider %d%s\n",
				sum.Ran.Seconds(), sum.Published, sum.Expected-sum.Missed, sum.Expected, lag(sum.Lag),
				lag(sum.AloneLag), sum.Requests,
				sum.Rider.Got, sum.Rider.held(", held"))
			fmt.Fprintf(sc.config.Out, "       %s\n", sum.Turns)
		}
		return
	}
	var b strings.Builder
	sc.write(&b, sum)
	picture := b.String()
	if sc.lines > 0 {
		fmt.Fprintf(sc.config.Out, "\x1b[%dA", sc.lines)
	}
	sc.lines = strings.Count(picture, "\n")
	fmt.Fprint(sc.config.Out, strings.ReplaceAll(picture, "\n", "\x1b[K\n"))
}

// write writes the picture.
func (sc *screen) write(w io.Writer, sum Summary) {
	const width = 40
	ran := min(sum.Ran, sc.config.For)
	done := int(width * ran / sc.config.For)
	phase := "the feeds publish"
	if sum.Ran > sc.config.For-settle {
		phase = "the feeds are silent; the last entries are on their way"
	}
	fmt.Fprintf(w, "  %s%s %3.0f of %.0f s\n  %s\n\n", strings.Repeat("█", done), strings.Repeat("░", width-done),
		ran.Seconds(), sc.config.For.Seconds(), phase)
	sum.figures(w)
	fmt.Fprintf(w, "  %s\n", sum.Turns)
	fmt.Fprintf(w, "\n  %-22s %9s %8s %14s %9s\n", "node", "neighbors", "by poll", "by a neighbor", "mean lag")
	for i, n := range sum.Each {
		fmt.Fprintf(w, "  %d %-20s %9d %8d %14d %9s\n", i+1, n.Name, n.Neighbors, n.ByPoll, n.ByPeer, lag(n.Lag))
	}
	fmt.Fprintf(w, "  %-22s %9d %8s %14d%s\n", "a free rider", sum.Rider.Neighbors, "-", sum.Rider.Got,
		sum.Rider.held("  the rest is held"))
}

// held is text where the free rider is held at its bound, nothing otherwise.
func (r RiderSummary) held(text string) string {
	if r.Held {
		return text
	}
	return ""
}

// figures writes the sums.
func (s Summary) figures(w io.Writer) {
	fmt.Fprintf(w, "  entries published %6d\n", s.Published)
	fmt.Fprintf(w, "  deliveries        %6d of %d: %d by own polls, %d from neighbors\n", s.Expected-s.Missed,
		s.Expected, s.ByPoll, s.ByPeer)
	fmt.Fprintf(w, "  mean lag          %6s, polling alone: %s\n", lag(s.Lag), lag(s.AloneLag))
	fmt.Fprintf(w, "  requests at feeds %6d, first ones apart; alone: %d, to be as soon: %d\n", s.Requests,
		s.AloneRequests, s.AsSoonRequests)
}

// String tells in words what came of the demonstration.
func (s Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "After %.0f seconds:\n\n", s.Ran.Seconds())
	s.figures(&b)
	if even := s.Turns.evenness(); even != "" {
		fmt.Fprintf(&b, "  between polls     %s\n", even)
	}
	b.WriteString("\n")
	rider := s.Rider.held(fmt.Sprintf("The free rider, who takes and never gives, was held to %d entries of %d.\n",
		s.Rider.Got, s.Published))
	if s.Missed > 0 {
		return b.String() + fmt.Sprintf("%d deliveries did not come.\n", s.Missed) + rider
	}
	b.WriteString("No node missed an entry")
	if s.Lag > 0 && s.AloneLag > s.Lag {
		fmt.Fprintf(&b, ";\non average they came %.1f times sooner than by polling alone every %.0f s",
			float64(s.AloneLag)/float64(s.Lag), pollEvery.Seconds())
	}
	if s.AsSoonRequests > s.Requests {
		fmt.Fprintf(&b, ",\nwhich would take %.1f times the requests to be as soon",
			float64(s.AsSoonRequests)/float64(max(1, s.Requests)))
	}
	return b.String() + ".\n" + rider
}

// lag writes a duration with a tenth of a second.
func lag(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
