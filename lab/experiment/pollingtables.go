package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"feedex/lab"
	"feedex/lab/report"
)

// pollingFigures draws Figures 2 to 4 of Urbansky, and delay against requests.
func pollingFigures(rows []PollingRow) []*report.Plot {
	plots := []*report.Plot{volumeFigure(rows), costFigure(rows), timelyFigure(rows)}
	if polls, feeds := averagesOf(rows, false), averagesOf(rows, true); len(polls) > 0 && len(feeds) > 0 {
		plots = append(plots, pollsFigure("polling-average-polls", "Over all polls (Table 1)", polls),
			pollsFigure("polling-average-feeds", "Over feeds (Table 1)", feeds))
	}
	for i := range rows {
		switch rows[i].Policy {
		case "Fix Learned", "Post Rate", "Moving Average", "FeedEx", "Auto":
			plots = append(plots, intervalFigure(&rows[i]))
		}
	}
	return plots
}

// averagesOf are the policies of Urbansky's Table 1 and the default, over feeds or over polls, as far as they found
// anything.
func averagesOf(rows []PollingRow, feeds bool) (list []averaged) {
	for _, r := range rows {
		a := r.Polls
		if feeds {
			a = r.Feeds
		}
		if color, _ := r.kind(); (r.stated != nil || r.Policy == "Auto") && a.Delay > 0 && a.Polls > 0 {
			list = append(list, averaged{r.Policy, a, color})
		}
	}
	return list
}

// kind is a color and its name: one for the policies of Urbansky, one for ours, and gray for others.
func (r *PollingRow) kind() (color int, name string) {
	switch {
	case r.stated != nil:
		return 0, "in Urbansky's Table 1"
	case r.Policy == "FeedEx" || strings.HasPrefix(r.Policy, "Auto"):
		return 1, "of this program"
	}
	return report.Gray, "others"
}

// byKind has the first marks of each kind in the legend.
func byKind(p *report.Plot, rows []PollingRow) {
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
func volumeFigure(rows []PollingRow) *report.Plot {
	p := &report.Plot{Name: "polling-bytes", Title: "What publishers send, by policy (Figure 2)",
		Y: report.Scale{Min: -.7, Max: float64(len(rows)) - .3}}
	most := 0.0
	for i, r := range rows {
		y, mb := float64(len(rows)-1-i), float64(r.Bytes)/1e6
		color, _ := r.kind()
		p.Marks = append(p.Marks, report.Marks{X: []float64{0, mb}, Y: []float64{y, y}, Width: 14, Color: color})
		p.Y.Ticks = append([]report.Tick{{Value: y, Label: r.Policy + "    "}}, p.Y.Ticks...)
		most = max(most, mb)
	}
	p.X = report.Even("Megabytes", 0, most)
	byKind(p, rows)
	return p
}

// costFigure shows what a policy costs publishers, and what that buys.
func costFigure(rows []PollingRow) *report.Plot {
	p := &report.Plot{
		Name: "polling-delay-requests", Title: "Delay against requests, by policy: best is below left",
		X: report.Decades("Requests at a feed a day", .8, 100),
		Y: report.Decades("Mean delay of entries (minutes)", 10, 1000),
	}
	for i, r := range rows {
		if i > 0 && same(&rows[0], &r) {
			continue // several readers poll every hour
		}
		color, _ := r.kind()
		p.Marks = append(p.Marks, report.Marks{
			X: []float64{r.perDay}, Y: []float64{r.Entries.Mean / 60}, Dots: true, Width: 4, Color: color,
			Label: r.Policy, Before: r.Policy == byFrequency || strings.HasPrefix(r.Policy, "Auto"),
		})
	}
	byKind(p, rows)
	return p
}

// same reports whether two policies did the same.
func same(a, b *PollingRow) bool { return a.Requests == b.Requests && a.Entries == b.Entries }

// timelyFigure is Figure 3: how the delay develops while a policy learns.
func timelyFigure(rows []PollingRow) *report.Plot {
	const smooth = 10
	p := &report.Plot{
		Name:  "polling-timeliness",
		Title: fmt.Sprintf("Delay of feeds with %d entries or more, mean of %d polls (Figure 3)", timelyPolls, smooth),
		X:     report.Even("Polls that found entries", 0, timelyPolls),
		Y:     report.Decades("Mean delay (minutes)", 5, 500),
	}
	color := 0
	for _, r := range rows {
		switch r.Policy {
		case "Fix 1h", "Fix Learned", "Post Rate", "Moving Average", "Auto":
		default:
			continue
		}
		line := report.Marks{Name: r.Policy, Width: 2, Color: color}
		for k := smooth; k <= len(r.timely); k += smooth / 2 {
			line.X, line.Y = append(line.X, float64(k)), append(line.Y, report.Mean(r.timely[k-smooth:k])/60)
		}
		p.Marks = append(p.Marks, line)
		color++
	}
	return p
}

// intervalFigure is Figure 4: a dot for each feed. On the line, a policy polls as often as the feed
// publishes; below it more often.
func intervalFigure(r *PollingRow) *report.Plot {
	names := map[string]string{"Fix Learned": "fix-learned", "Post Rate": "post-rate",
		"Moving Average": "moving-average", "FeedEx": "feedex", "Auto": "auto"}
	const h, d = 60, 24 * 60
	scale := report.Scale{Min: 1, Max: 40 * d, Log: true}
	for i, label := range []string{"2 min", "10 min", "1 h", "6 h", "1 d", "7 d", "31 d"} {
		value := []float64{2, 10, h, 6 * h, d, 7 * d, 31 * d}[i]
		scale.Ticks = append(scale.Ticks, report.Tick{Value: value, Label: label})
	}
	p := &report.Plot{Name: "polling-interval-" + names[r.Policy],
		Title: "Real and predicted intervals of " + r.Policy + " (Figure 4)", X: scale, Y: scale}
	p.X.Name, p.Y.Name = "Mean time between entries", "Mean interval between polls"
	dots := report.Marks{Name: "a feed", Dots: true, Width: 3}
	for i := range r.real {
		dots.X, dots.Y = append(dots.X, r.real[i]/60), append(dots.Y, r.predicted[i]/60)
	}
	p.Marks = []report.Marks{{Name: "polled as often as it publishes", X: []float64{1, 40 * d}, Y: []float64{1, 40 * d},
		Width: 1, Color: report.Gray}, dots}
	return p
}

// pollingTables are the tables of the Polling report.
func pollingTables(rows []PollingRow) []report.Table {
	modes := report.Table{
		Title:   "Average delay in minutes, polls per item, and error (Table 1)",
		Columns: []string{"policy", "by feeds: delay", "polls/item", "error", "by polls: delay", "polls/item", "error"},
		Notes: []string{
			"By feeds: the mean over feeds, those left out in which the policy found nothing. By polls: over all " +
				"polls, so that busy feeds count most.",
			"Delay until a poll finds entries, or until the end for those that none found. Error: delay times polls " +
				"per item.",
		},
	}
	stated := report.Table{Title: "The same as Urbansky states it", Columns: modes.Columns}
	for _, r := range rows {
		modes.Row(r.Policy, averageCells(r.Feeds), averageCells(r.Polls))
		if r.stated != nil {
			stated.Row(r.Policy, averageCells(r.stated[0]), averageCells(r.stated[1]))
		}
	}
	cost := report.Table{
		Title: "Entries, requests and bytes (Figure 2)",
		Columns: []string{"policy", "entries", "delay median", "mean", "95th", "missed", "unread", "requests",
			"a feed a day", "of these 304", "MB"},
		Notes: []string{
			"Delays of entries in minutes. Missed entries left the document before a poll; unread ones are still in " +
				"it at the end.",
		},
	}
	for _, r := range rows {
		cost.Row(r.Policy, r.Published, wholeMinutes(r.Entries.Median), wholeMinutes(r.Entries.Mean),
			wholeMinutes(r.Entries.P95), r.part(r.Missed), r.part(r.Late), r.Requests, r.perDay,
			report.Percent(float64(r.NotModified)/float64(max(1, r.Requests))),
			fmt.Sprintf("%.0f", float64(r.Bytes)/1e6))
	}
	tables := []report.Table{modes, stated, cost}
	if t := timelyTable(rows); len(t.Rows) > 0 {
		tables = append(tables, t)
	}
	return tables
}

// urbanskyTimely is the delay in minutes that Urbansky states of Figure 3, for Moving Average from poll 25 on.
var urbanskyTimely = map[string]float64{"Fix 1h": 30, "Fix Learned": 7, "Moving Average": 8}

// timelyTable is Figure 3 in numbers, without rows where no feed has so many entries.
func timelyTable(rows []PollingRow) report.Table {
	t := report.Table{
		Title: fmt.Sprintf("Mean delay in minutes by the polls that found entries, feeds with %d entries or more "+
			"(Figure 3)", timelyPolls),
		Columns: []string{"policy", "feeds", "polls 1-25", "26-100", "101-300", "Urbansky"},
		Notes:   []string{"Urbansky: of 1,541 feeds; Moving Average from poll 25 on."},
	}
	for _, r := range rows {
		if r.stated == nil && r.Policy != "Auto" || r.lively == 0 {
			continue
		}
		part := func(from, to int) string {
			if len(r.timely) <= from {
				return report.Unknown
			}
			return wholeMinutes(report.Mean(r.timely[from:min(to, len(r.timely))]))
		}
		t.Row(r.Policy, r.lively, part(0, 25), part(25, 100), part(100, timelyPolls),
			report.Known("%.0f", urbanskyTimely[r.Policy]))
	}
	return t
}

// historyTable shows what it is worth to know of more entries than a document lists (Urbansky, §6).
func historyTable(rows []PollingRow) report.Table {
	t := report.Table{
		Title:   "By how many entries the averages are taken over (Urbansky, §6)",
		Columns: []string{"policy", "entries", "delay mean", "median", "missed", "a feed a day", "polls/item"},
		Notes:   []string{"Delays of entries in minutes. Above, Moving Average knows what the document lists."},
	}
	for _, r := range rows {
		if r.remembers > 0 {
			t.Row(r.Policy, r.remembers, wholeMinutes(r.Entries.Mean), wholeMinutes(r.Entries.Median),
				r.part(r.Missed), r.perDay, fmt.Sprintf("%.2f", r.Polls.Polls))
		}
	}
	return t
}

// outlookTable shows what else Urbansky would try, beside the policies that it is made of and Auto (§6).
func outlookTable(rows []PollingRow, saying int) report.Table {
	t := report.Table{
		Title:   "Items by weight, two policies together, and skipHours (Urbansky, §6)",
		Columns: []string{"policy", "delay mean", "median", "missed", "a feed a day", "polls/item", "by polls: error"},
		Notes: []string{fmt.Sprintf("Delays of entries in minutes. skipHours: %d feeds, those of %d entry a day or "+
			"more, say in which hours of the day and on which days of the week none of their entries will come out.",
			saying, skipsFrom)},
	}
	add := func(r *PollingRow) {
		t.Row(r.Policy, wholeMinutes(r.Entries.Mean), wholeMinutes(r.Entries.Median),
			r.part(r.Missed), r.perDay,
			fmt.Sprintf("%.2f", r.Polls.Polls), fmt.Sprintf("%.0f", r.Polls.Error))
	}
	first := len(contenders()) + len(asides())
	for i := range rows[first:] {
		r := &rows[first+i]
		if plain := strings.TrimSuffix(r.Policy, heeding); plain != r.Policy {
			add(&rows[slices.IndexFunc(rows, func(r PollingRow) bool { return r.Policy == plain && r.remembers == 0 })])
		}
		add(r)
	}
	return t
}

// bareFeeds are shares of feeds whose publishers answer no conditional requests: none, those of Urbansky (§1: 83% do),
// and as many as one site of generated feeds has of those of Cobra (§4.1, topix.net: 36,321 of 102,446).
func bareFeeds() []float64 { return []float64{0, .17, 36_321. / 102_446} }

// cascadeTable is what is left of a crawl after each step (Cobra, Figure 8).
func cascadeTable(rows []PollingRow) report.Table {
	t := report.Table{
		Title: "Megabytes that are left of a crawl (Cobra, Figure 8)",
		Columns: []string{"policy", "bare", "all documents", "conditional", "saved", "that changed", "saved",
			"new entries", "saved"},
		Notes: []string{"Bare: the share of the feeds that answer no conditional requests, in the mean over which " +
			"these are: none, that of Urbansky (§1), that of one site in Cobra's crawl (§4.1). Conditional: what is " +
			"received, with the heads of all answers. That changed: documents whose hash is another; new entries: " +
			"those whose hash is.",
			"Cobra states it of 102,446 feeds, polled every 15 minutes: by Last-Modified, and by all steps together."},
	}
	for _, r := range rows {
		if r.Policy != crawler && r.Policy != "Fix 1h" && r.Policy != "Auto" {
			continue
		}
		whole, fresh := float64(r.whole), float64(r.fresh)
		changed := float64(r.Bytes - int64(r.NotModified)*lab.AnswerBytes(0))
		saved := func(left float64) string { return report.Percent(1 - left/max(1, whole)) }
		for _, bare := range bareFeeds() {
			received := bare*whole + (1-bare)*float64(r.Bytes)
			t.Row(r.Policy, fmt.Sprintf("%.0f%%", 100*bare), fmt.Sprintf("%.0f", whole/1e6),
				fmt.Sprintf("%.0f", received/1e6), saved(received), fmt.Sprintf("%.0f", changed/1e6), saved(changed),
				fresh/1e6, saved(fresh))
		}
	}
	none := report.Unknown
	t.Row("Cobra", none, none, none, "57%", none, none, none, "99.8%")
	return t
}

// part writes which share of what was published some entries are.
func (r *PollingRow) part(entries int) string {
	return report.FinePercent(Fraction{entries, r.Published}.of())
}

// averageCells are the columns of one mode.
func averageCells(a Averages) []string {
	return []string{wholeMinutes(a.Delay), fmt.Sprintf("%.2f", a.Polls), fmt.Sprintf("%.0f", a.Error)}
}

// wholeMinutes writes a delay, given in seconds, in minutes: whole ones from ten on.
func wholeMinutes(seconds float64) string {
	if seconds < 600 {
		return report.Minutes(seconds)
	}
	return fmt.Sprintf("%.0f", math.Round(seconds/60))
}
