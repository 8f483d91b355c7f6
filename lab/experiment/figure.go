package experiment

import (
	"fmt"
	"io"
	"time"

	"github.com/wcharczuk/go-chart/v2"
	"github.com/wcharczuk/go-chart/v2/drawing"
)

// A Figure is a chart over a few named points, intervals for instance, that lie at equal distances.
type Figure struct {
	Name   string // of its file, without the suffix
	Title  string
	X, Y   string // what the axes show, with the unit
	Points []string
	Lines  []Line
}

// A Line is one line of a Figure: a value at each point and, where Low and High are not nil, an error bar.
type Line struct {
	Name              string
	Values, Low, High []float64
	Dashed            bool
}

// colors tell lines apart, also for those who see few colors (the palette of Okabe and Ito).
func colors() []drawing.Color {
	return []drawing.Color{
		drawing.ColorFromHex("0072B2"), drawing.ColorFromHex("D55E00"), drawing.ColorFromHex("009E73"),
		drawing.ColorFromHex("CC79A7"), drawing.ColorFromHex("000000"),
	}
}

// File implements Drawing.
func (f *Figure) File() string { return f.Name }

// WriteSVG draws the figure.
func (f *Figure) WriteSVG(w io.Writer) error {
	var ticks []chart.Tick
	for i, p := range f.Points {
		ticks = append(ticks, chart.Tick{Value: float64(i), Label: p})
	}
	low, high := 0.0, 0.0
	var series []chart.Series
	for i, l := range f.Lines {
		color := colors()[i%len(colors())]
		style := chart.Style{StrokeColor: color, StrokeWidth: 2, DotColor: color, DotWidth: 3}
		if l.Dashed {
			style.StrokeDashArray, style.DotWidth = []float64{5, 4}, chart.Disabled
		}
		var xs []float64
		// Error bars of lines next to each other must not hide one another.
		shift := 0.06 * (float64(i) - float64(len(f.Lines)-1)/2)
		for p := range l.Values {
			xs = append(xs, float64(p)+shift)
			low, high = min(low, l.Values[p]), max(high, l.Values[p])
			if l.Low != nil {
				low, high = min(low, l.Low[p], l.High[p]), max(high, l.Low[p], l.High[p])
				series = append(series, errorBar(xs[p], l.Low[p], l.High[p], color)...)
			}
		}
		series = append(series, chart.ContinuousSeries{Name: l.Name, Style: style, XValues: xs, YValues: l.Values})
	}
	c := chart.Chart{
		Title: f.Title, TitleStyle: chart.Style{FontSize: 11},
		Width: 760, Height: 440,
		Background: chart.Style{Padding: chart.Box{Top: 45, Left: 20, Right: 20, Bottom: 15}},
		XAxis:      chart.XAxis{Name: f.X, Ticks: ticks, Range: &chart.ContinuousRange{Min: -.3, Max: float64(len(f.Points)) - .7}},
		YAxis: chart.YAxis{
			Name: f.Y, Range: &chart.ContinuousRange{Min: 1.05 * low, Max: 1.05 * high},
			ValueFormatter: func(v any) string { return fmt.Sprintf("%.4g", v) },
			GridMajorStyle: chart.Style{StrokeColor: drawing.ColorFromHex("DDDDDD"), StrokeWidth: 1},
		},
		Series: series,
	}
	c.Elements = []chart.Renderable{chart.Legend(&c)}
	if err := c.Render(chart.SVG, w); err != nil {
		return fmt.Errorf("draw %s: %w", f.Name, err)
	}
	return nil
}

// errorBar is a bar from low to high with a short line at each end. It has no name, so the legend leaves it
// out.
func errorBar(x, low, high float64, color drawing.Color) []chart.Series {
	style := chart.Style{StrokeColor: color, StrokeWidth: 1}
	const wing = .03
	line := func(x1, y1, x2, y2 float64) chart.Series {
		return chart.ContinuousSeries{Style: style, XValues: []float64{x1, x2}, YValues: []float64{y1, y2}}
	}
	return []chart.Series{line(x, low, x, high), line(x-wing, low, x+wing, low), line(x-wing, high, x+wing, high)}
}

// paperFigures draws Figures 4 to 6.
func paperFigures(rows []PaperRow) []Figure {
	var points []string
	for _, r := range rows {
		points = append(points, hours(r.Every))
	}
	pick := func(name string, unit float64, of func(PaperRow) Spread) Line {
		l := Line{Name: name}
		for _, r := range rows {
			s := of(r)
			l.Values, l.Low, l.High = append(l.Values, s.Mean/unit), append(l.Low, s.P5/unit), append(l.High, s.P95/unit)
		}
		return l
	}
	plain := func(name string, of func(PaperRow) float64) Line {
		l := Line{Name: name, Dashed: true}
		for _, r := range rows {
			l.Values = append(l.Values, of(r))
		}
		return l
	}
	const interval = "Fetching interval (hours)"
	minute, cent := time.Minute.Seconds(), .01
	return []Figure{
		{Name: "paper-lag", Title: "Time lag of the nodes: mean, 5th to 95th percentile (Figure 4)", X: interval, Y: "Time lag (hours)", Points: points, Lines: []Line{
			pick("SLN: stand-alone", 3600, func(r PaperRow) Spread { return r.Alone.Lag }),
			pick("XCH: exchange", 3600, func(r PaperRow) Spread { return r.Exchange.Lag }),
		}},
		{Name: "paper-lag-limits", Title: "Time lag of exchange against what the same polls allow", X: interval, Y: "Time lag (minutes)", Points: points, Lines: []Line{
			pick("XCH: exchange", minute, func(r PaperRow) Spread { return r.Exchange.Lag }),
			plain("random phases, T/(n+1)", func(r PaperRow) float64 { return r.Random / minute }),
			plain("staggered, T/2n", func(r PaperRow) float64 { return r.Staggered / minute }),
			plain("staggered, shared by demand", func(r PaperRow) float64 { return r.Shared / minute }),
		}},
		{Name: "paper-miss", Title: "Missing entries, of those of the reference node (Figure 5)", X: interval, Y: "Entries (%); gain below zero", Points: points, Lines: []Line{
			pick("SLN miss", cent, func(r PaperRow) Spread { return r.Alone.RefMiss }),
			pick("XCH miss", cent, func(r PaperRow) Spread { return r.Exchange.RefMiss }),
			pick("SLN gain", -cent, func(r PaperRow) Spread { return r.Alone.RefGain }),
			pick("XCH gain", -cent, func(r PaperRow) Spread { return r.Exchange.RefGain }),
		}},
		{Name: "paper-calls", Title: "Calls that a node receives (Figure 6)", X: interval, Y: "Calls per node and minute", Points: points, Lines: []Line{
			pick("check_did and check_dids", 1, func(r PaperRow) Spread { return r.Checks }),
			pick("put_entries", 1, func(r PaperRow) Spread { return r.Puts }),
			plain("checks, settled", func(r PaperRow) float64 { return r.Settled.Checks }),
			plain("put_entries, settled", func(r PaperRow) float64 { return r.Settled.Puts }),
		}},
	}
}
