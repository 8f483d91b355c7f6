package experiment

import (
	"fmt"
	"math"
	"slices"
	"time"

	"feedex/lab/report"
)

// A CoronaObjective is a tradeoff of Corona's Table 1, with what an optimum that knows all subscriptions and update
// intervals makes of it where any node may poll any channel: its pollers do so in turn, and tell at once.
type CoronaObjective struct {
	Scheme    string  `json:"scheme"`
	Requests  float64 `json:"requests"`  // at a channel in an interval of polls
	Detection float64 `json:"detection"` // seconds, the mean over subscriptions
	Ratio     float64 `json:"ratio"`     // of detection time to update interval, likewise
	Fewest    int     `json:"fewest"`    // pollers of a channel
	Most      int     `json:"most"`

	pollers []int     // of each channel
	late    []float64 // seconds, its detection time
}

// A followed channel is one with subscribers.
type followed struct {
	index       int
	subscribers int
	interval    float64 // seconds between updates
}

// pollersAt are the pollers of channels, 1 to nodes of each, where one more gains no more than the multiplier says: the
// weighted detection time goes by w/n, of which n+1 in place of n gain w/n(n+1). As gains fall with n, no other
// choice of as many pollers has a lesser sum of weighted detection times.
func pollersAt(weights []float64, nodes int, multiplier float64) []int {
	return each(weights, func(w float64) int {
		n := int(math.Ceil((math.Sqrt(1+4*w/multiplier) - 1) / 2)) // n (n+1) is w over the multiplier or more
		return min(max(n, 1), nodes)
	})
}

// pollersUpTo are the most pollers of which fits says that they do, if it holds for all fewer, by bisection of the
// multiplier, and one more step of it: the fewest that do not fit. Between both are channels of equal gains alone. The
// fewest there can be, one a channel, fit in any case.
func pollersUpTo(weights []float64, nodes int, fits func([]int) bool) (fit, beyond []int) {
	few, many := 2*slices.Max(weights), slices.Min(weights)/float64(nodes+1)/float64(nodes+1)
	if fits(pollersAt(weights, nodes, many)) {
		few = many
	}
	for range 100 {
		if middle := math.Sqrt(few * many); fits(pollersAt(weights, nodes, middle)) {
			few = middle
		} else {
			many = middle
		}
	}
	return pollersAt(weights, nodes, few), pollersAt(weights, nodes, many)
}

// sum is that of numbers.
func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}

// objectives are those of Corona's Table 1 at the load of legacy RSS, and Corona-Fast at a target in seconds; before
// them stands what polls of all followers are worth.
func objectives(channels []followed, nodes int, every, target float64) []CoronaObjective {
	weigh := func(of func(interval float64) float64) []float64 {
		return each(channels, func(c followed) float64 { return float64(c.subscribers) / of(c.interval) })
	}
	followers := each(channels, func(c followed) int { return c.subscribers })
	measure := func(scheme string, pollers []int) CoronaObjective {
		o := CoronaObjective{Scheme: scheme, Requests: float64(sum(pollers)) / float64(len(channels)),
			Fewest: slices.Min(pollers), Most: slices.Max(pollers), pollers: pollers}
		for i, c := range channels {
			share, late := float64(c.subscribers)/float64(sum(followers)), every/2/float64(pollers[i])
			o.late = append(o.late, late)
			o.Detection += share * late
			o.Ratio += share * late / c.interval
		}
		return o
	}
	legacyLoad := func(pollers []int) bool { return sum(pollers) <= sum(followers) }
	lite := weigh(func(float64) float64 { return 1 })
	most := func(weights []float64) []int {
		pollers, _ := pollersUpTo(weights, nodes, legacyLoad)
		return pollers
	}
	list := []CoronaObjective{measure("each follower polls", followers), measure("Corona-Lite", most(lite))}
	for _, fair := range []struct {
		scheme string
		of     func(float64) float64
	}{{"Corona-Fair", func(u float64) float64 { return u }}, {"Corona-Fair-Sqrt", math.Sqrt},
		{"Corona-Fair-Log", math.Log}} {
		list = append(list, measure(fair.scheme, most(weigh(fair.of))))
	}
	_, soon := pollersUpTo(lite, nodes, func(pollers []int) bool { return measure("", pollers).Detection > target })
	return append(list, measure("Corona-Fast", soon))
}

// followed are the channels of a network that have subscribers.
func (c Corona) followed(row CoronaRow) (channels []followed) {
	span := c.Traces.To.Sub(c.Traces.From).Seconds()
	for i, f := range c.channels() {
		if n := row.subscribers[i]; n > 0 {
			updates := f.Count(c.Traces.From, c.Traces.To)
			// A channel of one update, or none, counts as one that changes once a week, as Corona has it.
			interval := 7 * 24 * time.Hour.Seconds()
			if updates > 1 {
				interval = min(interval, span/float64(updates))
			}
			channels = append(channels, followed{i, n, interval})
		}
	}
	return channels
}

// objectiveTable shows them beside what the network came to.
func objectiveTable(list []CoronaObjective, row CoronaRow) report.Table {
	t := report.Table{
		Title: "Corona's objectives on the same subscriptions, by an optimum that knows all (Corona, Table 1)",
		Columns: []string{"scheme", "polls/channel", "detection s", "detection/update interval", "fewest pollers",
			"most"},
		Notes: []string{
			"Any node may poll any channel, those of a channel do so in turn, and all hear at once: T/2n for n " +
				"pollers. The first row is measured, of channels that had an update; the others count all.",
			"Corona-Fast is the least load at the detection time of the first row; the others are at its load.",
		},
	}
	t.Row("feedex, equal load", report.Known("%.2f", row.Requests), report.Known("%.1f", row.Exchange.Lag))
	for _, o := range list {
		t.Row(o.Scheme, fmt.Sprintf("%.2f", o.Requests), o.Detection, fmt.Sprintf("%.5f", o.Ratio), o.Fewest, o.Most)
	}
	return t
}
