package report

import (
	"fmt"
	"io"
	"math"

	"github.com/wcharczuk/go-chart/v2"
	"github.com/wcharczuk/go-chart/v2/drawing"
)

// A Plot is a chart of points in a plane.
type Plot struct {
	Name  string // of its file, without the suffix
	Title string
	X, Y  Scale
	Marks []Marks
}

// A Scale is an axis of a Plot.
type Scale struct {
	Name     string // what it shows, with the unit
	Min, Max float64
	Log      bool // in which case Min and what is shown are above 0
	Ticks    []Tick
}

// A Tick is a value with its name.
type Tick struct {
	Value float64
	Label string
}

// Marks are points that belong together.
type Marks struct {
	Name   string // for the legend, "" to leave them out of it
	X, Y   []float64
	Label  string  // right of the last point, "" for none
	Before bool    // the label is left of it
	Dots   bool    // single points, in place of a line through them
	Width  float64 // of the line or the dots, in pixels
	Color  int     // the place in the palette, or Gray
}

// Gray is the color of what is there for comparison.
const Gray = -1

// WriteSVG draws it. What is outside a Scale is drawn at its end.
func (p *Plot) WriteSVG(w io.Writer) error {
	var series []chart.Series
	for i := range p.Marks {
		m := &p.Marks[i]
		style := chart.Style{StrokeColor: m.color(), StrokeWidth: m.Width}
		if m.Dots {
			style = chart.Style{StrokeWidth: chart.Disabled, DotWidth: m.Width, DotColor: m.color().WithAlpha(150)}
		}
		s := chart.ContinuousSeries{Style: style, YAxis: chart.YAxisSecondary}
		for i := range m.X {
			s.XValues, s.YValues = append(s.XValues, p.X.place(m.X[i])), append(s.YValues, p.Y.place(m.Y[i]))
		}
		series = append(series, s)
		if n := len(m.X); m.Label != "" && n > 0 {
			series = append(series, label{m.Label, m.Before, s.XValues[n-1], s.YValues[n-1]})
		}
	}
	grid := chart.Style{StrokeColor: drawing.ColorFromHex("DDDDDD"), StrokeWidth: 1}
	c := chart.Chart{
		Width: 760, Height: 460,
		Background: chart.Style{Padding: chart.Box{Top: 84, Left: 20, Right: 20, Bottom: 15}},
		XAxis: chart.XAxis{Name: p.X.Name, Ticks: p.X.ticks(), Range: p.X.span(), GridMajorStyle: grid,
			GridMinorStyle: grid},
		YAxis: chart.YAxis{Style: chart.Hidden(), Ticks: p.Y.ticks(), Range: p.Y.span()},
		// The library calls the axis on the left the secondary one, and takes its range from the other.
		YAxisSecondary: chart.YAxis{Ticks: p.Y.ticks(), Range: p.Y.span(), GridMajorStyle: grid, GridMinorStyle: grid},
		Series:         series,
		Elements:       []chart.Renderable{p.heading},
	}
	if err := c.Render(chart.SVG, w); err != nil {
		return fmt.Errorf("draw %s: %w", p.Name, err)
	}
	return nil
}

// color is that of the marks.
func (m *Marks) color() drawing.Color {
	if m.Color == Gray {
		return drawing.ColorFromHex("999999")
	}
	return colors()[m.Color%len(colors())]
}

// heading draws the title, below it the names of the marks in their colors, and above its axis the name of the axis on
// the left: beside it, turned, it would stand in the values, which are wider in a browser than the library knows.
func (p *Plot) heading(r chart.Renderer, box chart.Box, defaults chart.Style) {
	write := func(text string, x, y int, size float64, color drawing.Color) int {
		style := chart.Style{FontSize: size, FontColor: color}.InheritFrom(defaults)
		chart.Draw.Text(r, text, x, y, style)
		return chart.Draw.MeasureText(r, text, style).Width()
	}
	const left = 20
	write(p.Title, left, 24, 11, chart.ColorBlack)
	write(p.Y.Name, left, 72, 9, chart.DefaultTextColor)
	x := left
	for i := range p.Marks {
		if m := &p.Marks[i]; m.Name != "" {
			x += 24 + write(m.Name, x, 46, 9, m.color())
		}
	}
}

// A label is a text beside a point.
type label struct {
	text   string
	before bool
	x, y   float64
}

// The methods of a label implement chart.Series.

func (l label) GetName() string           { return "" }
func (l label) GetYAxis() chart.YAxisType { return chart.YAxisSecondary }
func (l label) GetStyle() chart.Style     { return chart.Style{} }
func (l label) Validate() error           { return nil }
func (l label) Render(r chart.Renderer, box chart.Box, x, y chart.Range, defaults chart.Style) {
	style := chart.Style{FontSize: 8, FontColor: chart.ColorBlack}.InheritFrom(defaults)
	left := box.Left + x.Translate(l.x) + 7
	if l.before {
		left -= 24 + chart.Draw.MeasureText(r, l.text, style).Width()
	}
	chart.Draw.Text(r, l.text, left, box.Bottom-y.Translate(l.y)+4, style)
}

// place is where a value stands.
func (s *Scale) place(v float64) float64 {
	if v = min(max(v, s.Min), s.Max); s.Log {
		return math.Log10(v)
	}
	return v
}

func (s *Scale) span() chart.Range {
	return &chart.ContinuousRange{Min: s.place(s.Min), Max: s.place(s.Max)}
}

// ticks are those of the scale and one without a name at each end, as the library draws from the first to
// the last.
func (s *Scale) ticks() []chart.Tick {
	ticks := []chart.Tick{{Value: s.place(s.Min)}}
	for _, t := range s.Ticks {
		ticks = append(ticks, chart.Tick{Value: s.place(t.Value), Label: t.Label})
	}
	return append(ticks, chart.Tick{Value: s.place(s.Max)})
}
