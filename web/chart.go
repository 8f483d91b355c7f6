package web

import (
	"fmt"
	"time"

	"feedex/archive"
)

// A chart draws how many entries came, in one bar for each stretch of time. Positions across are in percent, so that
// it fits every screen; heights are in pixels.
type chart struct {
	Bars  []bar
	Top   int64 // what the line at the top stands for
	Total int64
}

// A bar is a stretch of time.
type bar struct {
	From            time.Time
	Label           string // below it, "" for none
	Minor           bool   // the label is left out on a narrow screen
	Name            string
	X, Width        string
	Middle          string
	Polled, Brought int64
	OwnY, OwnHeight int
	// The bar of neighbors' entries stands on that of own polls.
	NearY, NearHeight int
}

// chartHeight is the height of the tallest bar, in pixels.
const chartHeight = 120

// newChart adds the hours up in the bars of a period that ends now.
func newChart(hours []archive.Hour, p period, now time.Time) chart {
	var c chart
	n := int(p.span / p.bar)
	starts := make([]time.Time, n+1)
	for i := range starts {
		back := n - 1 - i
		if p.bar < 24*time.Hour {
			starts[i] = now.Truncate(time.Hour).Add(-time.Duration(back) * p.bar)
		} else { // days have 23 to 25 hours
			starts[i] = time.Date(now.Year(), now.Month(), now.Day()-back, 0, 0, 0, 0, now.Location())
		}
	}
	c.Bars = make([]bar, n)
	i := 0
	for _, h := range hours {
		for i < n && !h.At.Before(starts[i+1]) {
			i++
		}
		if i == n {
			break
		}
		if !h.At.Before(starts[i]) {
			c.Bars[i].Polled += h.Polled
			c.Bars[i].Brought += h.Brought
		}
	}
	for i := range c.Bars {
		b := &c.Bars[i]
		b.From = starts[i]
		b.name(p, i, n)
		c.Top = max(c.Top, b.Polled+b.Brought)
		c.Total += b.Polled + b.Brought
	}
	c.Top = roundUp(c.Top)
	for i := range c.Bars {
		b, width := &c.Bars[i], 100/float64(n)
		b.X, b.Width = inPercent((float64(i)+.14)*width), inPercent(.72*width)
		b.Middle = inPercent((float64(i) + .5) * width)
		b.OwnHeight, b.NearHeight = c.height(b.Polled), c.height(b.Brought)
		b.OwnY = chartHeight - b.OwnHeight
		b.NearY = b.OwnY - b.NearHeight
	}
	return c
}

// name says which stretch of time the bar is.
func (b *bar) name(p period, i, n int) {
	if p.bar < 24*time.Hour {
		b.Name, b.Label, b.Minor = b.From.Format("Monday 15:04"), b.From.Format("15:04"), b.From.Hour()%6 != 0
		if b.From.Hour()%3 != 0 {
			b.Label = ""
		}
		return
	}
	b.Name = b.From.Format("Monday, 2 January")
	if b.Label, b.Minor = b.From.Format("Mon 2"), (n-1-i)%2 != 0; n > 10 {
		b.Label, b.Minor = b.From.Format("2 Jan"), (n-1-i)%10 != 0
		if (n-1-i)%5 != 0 {
			b.Label = ""
		}
	}
}

// height is how tall a number of entries is, a pixel at least where there is any.
func (c *chart) height(entries int64) int {
	if entries == 0 {
		return 0
	}
	return max(1, int(float64(entries)/float64(c.Top)*chartHeight))
}

// roundUp is the next number that is easily read: 1, 2, 4, 5, 6, 8 or 10 times a power of ten.
func roundUp(n int64) int64 {
	for power := int64(1); ; power *= 10 {
		for _, digit := range []int64{1, 2, 4, 5, 6, 8, 10} {
			if digit*power >= n {
				return digit * power
			}
		}
	}
}

// inPercent writes a position across a drawing.
func inPercent(x float64) string { return fmt.Sprintf("%.2f%%", x) }
