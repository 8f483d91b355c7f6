package experiment

import (
	"fmt"
	"math"
	"slices"
	"time"

	"feedex/lab/report"
)

// A Stated is a figure or a table of one of the papers, drawn from the numbers that its text states: of most curves it
// states a point or two.
type Stated struct {
	Paper  string // "FeedEx", "Urbansky", "FeedTree", "Cobra" or "Corona"
	Where  string // "Figure 4"
	Says   string // what the text states, in a sentence
	Figure *report.Plot
	Ours   string // the name of the figure of an experiment to look at beside it
}

// StatedFigures are those of which the text of a paper gives numbers, in the order of the papers.
func StatedFigures() []Stated {
	return []Stated{
		{"FeedEx", "Figure 2 (b)", "30 of 245 feeds have 10 entries in a document on average, 79 have 15, and one " +
			"has 126.", statedEntries(), "publishing-entries"},
		{"FeedEx", "Figure 2 (b)", "65% of the feeds, 159, have always as many entries in a document.",
			countFigure("stated-feedex-ranges", "By how much they vary as FeedEx states it (Figure 2 (b))",
				"Most less fewest entries of a feed's documents", make([]int, paperFixed), 60), "publishing-ranges"},
		{"FeedEx", "Figure 4", "5.7 hours alone and within 22 minutes in the exchange at 16 hours; alone about half " +
			"of the interval at short ones.", statedLag(), "paper-lag"},
		{"FeedEx", "Figure 5", "At 16 hours 64% are missing alone and less than 10% in the exchange; at half an hour " +
			"nodes have 2% that the reference node has not.", statedMiss(), "paper-miss"},
		{"FeedEx", "Figure 6", "6.3 checks and 0.9 deliveries a minute at 16 hours; as few as two deliveries at half " +
			"an hour.", statedCalls(), "paper-calls"},
		{"FeedEx", "Table 3", "2.67 to 3.65 entries in a bundle.", statedBundles(), "paper-bundles"},
		{"Urbansky", "Table 1", "Delay and polls per item of five strategies, averaged over polls.",
			pollsFigure("stated-urbansky-polls", "Over all polls, as Urbansky states it (Table 1)", statedAverages(1)),
			"polling-average-polls"},
		{"Urbansky", "Table 1", "The same, averaged over feeds.",
			pollsFigure("stated-urbansky-feeds", "Over feeds, as Urbansky states it (Table 1)", statedAverages(0)),
			"polling-average-feeds"},
		{"Urbansky", "Figure 3", "Fix 1h is 30 minutes late, Fix Learned 7, Moving Average 8 after 25 polls; " +
			"Post Rate is later than both after 300.", statedTimeliness(), "polling-timeliness"},
		{"FeedTree", "§ 4.2.3", "Polls every 30 minutes by as many volunteers as it takes for an event each ten " +
			"minutes: three times as timely.", statedVolunteers(), "followers-delay"},
		{"FeedTree", "Figure 5.9", "The feed of rank x has 12.05 x^-0.36 subscribers of 670 feeds, but for the " +
			"first, which has 22.", statedPopularity(), "interests-popularity"},
		{"Corona", "Table 2", "Detection time and load of six schemes.",
			schemesFigure("stated-corona-schemes", "As Corona's authors state it (Table 2)", coronaSchemes()),
			"corona-schemes"},
	}
}

// paperAxis is the axis of the paper's six intervals, as Figure.Plot has it.
func paperAxis() (x report.Scale, places map[time.Duration]float64) {
	x = report.Scale{Name: "Fetching interval (hours)", Min: -.4, Max: 5.4}
	places = make(map[time.Duration]float64)
	for i, every := range paperIntervals() {
		x.Ticks = append(x.Ticks, report.Tick{Value: float64(i), Label: report.Hours(every)})
		places[every] = float64(i)
	}
	return x, places
}

// point is one value that a text states, with a label.
func point(name string, x, y float64, label string, color int) report.Marks {
	return report.Marks{Name: name, X: []float64{x}, Y: []float64{y}, Dots: true, Width: 5, Label: label, Before: true,
		Color: color}
}

func statedEntries() *report.Plot {
	sizes := slices.Concat(slices.Repeat([]int{10}, paperTen), slices.Repeat([]int{15}, paperFifteen),
		[]int{paperLargest})
	return countFigure("stated-feedex-entries", "Entries in a document as FeedEx states it (Figure 2 (b))",
		"Average number of entries", sizes, 130)
}

func statedLag() *report.Plot {
	x, at := paperAxis()
	half := report.Marks{Name: "half of the interval", Width: 1, Color: report.Gray}
	for _, every := range paperIntervals() {
		half.X, half.Y = append(half.X, at[every]), append(half.Y, every.Hours()/2)
	}
	return &report.Plot{Name: "stated-feedex-lag", Title: "Time lag as FeedEx states it (Figure 4)", X: x,
		Y: report.Even("Time lag (hours)", 0, 8), Marks: []report.Marks{half,
			point("SLN: stand-alone", at[every(16)], 5.7, "5.7 hours", 0),
			point("XCH: exchange", at[every(16)], 22./60, "within 22 minutes", 1)}}
}

func statedMiss() *report.Plot {
	x, at := paperAxis()
	return &report.Plot{Name: "stated-feedex-miss", Title: "Missing entries as FeedEx states it (Figure 5)", X: x,
		Y: report.Even("Entries (%); gain below zero", -5, 70), Marks: []report.Marks{
			point("SLN miss", at[every(16)], 64, "64%", 0),
			point("XCH miss", at[every(16)], 10, "less than 10%", 1),
			{Name: "XCH gain", X: []float64{at[every(.5)]}, Y: []float64{-2}, Dots: true, Width: 5, Label: "2%",
				Color: 3}}}
}

func statedCalls() *report.Plot {
	x, at := paperAxis()
	return &report.Plot{Name: "stated-feedex-calls", Title: "Calls that a node receives as FeedEx states it (Figure 6)",
		X: x, Y: report.Even("Calls per node and minute", 0, 8), Marks: []report.Marks{
			point("check_did", at[every(16)], 6.3, "6.3", 0),
			point("put_entries", at[every(16)], .9, "0.9", 1),
			{X: []float64{at[every(.5)]}, Y: []float64{2}, Dots: true, Width: 5, Label: "as low as two", Color: 1}}}
}

func statedBundles() *report.Plot {
	x, at := paperAxis()
	line := report.Marks{Name: "FeedEx", Width: 2}
	for _, every := range paperIntervals() {
		line.X, line.Y = append(line.X, at[every]), append(line.Y, paperBundle[every])
	}
	dots := line
	dots.Name, dots.Dots, dots.Width = "", true, 4
	return &report.Plot{Name: "stated-feedex-bundles", Title: "Entries in a bundle as FeedEx states it (Table 3)", X: x,
		Y: report.Even("Entries", 0, 4), Marks: []report.Marks{dots, line}}
}

// An averaged is a policy of Urbansky's Table 1, in one of its two modes.
type averaged struct {
	name string
	Averages
	color int
}

// statedAverages is Table 1 by feeds, 0, or by polls, 1.
func statedAverages(mode int) (list []averaged) {
	for _, c := range contenders() {
		if c.stated != nil {
			list = append(list, averaged{c.name, c.stated[mode], 0})
		}
	}
	return list
}

// pollsFigure has a dot for each policy: what it costs, and how late it is.
func pollsFigure(name, title string, list []averaged) *report.Plot {
	p := &report.Plot{Name: name, Title: title, X: report.Decades("Polls per item", .2, 500),
		Y: report.Decades("Delay (minutes)", 2, 5000)}
	for i, a := range list {
		m := report.Marks{X: []float64{a.Polls}, Y: []float64{a.Delay / 60}, Dots: true, Width: 5, Color: a.color,
			Label: a.name, Before: a.Polls > 30}
		if i == 0 {
			m.Name = "a policy"
		}
		p.Marks = append(p.Marks, m)
	}
	return p
}

func statedTimeliness() *report.Plot {
	line := func(name string, from float64, color int) report.Marks {
		minutes := urbanskyTimely[name]
		return report.Marks{Name: name, X: []float64{from, timelyPolls}, Y: []float64{minutes, minutes}, Width: 2,
			Color: color}
	}
	return &report.Plot{Name: "stated-urbansky-timeliness", Title: "Delay while a policy learns, as Urbansky states " +
		"it (Figure 3)", X: report.Even("Polls that found entries", 0, timelyPolls),
		Y: report.Decades("Mean delay (minutes)", 5, 500), Marks: []report.Marks{line("Fix 1h", 0, 0),
			line("Fix Learned", 0, 1), line("Moving Average", 25, 3)}}
}

func statedVolunteers() *report.Plot {
	x := report.Scale{Name: "Subscribers of a feed", Min: 0, Max: 14}
	for n := 1; n <= 13; n += 2 {
		x.Ticks = append(x.Ticks, report.Tick{Value: float64(n), Label: fmt.Sprint(n)})
	}
	// Events at random times of a rate that n nodes with polls every 30 minutes make, three at most.
	m := report.Marks{Name: "half of 30 minutes, shared by up to three", Width: 2}
	for n := 1; n <= 13; n++ {
		m.X, m.Y = append(m.X, float64(n)), append(m.Y, 15/float64(min(n, 3)))
	}
	return &report.Plot{Name: "stated-feedtree-volunteers", Title: "Delay by FeedTree's own figures (§ 4.2.3)", X: x,
		Y: report.Even("Delay (minutes)", 0, 16), Marks: []report.Marks{m}}
}

func statedPopularity() *report.Plot {
	m := report.Marks{Name: "12.05 x^-0.36", Width: 2}
	for rank := 1.0; rank <= 670; rank *= 1.2 {
		m.X, m.Y = append(m.X, rank), append(m.Y, 12.05*math.Pow(rank, -.36))
	}
	return &report.Plot{Name: "stated-feedtree-popularity",
		Title: "Subscribers by rank, as FeedTree states it (Figure 5.9)",
		X:     report.Decades("Rank of the feed", 1, 670), Y: report.Decades("Subscribers", 1, 30),
		Marks: []report.Marks{m, {Name: "Slashdot", X: []float64{1}, Y: []float64{22}, Dots: true, Width: 5, Color: 1}}}
}

// popularityFigure is the number of followers of each feed by its rank.
func popularityFigure(followers []int) *report.Plot {
	m := report.Marks{Name: "a feed", Dots: true, Width: 3}
	for i, n := range followers {
		if n == 0 {
			break
		}
		m.X, m.Y = append(m.X, float64(i+1)), append(m.Y, float64(n))
	}
	if len(m.X) == 0 {
		return nil
	}
	return &report.Plot{Name: "interests-popularity", Title: "Followers of feeds by rank",
		X: report.Decades("Rank of the feed", 1, float64(len(m.X)+1)), Y: report.Decades("Followers", 1, m.Y[0]+1),
		Marks: []report.Marks{m}}
}

// A scheme is a row of Corona's Table 2.
type scheme struct {
	name            string
	detection, load float64 // seconds; polls in 30 minutes at a channel
	color           int
}

// coronaSchemes are the rows of Corona's Table 2.
func coronaSchemes() []scheme {
	return []scheme{{"Legacy-RSS", 900, 50, 0}, {"Corona-Lite", 53, 48.97, 1}, {"Corona-Fair", 142, 50.14, 1},
		{"Corona-Fair-Sqrt", 55, 49.46, 1}, {"Corona-Fair-Log", 53, 49.43, 1}, {"Corona-Fast", 32, 58.75, 1}}
}

// schemesFigure has a dot for each scheme.
func schemesFigure(name, title string, list []scheme) *report.Plot {
	p := &report.Plot{Name: name, Title: title, X: report.Decades("Polls at a channel in 30 minutes", 1, 100),
		Y: report.Decades("Detection time (seconds)", 10, 2000)}
	for i, s := range list {
		m := report.Marks{X: []float64{s.load}, Y: []float64{s.detection}, Dots: true, Width: 5, Color: s.color,
			Label: s.name, Before: i%2 == 0}
		if i == 0 {
			m.Name = "a scheme"
		}
		p.Marks = append(p.Marks, m)
	}
	return p
}
