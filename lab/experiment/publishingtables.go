package experiment

import (
	"fmt"
	"math"
	"slices"
	"time"

	"feedex/lab/report"
	"feedex/lab/trace"
)

// What the text of Paper §2 states of Figure 2 (b), of 245 feeds.
const (
	paperFeeds   = 245
	paperTen     = 30  // feeds have 10 entries in a document on average
	paperFifteen = 79  // have 15
	paperLargest = 126 // entries on average, in one feed
	paperFixed   = 159 // have a fixed number
	paperR2      = .06
)

func (p *PublishingResult) rateTable() report.Table {
	t := report.Table{
		Title:   "Entries a day by rank, and the line of Zipf's law through them (Figure 2 (a))",
		Columns: []string{"ranks", "a day", "exponent", "R²", "line at rank 1", "there", "line at the last", "there"},
		Notes: []string{"The paper says that the line fits between ranks 30 and 200, that rates at both ends are " +
			"below it, and not which exponent it has."},
	}
	for _, l := range p.Lines {
		last := len(p.Rates)
		for last > 1 && p.Rates[last-1] == 0 {
			last--
		}
		t.Row(fmt.Sprintf("%d to %d", l.First, l.Last),
			fmt.Sprintf("%.2f to %.2f", p.Rates[l.First-1], p.Rates[l.Last-1]), fmt.Sprintf("%.2f", l.Exponent),
			fmt.Sprintf("%.2f", l.R2), fmt.Sprintf("%.0f", l.at(1)), fmt.Sprintf("%.0f", p.Rates[0]),
			fmt.Sprintf("%.2f", l.at(float64(last))), fmt.Sprintf("%.2f", p.Rates[last-1]))
	}
	return t
}

func (p *PublishingResult) documentTable() report.Table {
	t := report.Table{
		Title:   "Entries in a document (Figure 2 (b))",
		Columns: []string{"", "ours", "paper"},
		Notes: []string{"Of feeds of which somebody counted entries, in documents of some days or weeks. Ours are " +
			"usual numbers, the paper's averages."},
	}
	d := &p.Documents
	if d.Feeds == 0 {
		return t
	}
	share := func(n, of int) string { return fmt.Sprintf("%d (%s)", n, report.Percent(float64(n)/float64(of))) }
	t.Row("feeds", d.Feeds, paperFeeds)
	t.Row("always the same number", share(d.Fixed, d.Feeds), share(paperFixed, paperFeeds))
	t.Row("usually 10", share(d.have(10), d.Feeds), share(paperTen, paperFeeds))
	t.Row("usually 15", share(d.have(15), d.Feeds), share(paperFifteen, paperFeeds))
	t.Row("median", d.Sizes[d.Feeds/2], report.Unknown)
	t.Row("most", d.Sizes[d.Feeds-1], paperLargest)
	t.Row("widest range", d.Ranges[d.Feeds-1], report.Unknown)
	t.Row("R² of the number by the rate", fmt.Sprintf("%.2f", d.R2), fmt.Sprint(paperR2))
	return t
}

func (p *PublishingResult) weekTable() report.Table {
	t := report.Table{
		Title: fmt.Sprintf("Days and weeks of feeds with %d entry a day or more, medians (Figure 2 (c))", weekRate),
		Columns: []string{"kind", "feeds", "in 8 busiest hours", "weekend day/weekday", "rest at weekends",
			"at certain hours"},
		Notes: []string{
			"A third in the eight busiest hours of the day would be even. Weekends are those of UTC.",
			fmt.Sprintf("Resting: less than %s of a weekday's entries on a day of the weekend. Certain hours: nine "+
				"tenths of the entries in %d hours of the day or fewer.", report.Percent(restsAt), certainHours),
			"The paper says that rates of most busy feeds follow the hour, and that many feeds rest at weekends.",
		},
	}
	for _, w := range p.Weeks {
		t.Row(w.Kind, w.Feeds, report.Percent(w.Busy.Median), fmt.Sprintf("%.2f", w.Weekend.Median), w.Resting,
			w.Certain)
	}
	return t
}

func (p *PublishingResult) lifetimeTable() report.Table {
	t := report.Table{
		Title:   "Hours that an entry stays in the document (Figure 2 (d))",
		Columns: []string{"feed", "entries a day", "in a document", "5th", "median", "95th", "a week and more"},
		Notes: []string{fmt.Sprintf("Feeds of %d entries a day or more of which documents were seen; an entry stays "+
			"until as many younger ones came out as a document has. How a publisher that lets some stay longer than "+
			"others does it, the traces do not say.", leastRate)},
	}
	for _, l := range p.Lifetimes {
		t.Row(l.Feed, l.PerDay, l.Entries, l.Hours.P5, l.Hours.Median, l.Hours.P95, report.Percent(l.Listed))
	}
	return t
}

// figures are Figures 2 (a) to (d), as far as there is something to draw.
func (p Publishing) figures(r PublishingResult, weeks []feedWeek) []*report.Plot {
	var plots []*report.Plot
	if r.Rates[0] > 0 {
		plots = append(plots, r.rateFigure())
	}
	if d := &r.Documents; d.Feeds > 0 {
		plots = append(plots,
			countFigure("publishing-entries", "Entries in a document (Figure 2 (b))", "Usual number of entries",
				d.Sizes, 130),
			countFigure("publishing-ranges", "By how much they vary (Figure 2 (b))",
				"Most less fewest entries of a feed's documents", d.Ranges, 60))
	}
	if len(weeks) > 0 {
		plots = append(plots, p.weekFigure(weeks))
	}
	if len(r.Lifetimes) > 0 {
		plots = append(plots, r.lifetimeFigure())
	}
	return plots
}

// rateFigure is Figure 2 (a): a dot for each feed that publishes, and the line between the paper's ranks.
func (p *PublishingResult) rateFigure() *report.Plot {
	dots := report.Marks{Name: "a feed", Dots: true, Width: 3}
	for i, rate := range p.Rates {
		if rate > 0 {
			dots.X, dots.Y = append(dots.X, float64(i+1)), append(dots.Y, rate)
		}
	}
	n := len(dots.X)
	plot := &report.Plot{Name: "publishing-rates", Title: "Entries a day by rank (Figure 2 (a))",
		X:     report.Decades("Rank of the feed", 1, float64(n)),
		Y:     report.Decades("Entries a day", dots.Y[n-1], dots.Y[0]),
		Marks: []report.Marks{dots}}
	if len(p.Lines) > 0 {
		l := p.Lines[0]
		a, b := float64(l.First), float64(l.Last)
		plot.Marks = append(plot.Marks, report.Marks{Name: fmt.Sprintf("%.0f / rank^%.2f", l.Scale, l.Exponent),
			X: []float64{a, b}, Y: []float64{l.at(a), l.at(b)}, Width: 2, Color: 1})
	}
	return plot
}

// countFigure is a histogram of small numbers: a bar for each; those above most stand at its end.
func countFigure(name, title, what string, numbers []int, most int) *report.Plot {
	counts := make(map[int]int)
	for _, n := range numbers {
		counts[min(n, most)]++
	}
	p := &report.Plot{Name: name, Title: title, X: report.Even(fmt.Sprintf("%s; at %d, as many or more", what, most), 0,
		float64(most))}
	p.X.Min -= 1 // a bar at 0 has its width
	highest := 0
	for n := range most + 1 {
		if c := counts[n]; c > 0 {
			x := float64(n)
			p.Marks = append(p.Marks, report.Marks{X: []float64{x, x}, Y: []float64{0, float64(c)}, Width: 4})
			highest = max(highest, c)
		}
	}
	p.Marks[0].Name = "feeds with as many"
	p.Y = report.Even("Feeds", 0, float64(highest))
	return p
}

// weekFigure is Figure 2 (c): the first week, hour by hour, of the busiest feed, the one of leastRate and more with the
// most even hours, and the busiest that rests at weekends and that publishes at certain hours, as far as there are
// such. Each has a band of the figure, up to its own most.
func (p Publishing) weekFigure(weeks []feedWeek) *report.Plot {
	const band = 1.35 // of which a label takes the rest above 1
	plot := &report.Plot{Name: "publishing-week", Title: "Entries an hour over the first week (Figure 2 (c))",
		X: report.Scale{Name: "Day (UTC)", Min: 0, Max: 7 * 24}, Y: report.Scale{Min: 0, Max: 4 * band}}
	for d := range 7 {
		plot.X.Ticks = append(plot.X.Ticks, report.Tick{Value: float64(24 * d),
			Label: p.Traces.From.AddDate(0, 0, d).Format("Mon 2 Jan")})
	}
	bar := func(x, foot, y float64, color int) report.Marks {
		return report.Marks{X: []float64{x, x}, Y: []float64{foot, y}, Width: 3, Color: color}
	}
	draw := func(color int, what string, at int) {
		if at < 0 {
			return
		}
		f, foot := weeks[at].feed, float64(3-color)*band
		counts := p.hourly(f)
		most := max(1, slices.Max(counts))
		for hour, n := range counts {
			if n > 0 {
				plot.Marks = append(plot.Marks, bar(float64(hour)+.5, foot, foot+float64(n)/float64(most), color))
			}
		}
		plot.Marks = append(plot.Marks,
			report.Marks{X: []float64{0, 7 * 24}, Y: []float64{foot, foot}, Width: 1, Color: report.Gray},
			report.Marks{Name: what, X: []float64{7*24 - 9}, Y: []float64{foot + 1.15}, Dots: true, Width: .1,
				Color: color, Before: true, Label: fmt.Sprintf("%s, up to %d an hour", f.Name, most)})
	}
	even, busy := 0, len(p.Traces.Busy(leastRate))
	for i := range weeks[:busy] {
		if weeks[i].busy < weeks[even].busy {
			even = i
		}
	}
	draw(0, "the busiest", 0)
	draw(1, "the most even hours", even)
	draw(2, "rests at weekends", slices.IndexFunc(weeks, feedWeek.rests))
	draw(3, "publishes at certain hours", slices.IndexFunc(weeks, feedWeek.certain))
	return plot
}

// hourly is how many entries a feed publishes in each hour of the first week.
func (p Publishing) hourly(f *trace.Timeline) []int {
	counts := make([]int, 7*24)
	for h := range counts {
		from := p.Traces.From.Add(time.Duration(h) * time.Hour)
		counts[h] = f.Count(from, from.Add(time.Hour))
	}
	return counts
}

// lifetimeFigure is Figure 2 (d): how many entries of four feeds, from the most active to the least, are gone by when.
func (p *PublishingResult) lifetimeFigure() *report.Plot {
	week := longest.Hours() / 24
	plot := &report.Plot{Name: "publishing-lifetimes", Title: "Entries that left the document (Figure 2 (d))",
		X: report.Scale{Name: "Days since they came out", Min: 0, Max: week},
		Y: report.Even("Share of the entries (%)", 0, 100)}
	for d := range int(week) + 1 {
		plot.X.Ticks = append(plot.X.Ticks, report.Tick{Value: float64(d), Label: fmt.Sprint(d)})
	}
	var shown []int
	for i := range 4 {
		if at := int(math.Round(float64(i*(len(p.Lifetimes)-1)) / 3)); !slices.Contains(shown, at) {
			shown = append(shown, at)
		}
	}
	for color, at := range shown {
		l := p.Lifetimes[at]
		m := report.Marks{Name: fmt.Sprintf("%s, %d", l.Feed, l.Entries), Width: 2, Color: color}
		for d := 0.; d <= week; d += 1. / 24 {
			gone, _ := slices.BinarySearch(l.hours, min(24*d, longest.Hours()))
			m.X, m.Y = append(m.X, d), append(m.Y, 100*float64(gone)/float64(len(l.hours)))
		}
		plot.Marks = append(plot.Marks, m)
	}
	return plot
}
