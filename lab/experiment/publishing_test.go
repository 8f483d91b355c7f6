package experiment

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"feedex/lab/report"
	"feedex/lab/trace"
)

// What Paper §2 says of feeds is held against the recorded ones: what holds of it, and what does not. The run
// is what docs/evaluation/publishing.md shows.
func TestPublishing(t *testing.T) {
	documents, err := trace.EmbeddedDocuments()
	if err != nil {
		t.Fatal(err)
	}
	r := ran(t, Publishing{Seed: 1, Traces: embedded(t), Documents: documents}.Run)
	checkDrawings(t, r.All())
	wantPage(t, "publishing", r)
	result := r.Result.(PublishingResult)

	// Zipf's law fits up to rank 100 and not up to rank 200: the line would have to bend. The first feed is below it.
	whole, upper, lower, head := result.Lines[0], result.Lines[1], result.Lines[2], result.Lines[3]
	if upper.R2 < .98 || whole.R2 > .95 || lower.Exponent < 2*upper.Exponent || head.Exponent > upper.Exponent {
		t.Errorf("the lines are %+v", result.Lines)
	}
	if first, last := result.Rates[0], result.Rates[244]; first > upper.at(1)/2 || last > upper.at(245)/2 {
		t.Errorf("the first feed publishes %v a day and that of rank 245 %v, where the line has %v and %v", first, last,
			upper.at(1), upper.at(245))
	}

	// About as many documents as the paper's have a fixed number of entries, which has as little to do with rates.
	d := result.Documents
	fixed, stated := float64(d.Fixed)/float64(d.Feeds), float64(paperFixed)/paperFeeds
	if math.Abs(fixed-stated) > .05 || d.R2 > paperR2 {
		t.Errorf("%.2f of the documents have a fixed number of entries, R² %.2f", fixed, d.R2)
	}
	if ten, fifteen := d.have(10), d.have(15); ten < d.Feeds/10 || fifteen > d.Feeds/20 {
		t.Errorf("%d documents of %d have 10 entries, %d have 15", ten, d.Feeds, fifteen)
	}

	// Rates go by the hour and the day.
	if all := result.Weeks[0]; all.Busy.Median < .5 || all.Weekend.Median > .6 || all.Resting < all.Feeds/10 ||
		all.Certain == 0 {
		t.Errorf("the feeds' weeks are %+v", all)
	}

	// The more a feed publishes, the shorter its entries live.
	var rates, hours []float64
	for _, l := range result.Lifetimes {
		rates, hours = append(rates, math.Log(l.PerDay)), append(hours, math.Log(l.Hours.Median))
	}
	if slope, _, r2 := report.Fit(rates, hours); len(rates) < 10 || slope > -.5 || r2 < .3 {
		t.Errorf("lifetimes of %d feeds go by the rate to the power of %.2f, R² %.2f", len(rates), slope, r2)
	}
	if l := result.Lifetimes[0]; l.Hours.P95 > 24 {
		t.Errorf("of the busiest feed entries live for %+v hours", l.Hours)
	}

	wantPage(t, "publishing", r)
}

// Each measure is right where it can be worked out by hand.
func TestMeasuresOfPublishing(t *testing.T) {
	var rates []float64
	for rank := 1.; rank <= 50; rank++ {
		rates = append(rates, 90*math.Pow(rank, -1.5))
	}
	line, ok := zipfLine(rates, 10, 50)
	if !ok || math.Abs(line.Exponent-1.5) > 1e-9 || math.Abs(line.at(1)-90) > 1e-6 || math.Abs(line.R2-1) > 1e-9 {
		t.Errorf("90 / rank^1.5 is fitted by %+v", line)
	}
	if _, ok := zipfLine(append(rates, 0), 10, 51); ok {
		t.Error("a line goes through a silent feed")
	}

	// From a Monday on, two weeks: an entry at nine on each weekday; and one each hour, always.
	from := time.Date(2026, 7, 6, 0, 0, 0, 0, time.UTC)
	set := &trace.Set{From: from, To: from.AddDate(0, 0, 14)}
	office, robot := trace.Timeline{Name: "office", Kind: "blog"}, trace.Timeline{Name: "robot", Kind: "news"}
	for h := range 14 * 24 {
		at := from.Add(time.Duration(h) * time.Hour)
		robot.Times = append(robot.Times, at.Unix())
		if at.Hour() == 9 && h/24%7 < 5 {
			office.Times = append(office.Times, at.Unix(), at.Unix())
		}
	}
	set.Feeds = []trace.Timeline{office, robot}
	p := Publishing{Traces: set, Documents: []trace.Documents{
		{Name: "robot", Least: 10, Usual: 12, Most: 15, PerDay: 24},
		{Least: 5, Usual: 5, Most: 5, PerDay: 1}, {Least: 19, Usual: 19, Most: 19, PerDay: 24},
	}}
	weeks := p.weeks()
	if w := weeks[0]; w.busy != 1./3 || w.weekend != 1 || w.hours != 22 || w.rests() || w.certain() {
		t.Errorf("the week of one entry an hour is %+v", w)
	}
	if w := weeks[1]; w.busy != 1 || w.weekend != 0 || w.hours != 1 || !w.rests() || !w.certain() {
		t.Errorf("the week of entries at nine on weekdays is %+v", w)
	}
	if d := sizesOf(p.Documents); d.Fixed != 2 || !slices.Equal(d.Sizes, []int{5, 12, 19}) ||
		!slices.Equal(d.Ranges, []int{0, 0, 5}) || math.Abs(d.R2-.75) > .001 {
		t.Errorf("documents sum up to %+v", d)
	}
	if l := p.lifetimes(); len(l) != 1 || l[0].Feed != "robot" || l[0].Hours.P5 != 12 || l[0].Hours.P95 != 12 ||
		l[0].Listed != 0 || len(l[0].hours) != 7*24 {
		t.Errorf("lifetimes are %+v", l)
	}
	p.Documents[0].Usual = 200
	if l := p.lifetimes(); l[0].Listed != 1 || l[0].Hours.Median != longest.Hours() {
		t.Errorf("lifetimes in a document of 200 entries are %+v", l)
	}
}

// Where traces lack something the rest is shown; without any feed, the user is told.
func TestPublishingOfOtherTraces(t *testing.T) {
	r, err := Publishing{Traces: trace.Synthetic(1, trace.Synthesis{Feeds: 2, Days: 3})}.Run(t.Context(), nil)
	if err != nil || len(r.Tables) != 1 {
		t.Errorf("%d tables of two feeds, %v", len(r.Tables), err)
	}
	checkDrawings(t, r.All())
	silent := &trace.Set{From: time.Unix(0, 0), To: time.Unix(864000, 0), Feeds: []trace.Timeline{{Name: "silent"}}}
	if r, err = (Publishing{Traces: silent}).Run(t.Context(), nil); err != nil || len(r.Tables) != 0 {
		t.Errorf("%d tables of a feed that publishes nothing, %v", len(r.Tables), err)
	}
	if _, err := (Publishing{Traces: &trace.Set{}}).Run(context.Background(), nil); !errors.Is(err, ErrSetting) {
		t.Errorf("no feeds: %v", err)
	}
}
