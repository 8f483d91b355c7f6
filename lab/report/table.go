package report

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

// Row adds a row.
func (t *Table) Row(cells ...string) { t.Rows = append(t.Rows, cells) }

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

// Unknown stands where there is no figure.
const Unknown = "-"

// Known writes what was measured, and Unknown in the place of 0: no lag, load or number of bytes is that.
func Known(format string, v float64) string {
	if v == 0 {
		return Unknown
	}
	return fmt.Sprintf(format, v)
}

// Minutes writes a time lag, given in seconds, in minutes.
func Minutes(seconds float64) string { return fmt.Sprintf("%.1f", seconds/60) }

// Text writes a mean with the 5th and 95th percentile, each divided by the unit.
func (s Spread) Text(unit float64, format string) string {
	if s.Count == 0 {
		return Unknown
	}
	return fmt.Sprintf(format+" ("+format+"-"+format+")", s.Mean/unit, s.P5/unit, s.P95/unit)
}

// Minutes writes the mean of time lags, given in seconds, in minutes.
func (s Spread) Minutes() string {
	if s.Count == 0 {
		return Unknown
	}
	return Minutes(s.Mean)
}

// Percent writes the mean of shares.
func (s Spread) Percent() string {
	if s.Count == 0 {
		return Unknown
	}
	return Percent(s.Mean)
}

// Percent writes a share.
func Percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// Hours writes an interval as the paper does: .5, 1, 2.
func Hours(d time.Duration) string {
	text := strconv.FormatFloat(math.Round(100*d.Hours())/100, 'f', -1, 64)
	return cmp.Or(strings.TrimPrefix(text, "0"), "0")
}
