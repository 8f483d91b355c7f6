package experiment

import (
	"fmt"
	"math"
	"strings"
)

// pollingFigures draws Figures 2 to 4 of Urbansky, and delay against requests.
func pollingFigures(rows []PollingRow) []Drawing {
	drawings := []Drawing{volumeFigure(rows), costFigure(rows), timelyFigure(rows)}
	for i := range rows {
		switch rows[i].Policy {
		case "Fix Learned", "Post Rate", "Moving Average", "FeedEx", "Auto":
			drawings = append(drawings, intervalFigure(&rows[i]))
		}
	}
	return drawings
}

// kind is a color and its name: one for the policies of Urbansky, one for ours, and gray for others.
func (r *PollingRow) kind() (color int, name string) {
	switch {
	case r.stated != nil:
		return 0, "in Urbansky's Table 1"
	case r.Policy == "FeedEx" || strings.HasPrefix(r.Policy, "Auto"):
		return 1, "of this program"
	}
	return gray, "others"
}

// byKind has the first marks of each kind in the legend.
func (p *Plot) byKind(rows []PollingRow) {
	for i := range rows {
		color, name := rows[i].kind()
		for j := range p.Marks {
			if p.Marks[j].Color == color {
				p.Marks[j].Name = name
				break
			}
		}
	}
}

// volumeFigure is Figure 2: a bar for each policy.
func volumeFigure(rows []PollingRow) *Plot {
	p := &Plot{Name: "polling-bytes", Title: "What publishers send, by policy (Figure 2)",
		X: Scale{Name: "Megabytes", Max: 1}, Y: Scale{Min: -.7, Max: float64(len(rows)) - .3}}
	for i, r := range rows {
		y, mb := float64(len(rows)-1-i), float64(r.Bytes)/1e6
		color, _ := r.kind()
		p.Marks = append(p.Marks, Marks{X: []float64{0, mb}, Y: []float64{y, y}, Width: 14, Color: color})
		p.Y.Ticks = append([]Tick{{y, r.Policy + "    "}}, p.Y.Ticks...)
		p.X.Max = max(p.X.Max, 1.05*mb)
	}
	p.X.Ticks = evenTicks(p.X.Max)
	p.byKind(rows)
	return p
}

// evenTicks are up to seven values of 1, 2 or 5 times a power of ten apart, from 0 to most.
func evenTicks(most float64) []Tick {
	step := 1.0
	for i := 0; most/step > 6; i++ {
		step *= [3]float64{2, 2.5, 2}[i%3]
	}
	var ticks []Tick
	for v := 0.0; v <= most; v += step {
		ticks = append(ticks, Tick{v, fmt.Sprintf("%g", v)})
	}
	return ticks
}

// costFigure shows what a policy costs publishers, and what that buys.
func costFigure(rows []PollingRow) *Plot {
	p := &Plot{
		Name: "polling-delay-requests", Title: "Delay against requests, by policy: best is below left",
		X: Scale{Name: "Requests at a feed a day", Min: .8, Max: 100, Log: true,
			Ticks: plainTicks(1, 2, 5, 10, 20, 50, 100)},
		Y: Scale{Name: "Mean delay of entries (minutes)", Min: 10, Max: 1000, Log: true,
			Ticks: plainTicks(10, 20, 50, 100, 200, 500, 1000)},
	}
	for i, r := range rows {
		if i > 0 && same(&rows[0], &r) {
			continue // several readers poll every hour
		}
		color, _ := r.kind()
		p.Marks = append(p.Marks, Marks{
			X: []float64{r.perDay}, Y: []float64{r.Entries.Mean / 60}, Dots: true, Width: 4, Color: color,
			Label: r.Policy, Before: r.Policy == byFrequency || strings.HasPrefix(r.Policy, "Auto"),
		})
	}
	p.byKind(rows)
	return p
}

// same reports whether two policies did the same.
func same(a, b *PollingRow) bool { return a.Requests == b.Requests && a.Entries == b.Entries }

func plainTicks(values ...float64) []Tick {
	var ticks []Tick
	for _, v := range values {
		ticks = append(ticks, Tick{v, fmt.Sprintf("%g", v)})
	}
	return ticks
}

// timelyFigure is Figure 3: how the delay develops while a policy learns.
func timelyFigure(rows []PollingRow) *Plot {
	const smooth = 10
	p := &Plot{
		Name:  "polling-timeliness",
		Title: fmt.Sprintf("Delay of feeds with %d entries or more, mean of %d polls (Figure 3)", timelyPolls, smooth),
		X: Scale{Name: "Polls that found entries", Max: timelyPolls,
			Ticks: plainTicks(0, 50, 100, 150, 200, 250, 300)},
		Y: Scale{Name: "Mean delay (minutes)", Min: 5, Max: 500, Log: true,
			Ticks: plainTicks(5, 10, 20, 50, 100, 200, 500)},
	}
	color := 0
	for _, r := range rows {
		switch r.Policy {
		case "Fix 1h", "Fix Learned", "Post Rate", "Moving Average", "Auto":
		default:
			continue
		}
		line := Marks{Name: r.Policy, Width: 2, Color: color}
		for k := smooth; k <= len(r.timely); k += smooth / 2 {
			line.X, line.Y = append(line.X, float64(k)), append(line.Y, mean(r.timely[k-smooth:k])/60)
		}
		p.Marks = append(p.Marks, line)
		color++
	}
	return p
}

// intervalFigure is Figure 4: a dot for each feed. On the line, a policy polls as often as the feed
// publishes; below it more often.
func intervalFigure(r *PollingRow) *Plot {
	names := map[string]string{"Fix Learned": "fix-learned", "Post Rate": "post-rate",
		"Moving Average": "moving-average", "FeedEx": "feedex", "Auto": "auto"}
	const h, d = 60, 24 * 60
	scale := Scale{Min: 1, Max: 40 * d, Log: true, Ticks: []Tick{
		{2, "2 min"}, {10, "10 min"}, {h, "1 h"}, {6 * h, "6 h"}, {d, "1 d"}, {7 * d, "7 d"}, {31 * d, "31 d"}}}
	p := &Plot{Name: "polling-interval-" + names[r.Policy],
		Title: "Real and predicted intervals of " + r.Policy + " (Figure 4)", X: scale, Y: scale}
	p.X.Name, p.Y.Name = "Mean time between entries", "Mean interval between polls"
	dots := Marks{Name: "a feed", Dots: true, Width: 3}
	for i := range r.real {
		dots.X, dots.Y = append(dots.X, r.real[i]/60), append(dots.Y, r.predicted[i]/60)
	}
	p.Marks = []Marks{{Name: "polled as often as it publishes", X: []float64{1, 40 * d}, Y: []float64{1, 40 * d},
		Width: 1, Color: gray}, dots}
	return p
}

// pollingTables are the tables of the Polling report.
func pollingTables(rows []PollingRow) []Table {
	modes := Table{
		Title:   "Average delay in minutes, polls per item, and error (Table 1)",
		Columns: []string{"policy", "by feeds: delay", "polls/item", "error", "by polls: delay", "polls/item", "error"},
		Notes: []string{
			"By feeds: the mean over feeds, those left out in which the policy found nothing. By polls: over all " +
				"polls, so that busy feeds count most.",
			"Delay until a poll finds entries, or until the end for those that none found. Error: delay times polls " +
				"per item.",
		},
	}
	stated := Table{Title: "The same as Urbansky states it", Columns: modes.Columns}
	for _, r := range rows {
		modes.row(append(append([]string{r.Policy}, averageCells(r.Feeds)...), averageCells(r.Polls)...)...)
		if r.stated != nil {
			stated.row(append(append([]string{r.Policy}, averageCells(r.stated[0])...),
				averageCells(r.stated[1])...)...)
		}
	}
	cost := Table{
		Title: "Entries, requests and bytes (Figure 2)",
		Columns: []string{"policy", "entries", "delay median", "mean", "95th", "missed", "unread", "requests",
			"a feed a day", "of these 304", "MB"},
		Notes: []string{
			"Delays of entries in minutes. Missed entries left the document before a poll; unread ones are still in " +
				"it at the end.",
		},
	}
	for _, r := range rows {
		known := float64(max(1, r.Published))
		cost.row(r.Policy, fmt.Sprint(r.Published), wholeMinutes(r.Entries.Median), wholeMinutes(r.Entries.Mean),
			wholeMinutes(r.Entries.P95),
			fmt.Sprintf("%.2f%%", 100*float64(r.Missed)/known), fmt.Sprintf("%.2f%%", 100*float64(r.Late)/known),
			fmt.Sprint(r.Requests), fmt.Sprintf("%.1f", r.perDay),
			percent(float64(r.NotModified)/float64(max(1, r.Requests))),
			fmt.Sprintf("%.0f", float64(r.Bytes)/1e6))
	}
	return []Table{modes, stated, cost}
}

// averageCells are the columns of one mode.
func averageCells(a Averages) []string {
	return []string{wholeMinutes(a.Delay), fmt.Sprintf("%.2f", a.Polls), fmt.Sprintf("%.0f", a.Error)}
}

// wholeMinutes writes a delay, given in seconds, in minutes: whole ones from ten on.
func wholeMinutes(seconds float64) string {
	if seconds < 600 {
		return minutes(seconds)
	}
	return fmt.Sprintf("%.0f", math.Round(seconds/60))
}
