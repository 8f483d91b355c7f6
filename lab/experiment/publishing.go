package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"feedex/lab"
	"feedex/lab/report"
	"feedex/lab/trace"
)

// Publishing is the survey of Paper §2, what feeds publish and what their documents hold, on the traces: its Figure 2.
type Publishing struct {
	Seed      lab.Seed // of made-up traces; nothing else here is chance
	Traces    *trace.Set
	Documents []trace.Documents // of feeds of which entries were counted; Figures 2 (b) and (d) are of these alone
}

// PublishingResult is the Result of a Publishing's Report.
type PublishingResult struct {
	Rates     []float64     `json:"rates"` // entries a day by rank, Figure 2 (a)
	Lines     []ZipfLine    `json:"lines"`
	Documents DocumentSizes `json:"documents"` // Figure 2 (b)
	Weeks     []Week        `json:"weeks"`     // by kind of feed, of all first; Figure 2 (c)
	Lifetimes []Lifetimes   `json:"lifetimes"` // Figure 2 (d)
}

// Run works all of it out. If ctx ended before, the Report says so.
func (p Publishing) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	r := newReport("What feeds publish (FeedEx, §2 and Figure 2)", p.Seed, p.Traces)
	if progress != nil {
		progress(0)
	}
	switch {
	case len(p.Traces.Feeds) == 0:
		return nil, impossible("no feeds in the traces; want one or more")
	case ctx.Err() != nil:
		r.Partial = "interrupted before it began"
		return r, nil
	}
	result := PublishingResult{Documents: sizesOf(p.Documents), Lifetimes: p.lifetimes()}
	entries := 0
	for _, f := range p.Traces.Busy(0) {
		n := f.Count(p.Traces.From, p.Traces.To)
		entries += n
		result.Rates = append(result.Rates, float64(n)/p.days())
	}
	// Between the paper's ranks, over either half of them, and above.
	for _, ranks := range [][2]int{{30, 200}, {30, 100}, {100, 200}, {1, 30}} {
		if line, ok := zipfLine(result.Rates, ranks[0], ranks[1]); ok {
			result.Lines = append(result.Lines, line)
		}
	}
	weeks := p.weeks()
	result.Weeks = byKinds(weeks)
	r.Setting = []string{
		fmt.Sprintf("%d feeds, which publish %d entries from %s on for %.0f days; documents of %d feeds",
			len(p.Traces.Feeds), entries, p.Traces.From.Format("Monday 2006-01-02 15:04 MST"), p.days(),
			len(p.Documents)),
		"\"paper\" is what the paper states of 245 popular feeds that it polled every two minutes for ten days.",
	}
	r.Result = result
	for _, t := range []report.Table{result.rateTable(), result.documentTable(), result.weekTable(),
		result.lifetimeTable()} {
		if len(t.Rows) > 0 {
			r.Tables = append(r.Tables, t)
		}
	}
	r.Plots = p.figures(result, weeks)
	r.Took(report.HashOf(fmt.Sprint(r.Tables)), int64(entries))
	return r, nil
}

// days is how long the traces are.
func (p Publishing) days() float64 { return p.Traces.To.Sub(p.Traces.From).Hours() / 24 }

// A ZipfLine is the line of Zipf's law through the rates of a range of ranks: the feed of rank r publishes
// Scale / r^Exponent entries a day.
type ZipfLine struct {
	First    int     `json:"first"` // ranks, from 1 on
	Last     int     `json:"last"`
	Exponent float64 `json:"exponent"`
	Scale    float64 `json:"scale"`
	R2       float64 `json:"r2"` // of the logarithms
}

// zipfLine fits the line, in the logarithms of both, unless there are no such ranks or one of these feeds is silent.
func zipfLine(rates []float64, first, last int) (ZipfLine, bool) {
	if len(rates) < last || rates[last-1] == 0 {
		return ZipfLine{}, false
	}
	var x, y []float64
	for rank := first; rank <= last; rank++ {
		x, y = append(x, math.Log(float64(rank))), append(y, math.Log(rates[rank-1]))
	}
	slope, height, r2 := report.Fit(x, y)
	return ZipfLine{first, last, -slope, math.Exp(height), r2}, true
}

// at is the line's rate at a rank.
func (l ZipfLine) at(rank float64) float64 { return l.Scale * math.Pow(rank, -l.Exponent) }

// DocumentSizes is how many entries documents list.
type DocumentSizes struct {
	Feeds  int   `json:"feeds"`
	Fixed  int   `json:"fixed"` // of these, always the same number
	Sizes  []int `json:"sizes"` // the usual number of each, ascending
	Ranges []int `json:"ranges"`
	// R2 is the share of the variance of the number of entries that a line by the rate explains.
	R2 float64 `json:"r2"`
}

func sizesOf(documents []trace.Documents) DocumentSizes {
	s := DocumentSizes{Feeds: len(documents)}
	var rates, sizes []float64
	for _, d := range documents {
		if d.Most == d.Least {
			s.Fixed++
		}
		s.Sizes, s.Ranges = append(s.Sizes, d.Usual), append(s.Ranges, d.Most-d.Least)
		rates, sizes = append(rates, d.PerDay), append(sizes, float64(d.Usual))
	}
	slices.Sort(s.Sizes)
	slices.Sort(s.Ranges)
	_, _, s.R2 = report.Fit(rates, sizes)
	return s
}

// have is how many feeds have usually so many entries in a document.
func (s *DocumentSizes) have(entries int) (n int) {
	for _, size := range s.Sizes {
		if size == entries {
			n++
		}
	}
	return n
}

// A feedWeek is when a feed publishes.
type feedWeek struct {
	feed    *trace.Timeline
	busy    float64 // share of its entries in the eight busiest hours of the day, one after the other
	weekend float64 // entries on a day of the weekend, UTC, for each on a weekday
	hours   int     // of the day, the fewest that have nine tenths of its entries
}

// weekRate is how many entries a day a feed publishes at least, for its hours and days to say something.
const weekRate = 1

// weeks are those of the feeds of weekRate and more, the most active first.
func (p Publishing) weeks() (all []feedWeek) {
	feeds := p.Traces.Busy(weekRate)
	var days [7]float64 // of the span
	for t := p.Traces.From; t.Before(p.Traces.To); t = t.Add(24 * time.Hour) {
		days[t.Weekday()]++
	}
	for i := range feeds {
		w := feedWeek{feed: &feeds[i]}
		var hours [24]float64
		var weekdays [7]float64
		entries := 0.
		for _, unix := range w.feed.Times {
			if t := time.Unix(unix, 0).UTC(); !t.Before(p.Traces.From) {
				hours[t.Hour()]++
				weekdays[t.Weekday()]++
				entries++
			}
		}
		for first := range hours {
			part := 0.
			for h := range 8 {
				part += hours[(first+h)%24]
			}
			w.busy = max(w.busy, part/entries)
		}
		slices.SortFunc(hours[:], func(a, b float64) int { return cmp.Compare(b, a) })
		for part := 0.; part < .9*entries; w.hours++ {
			part += hours[w.hours]
		}
		rest := weekdays[time.Saturday] + weekdays[time.Sunday]
		work := (entries - rest) / max(1, days[1]+days[2]+days[3]+days[4]+days[5])
		w.weekend = rest / max(1, days[time.Saturday]+days[time.Sunday]) / max(work, 1e-9)
		all = append(all, w)
	}
	return all
}

const (
	restsAt      = .05 // of a weekday's entries: hours of the evening are another day elsewhere
	certainHours = 6   // of the day
)

// rests reports whether the feed rests at weekends.
func (w feedWeek) rests() bool { return w.weekend < restsAt }

// certain reports whether the feed publishes at certain hours.
func (w feedWeek) certain() bool { return w.hours <= certainHours }

// A Week sums up when the feeds of a kind publish.
type Week struct {
	Kind    string        `json:"kind"`
	Feeds   int           `json:"feeds"`
	Busy    report.Spread `json:"busy"`    // share in the eight busiest hours of the day; a third is even
	Weekend report.Spread `json:"weekend"` // entries on a day of the weekend for each on a weekday
	Resting int           `json:"resting"` // feeds at weekends
	Certain int           `json:"certain"` // feeds that publish at certain hours
}

// byKinds sums up weeks, of all feeds and then of each kind.
func byKinds(weeks []feedWeek) (rows []Week) {
	if len(weeks) == 0 {
		return nil
	}
	kinds := []string{"all"}
	for _, w := range weeks {
		if !slices.Contains(kinds, w.feed.Kind) {
			kinds = append(kinds, w.feed.Kind)
		}
	}
	for i, kind := range kinds {
		row := Week{Kind: kind}
		var busy, weekend []float64
		for _, w := range weeks {
			if i > 0 && w.feed.Kind != kind {
				continue
			}
			busy, weekend = append(busy, w.busy), append(weekend, w.weekend)
			if w.rests() {
				row.Resting++
			}
			if w.certain() {
				row.Certain++
			}
		}
		row.Feeds, row.Busy, row.Weekend = len(busy), report.SpreadOf(busy), report.SpreadOf(weekend)
		rows = append(rows, row)
	}
	return rows
}

// Lifetimes is for how long a feed's document lists an entry, where it lists as many as usual and the newest of them.
type Lifetimes struct {
	Feed    string        `json:"feed"`
	PerDay  float64       `json:"per_day"`
	Entries int           `json:"entries"` // in a document
	Hours   report.Spread `json:"hours"`   // those still listed after a week count as a week
	Listed  float64       `json:"listed"`  // share of the entries that are, after a week

	hours []float64 // ascending
}

// longest is the time up to which lifetimes are known: of the entries that came out so long before the end of the
// traces, all are.
const longest = 7 * 24 * time.Hour

// lifetimes are those of feeds of leastRate entries a day of which documents were seen, the most active first.
func (p Publishing) lifetimes() (rows []Lifetimes) {
	usual := make(map[string]int)
	for _, d := range p.Documents {
		usual[d.Name] = d.Usual
	}
	end := p.Traces.To.Add(-longest).Unix()
	for _, f := range p.Traces.Busy(leastRate) {
		row := Lifetimes{Feed: f.Name, PerDay: float64(f.Count(p.Traces.From, p.Traces.To)) / p.days(),
			Entries: usual[f.Name]}
		listed := 0
		for i, t := range f.Times {
			if row.Entries == 0 || t < p.Traces.From.Unix() || t >= end {
				continue
			}
			life := longest.Seconds()
			if i+row.Entries < len(f.Times) {
				life = min(life, float64(f.Times[i+row.Entries]-t))
			}
			if life == longest.Seconds() {
				listed++
			}
			row.hours = append(row.hours, life/3600)
		}
		if len(row.hours) > 0 {
			slices.Sort(row.hours)
			row.Hours, row.Listed = report.SpreadOf(row.hours), float64(listed)/float64(len(row.hours))
			rows = append(rows, row)
		}
	}
	return rows
}
