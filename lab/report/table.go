package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Width is how many columns a line of a Report has at most: in the indented block of a page they make 120.
const Width = 116

// A Table is a plain table of two columns or more. The first stands on the left, the others on the right.
type Table struct {
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	Notes   []string   `json:"notes,omitempty"`
	// Texts is set where cells are sentences: each then has a line of its own, below the first cell of its row.
	Texts bool `json:"-"`
}

// Row adds a row. A cell is a text, a whole number, or a number of which one digit after the point is shown; a list of
// texts is as many cells.
func (t *Table) Row(cells ...any) {
	var row []string
	for _, cell := range cells {
		switch cell := cell.(type) {
		case []string:
			row = append(row, cell...)
		case float64:
			row = append(row, fmt.Sprintf("%.1f", cell))
		default:
			row = append(row, fmt.Sprint(cell))
		}
	}
	t.Rows = append(t.Rows, row)
}

// String is the table within Width. Where its columns would be wider, headings are broken into several lines; where
// that is not enough, the columns stand in parts one below the other, each with the first column.
func (t Table) String() string {
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(wrapped("", t.Title))
	}
	if t.Texts {
		t.writeTexts(&b)
	} else {
		for i, part := range partsOf(t.columns()) {
			if i > 0 {
				b.WriteString("\n")
			}
			writeColumns(&b, part)
		}
	}
	for _, n := range t.Notes {
		b.WriteString(wrapped("  ", n))
	}
	return b.String()
}

func (t Table) writeTexts(b *strings.Builder) {
	for _, row := range t.Rows {
		b.WriteString(wrapped("  ", row[0]))
		for i, cell := range row[1:] {
			b.WriteString(wrapped("    ", t.Columns[1+i]+": "+cell))
		}
	}
}

// A column is one of a Table.
type column struct {
	head  string
	cells []string
}

// columns are those of the table. Rows may end early.
func (t Table) columns() []column {
	list := make([]column, len(t.Columns))
	for i, head := range t.Columns {
		list[i] = column{head: head, cells: make([]string, len(t.Rows))}
		for j, row := range t.Rows {
			if i < len(row) {
				list[i].cells[j] = row[i]
			}
		}
	}
	return list
}

// width is that of the column with its heading in at most so many lines, if its words allow it.
func (c column) width(height int) int {
	width := 0
	for _, text := range append(strings.Fields(c.head), c.cells...) {
		width = max(width, utf8.RuneCountInString(text))
	}
	for len(wrap(c.head, width)) > height {
		width++
	}
	return width
}

const (
	gap     = 2 // spaces before a column
	tallest = 3 // lines of a heading
)

// total is how wide columns are beside one another, with headings in so many lines.
func total(columns []column, height int) int {
	sum := 0
	for _, c := range columns {
		sum += gap + c.width(height)
	}
	return sum
}

// partsOf are as few parts within Width as there can be, each about as wide as the others.
func partsOf(columns []column) [][]column {
	parts := cut(columns, Width)
	for width := Width - 1; len(parts) > 1; width-- {
		even := cut(columns, width)
		if len(even) > len(parts) {
			break
		}
		parts = even
	}
	return parts
}

// cut cuts columns into parts of at most that width, each with the first of them and at least one more.
func cut(columns []column, width int) [][]column {
	parts := [][]column{slices.Clone(columns[:2])}
	for _, c := range columns[2:] {
		last := &parts[len(parts)-1]
		if longer := append(slices.Clip(*last), c); total(longer, tallest) <= width {
			*last = longer
		} else {
			parts = append(parts, []column{columns[0], c})
		}
	}
	return parts
}

// writeColumns writes columns beside one another, whose headings take few lines and end in the same one.
func writeColumns(b *strings.Builder, columns []column) {
	height := 1
	for height < tallest && total(columns, height) > Width {
		height++
	}
	lines := make([]string, height+len(columns[0].cells))
	for i, c := range columns {
		width := c.width(height)
		head := wrap(c.head, width)
		if i == 0 {
			width = -width // on the left
		}
		above := make([]string, height-len(head))
		for n, cell := range slices.Concat(above, head, c.cells) {
			lines[n] += fmt.Sprintf("%*s%*s", gap, "", width, cell)
		}
	}
	for _, line := range lines {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// wrap breaks a text into lines of at most that width, or of one word.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last+" "+word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// wrapped is a text in lines within Width, of which the first is indented so and the others more.
func wrapped(indent, text string) string {
	lines := wrap(text, Width-len(indent)-gap)
	return indent + strings.Join(lines, "\n  "+indent) + "\n"
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

// Text writes a mean and, of several values, the 5th and 95th percentile, each divided by the unit.
func (s Spread) Text(unit float64, format string) string {
	if s.Count == 0 {
		return Unknown
	}
	if s.Count == 1 {
		return fmt.Sprintf(format, s.Mean/unit)
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

// FinePercent writes a share to two digits after the point.
func FinePercent(share float64) string { return fmt.Sprintf("%.2f%%", 100*share) }

// Hours writes an interval as the paper does: .5, 1, 2.
func Hours(d time.Duration) string {
	text := strconv.FormatFloat(math.Round(100*d.Hours())/100, 'f', -1, 64)
	return cmp.Or(strings.TrimPrefix(text, "0"), "0")
}
