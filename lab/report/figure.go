package report

import (
	"fmt"
	"math"

	"github.com/wcharczuk/go-chart/v2/drawing"
)

// A Figure is a chart over a few named points, intervals for instance, that lie at equal distances.
type Figure struct {
	Name   string // of its file, without the suffix
	Title  string
	X, Y   string // what the axes show, with the unit
	Points []string
	Lines  []Curve
	Log    bool // the axis of the values is logarithmic: all of them are above 0
}

// A Curve is one line of a Figure: a value at each point and, where Low and High are not nil, an error bar.
type Curve struct {
	Name              string
	Values, Low, High []float64
	Thin              bool // for comparison
}

// colors tell lines apart, also for people who see few colors (the palette of Okabe and Ito).
func colors() []drawing.Color {
	return []drawing.Color{
		drawing.ColorFromHex("0072B2"), drawing.ColorFromHex("D55E00"), drawing.ColorFromHex("009E73"),
		drawing.ColorFromHex("CC79A7"), drawing.ColorFromHex("000000"),
	}
}

// Plot is the figure as points in a plane.
func (f *Figure) Plot() *Plot {
	x := Scale{Name: f.X, Min: -.4, Max: float64(len(f.Points)) - .6}
	for i, p := range f.Points {
		x.Ticks = append(x.Ticks, Tick{float64(i), p})
	}
	low, high := 0.0, 0.0
	if f.Log {
		low, high = math.Inf(1), math.Inf(-1)
	}
	var marks []Marks
	for i, l := range f.Lines {
		var xs []float64
		// Error bars of lines next to each other must not hide one another.
		shift := 0.06 * (float64(i) - float64(len(f.Lines)-1)/2)
		if l.Low == nil {
			shift = 0
		}
		for p := range l.Values {
			at := float64(p) + shift
			xs = append(xs, at)
			low, high = min(low, l.Values[p]), max(high, l.Values[p])
			if l.Low != nil {
				low, high = min(low, l.Low[p], l.High[p]), max(high, l.Low[p], l.High[p])
				marks = append(marks, errorBar(at, l.Low[p], l.High[p], i)...)
			}
		}
		width := 2.0
		if l.Thin {
			width = 1
		} else {
			marks = append(marks, Marks{X: xs, Y: l.Values, Dots: true, Width: 4, Color: i})
		}
		marks = append(marks, Marks{Name: l.Name, X: xs, Y: l.Values, Width: width, Color: i})
	}
	axis := Even
	if f.Log {
		axis = Decades
	}
	return &Plot{Name: f.Name, Title: f.Title, X: x, Y: axis(f.Y, low, high), Marks: marks}
}

// errorBar is a bar from low to high with a short line at each end, which the legend leaves out.
func errorBar(x, low, high float64, color int) []Marks {
	const wing = .03
	line := func(x1, y1, x2, y2 float64) Marks {
		return Marks{X: []float64{x1, x2}, Y: []float64{y1, y2}, Width: 1, Color: color}
	}
	return []Marks{line(x, low, x, high), line(x-wing, low, x+wing, low), line(x-wing, high, x+wing, high)}
}

// Even is an axis from low, 0 at most, to high with some five round values on it.
func Even(name string, low, high float64) Scale {
	if high <= low {
		high = low + 1
	}
	step := 1.0
	for step*5 < high-low {
		step *= 10
	}
	for step > high-low {
		step /= 10
	}
	for _, part := range []float64{.1, .2, .5} {
		if (high-low)/(step*part) <= 8 {
			step *= part
			break
		}
	}
	s := Scale{Name: name}
	first, last := int(math.Floor(low/step)), int(math.Ceil(high/step))
	for i := first; i <= last; i++ {
		s.Ticks = append(s.Ticks, Tick{float64(i) * step, fmt.Sprintf("%.4g", float64(i)*step)})
	}
	s.Min, s.Max = float64(first)*step, float64(last)*step
	return s
}

// Decades is a logarithmic axis from low or below to high or above, with 1, 2 and 5 times the powers of ten on it.
func Decades(name string, low, high float64) Scale {
	s := Scale{Name: name, Log: true}
	step := .001
	for i := 0; i < 60 && step < high; i++ {
		next := step * [3]float64{2, 2.5, 2}[i%3]
		if next > low {
			s.Ticks = append(s.Ticks, Tick{step, fmt.Sprintf("%.6g", step)})
		}
		step = next
	}
	s.Ticks = append(s.Ticks, Tick{step, fmt.Sprintf("%.6g", step)})
	s.Min, s.Max = s.Ticks[0].Value, step
	return s
}
