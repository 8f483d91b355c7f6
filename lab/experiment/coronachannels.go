package experiment

import (
	"fmt"
	"math"
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/report"
)

// A meanLateness is a detection time by own polls alone and one with neighbors, in seconds, NaN where nothing was
// detected.
type meanLateness struct{ alone, exchange float64 }

// lateness gathers detection times.
type lateness struct{ alone, exchange []float64 }

func (p *lateness) add(s lab.Sight) {
	if s.Own != lab.Never {
		p.alone = append(p.alone, (s.Own - s.Published).Seconds())
	}
	if s.Any != lab.Never {
		p.exchange = append(p.exchange, (s.Any - s.Published).Seconds())
	}
}

func (p lateness) mean() meanLateness {
	of := func(list []float64) float64 {
		if len(list) == 0 {
			return math.NaN()
		}
		return report.Mean(list)
	}
	return meanLateness{of(p.alone), of(p.exchange)}
}

// A CoronaHour is what was polled in an hour since the start, and how late updates of that hour were detected, by
// update; 0 where none was.
type CoronaHour struct {
	Requests float64 `json:"requests"` // at a channel in 30 minutes
	Alone    float64 `json:"legacy"`
	Exchange float64 `json:"exchange"`
}

// hoursOf are the hours of a world, in which updates were so late.
func hoursOf(w *lab.World, late []meanLateness) (list []CoronaHour) {
	known := func(v float64) float64 {
		if math.IsNaN(v) {
			return 0
		}
		return v
	}
	for i, d := range late {
		polls := 0
		for _, p := range w.Publishers() {
			from, to := min(60*i, len(p.Minutes)), min(60*(i+1), len(p.Minutes))
			polls += sum(p.Minutes[from:to])
		}
		list = append(list, CoronaHour{float64(polls) / 2 / float64(len(w.Publishers())), known(d.alone),
			known(d.exchange)})
	}
	return list
}

// coronaOverTime shows how load and detection settle.
func coronaOverTime(row CoronaRow) report.Table {
	t := report.Table{
		Title:   fmt.Sprintf("From the start on, polling every %s (Figures 3 and 4)", when.Clock(row.Every)),
		Columns: []string{"hour", "polls/30 min/channel", "legacy s", "feedex s"},
		Notes: []string{"All nodes start within the first minute. Detection is the mean over the updates of the " +
			"hour, each counting once for every subscriber."},
	}
	for i, h := range row.Hours {
		t.Row(i+1, report.Known("%.1f", h.Requests), report.Known("%.0f", h.Alone), report.Known("%.0f", h.Exchange))
	}
	return t
}

// paces are up to which update intervals channels are put together.
func paces() []time.Duration {
	const day = 24 * time.Hour
	return []time.Duration{time.Hour, 4 * time.Hour, 12 * time.Hour, 2 * day, 1 << 62}
}

// paceTable shows whether channels that change often are detected sooner: Corona's fair objectives mean them to be.
func paceTable(channels []followed, list []CoronaObjective, row CoronaRow) report.Table {
	t := report.Table{
		Title:   "Detection in seconds by how often a channel changes (Figures 7 and 8)",
		Columns: []string{"update interval", "channels", "legacy", "feedex"},
		Notes: []string{"Means over channels; legacy and feedex of those that had an update. Rank correlation is " +
			"Spearman's, of a channel's detection time with its update interval: 1 where what changes more often is " +
			"always detected sooner."},
	}
	schemes := list[1:] // but for polls by all followers, which legacy RSS and feedex make
	for _, o := range schemes {
		t.Columns = append(t.Columns, o.Scheme)
	}
	// cells are of each column what of says of the channels that it is known of.
	cells := func(in []followed, of func(intervals, late []float64) string) (cells []string) {
		column := func(late func(c followed) float64) {
			var x, y []float64
			for _, c := range in {
				if l := late(c); !math.IsNaN(l) {
					x, y = append(x, c.interval), append(y, l)
				}
			}
			cells = append(cells, of(x, y))
		}
		column(func(c followed) float64 { return row.channels[c.index].alone })
		column(func(c followed) float64 { return row.channels[c.index].exchange })
		for _, o := range schemes {
			by := make(map[int]float64)
			for i, c := range channels {
				by[c.index] = o.late[i]
			}
			column(func(c followed) float64 { return by[c.index] })
		}
		return cells
	}
	least := time.Duration(0)
	for _, most := range paces() {
		var in []followed
		for _, c := range channels {
			if s := c.interval; s >= least.Seconds() && s < most.Seconds() {
				in = append(in, c)
			}
		}
		name := fmt.Sprintf("%s to %s", when.Clock(least), when.Clock(most))
		switch {
		case least == 0:
			name = "below " + when.Clock(most)
		case most == 1<<62:
			name = when.Clock(least) + " or more"
		}
		mean := func(_, late []float64) string { return meanOf("%.1f", late) }
		t.Row(name, len(in), cells(in, mean))
		least = most
	}
	t.Row("rank correlation", len(channels), cells(channels, func(x, y []float64) string {
		return fmt.Sprintf("%.2f", report.RankCorrelation(x, y))
	}))
	return t
}

// meanOf writes the mean of what is known of some channels.
func meanOf(format string, list []float64) string {
	if len(list) == 0 {
		return report.Unknown
	}
	return fmt.Sprintf(format, report.Mean(list))
}

// ranks are up to which rank of popularity channels are put together: thirds of each power of ten.
func ranks(channels int) (list []int) {
	for last := 1; last < channels; last *= 10 {
		list = append(list, last, 3*last)
	}
	return append(slices.DeleteFunc(list, func(last int) bool { return last >= channels }), channels)
}

// rankTable shows what popularity brings beside what Corona-Lite would make of the same subscriptions.
func rankTable(channels []followed, lite CoronaObjective, row CoronaRow) report.Table {
	t := report.Table{
		Title:   fmt.Sprintf("By rank of popularity, polling every %s (Figures 5 and 6)", when.Clock(row.Every)),
		Columns: []string{"rank", "channels", "subscribers", "pollers: Lite", "legacy s", "feedex s", "Lite s"},
		Notes: []string{"Means over channels; legacy and feedex of those that had an update. By feedex all " +
			"subscribers poll. Lite: Corona-Lite's optimum, where pollers take turns and tell all at once. Corona " +
			"says of its 100,000 channels that popular ones have more pollers, though fewer than subscribers, and " +
			"are detected ten times sooner."},
	}
	order := make([]int, len(channels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return channels[j].subscribers - channels[i].subscribers })
	first := 0
	for _, last := range ranks(len(channels)) {
		var subscribers, pollers, alone, exchange, late []float64
		for _, i := range order[first:last] {
			c := channels[i]
			subscribers = append(subscribers, float64(c.subscribers))
			pollers, late = append(pollers, float64(lite.pollers[i])), append(late, lite.late[i])
			if l := row.channels[c.index]; !math.IsNaN(l.exchange) && !math.IsNaN(l.alone) {
				alone, exchange = append(alone, l.alone), append(exchange, l.exchange)
			}
		}
		name := fmt.Sprintf("%d-%d", first+1, last)
		if last == first+1 {
			name = fmt.Sprint(last)
		}
		t.Row(name, last-first, meanOf("%.1f", subscribers), meanOf("%.1f", pollers), meanOf("%.0f", alone),
			meanOf("%.1f", exchange), meanOf("%.1f", late))
		first = last
	}
	return t
}
