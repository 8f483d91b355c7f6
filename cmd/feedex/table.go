package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// A table prints rows in aligned columns. Where its lines would be longer than the terminal is wide, a row
// takes two lines: the first cells, and below them the rest. Cells must be printable.
type table struct {
	width   int // of a line, in characters; 0 for any
	first   int // how many cells stay on the first of two lines
	rows    [][]string
	columns []int            // how wide each is
	notes   map[int][]string // lines below a row
}

// The indents of a row's second line and of its notes.
const (
	secondIndent = "  "
	noteIndent   = "    "
)

func newTable(width, first int, heading ...string) *table {
	t := &table{width: width, first: first, columns: make([]int, len(heading)), notes: make(map[int][]string)}
	t.row(heading...)
	return t
}

func (t *table) row(cells ...string) {
	t.rows = append(t.rows, cells)
	for i, cell := range cells {
		t.columns[i] = max(t.columns[i], utf8.RuneCountInString(cell))
	}
}

// note puts a line below the row that was added last.
func (t *table) note(text string) {
	last := len(t.rows) - 1
	t.notes[last] = append(t.notes[last], text)
}

// write writes the table.
func (t *table) write(w io.Writer) error {
	all, cut := len(t.rows[0]), t.first
	if t.fits(0, all, "") {
		cut = all
	}
	alignFirst, alignSecond := t.fits(0, cut, ""), t.fits(cut, all, secondIndent)
	var b strings.Builder
	for i := range t.rows {
		t.line(&b, i, 0, cut, "", alignFirst)
		if cut < all {
			t.line(&b, i, cut, all, secondIndent, alignSecond)
		}
		for _, n := range t.notes[i] {
			fmt.Fprintf(&b, "%s%s\n", noteIndent, n)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line writes some cells of a row, in columns if align.
func (t *table) line(b *strings.Builder, row, from, to int, indent string, align bool) {
	line := indent
	for i := from; i < to; i++ {
		cell := t.rows[row][i]
		line += cell + "  "
		if align {
			line += strings.Repeat(" ", t.columns[i]-utf8.RuneCountInString(cell))
		}
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// fits reports whether some columns fit next to each other.
func (t *table) fits(from, to int, indent string) bool {
	sum := len(indent) - 2
	for i := from; i < to; i++ {
		sum += t.columns[i] + 2
	}
	return t.width == 0 || sum <= t.width
}

// usualWidth is that of a terminal which does not tell its own.
const usualWidth = 80

// widthOf is how many characters a line of w may have, 0 for any: what $COLUMNS says, or else the width of
// the terminal that it is.
func widthOf(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if !isTerminal(w) {
		return 0
	}
	if n, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && n > 0 {
		return n
	}
	return usualWidth
}
