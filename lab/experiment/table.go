package experiment

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Table is a plain table. The first column stands on the left, the others on the right.
type Table struct {
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	Notes   []string   `json:"notes,omitempty"`
}

func (t *Table) row(cells ...string) { t.Rows = append(t.Rows, cells) }

// String is the table in aligned columns.
func (t Table) String() string {
	widths := make([]int, len(t.Columns))
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(t.Title + "\n")
	}
	line := func(cells []string) {
		text := " "
		for i, cell := range cells {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				text += " " + cell + pad
			} else {
				text += "  " + pad + cell
			}
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	line(t.Columns)
	for _, row := range t.Rows {
		line(row)
	}
	for _, n := range t.Notes {
		b.WriteString("  " + n + "\n")
	}
	return b.String()
}

// unknown stands where there is no figure.
const unknown = "-"

// known writes what was measured, and unknown in the place of 0: no lag, load or number of bytes is that.
func known(format string, v float64) string {
	if v == 0 {
		return unknown
	}
	return fmt.Sprintf(format, v)
}

// minutes writes a time lag, given in seconds, in minutes.
func minutes(seconds float64) string { return fmt.Sprintf("%.1f", seconds/60) }

// spreadOf writes a mean with the 5th and 95th percentile.
func spreadOf(s Spread, unit float64, format string) string {
	if s.Count == 0 {
		return unknown
	}
	return fmt.Sprintf(format+" ("+format+"-"+format+")", s.Mean/unit, s.P5/unit, s.P95/unit)
}

// meanMinutes writes the mean of time lags in minutes.
func meanMinutes(s Spread) string {
	if s.Count == 0 {
		return unknown
	}
	return minutes(s.Mean)
}

// meanPercent writes the mean of shares.
func meanPercent(s Spread) string {
	if s.Count == 0 {
		return unknown
	}
	return percent(s.Mean)
}

// percent writes a share.
func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// spell writes a span of time without what is nothing at its end: 2h, 1h37m, 45s.
func spell(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// hours writes an interval as the paper does: .5, 1, 2.
func hours(d time.Duration) string {
	text := strconv.FormatFloat(math.Round(100*d.Hours())/100, 'f', -1, 64)
	return cmp.Or(strings.TrimPrefix(text, "0"), "0")
}
