package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	drawn := func(width int) func(w *strings.Builder) error {
		table := newTable(width, 1, "NAME", "ONE", "TWO")
		table.row("a", "1", "22")
		table.row("longer", "", "")
		table.note("a note longer than a line, whole")
		return func(w *strings.Builder) error { return table.write(w) }
	}
	wide := `
NAME    ONE  TWO
a       1    22
longer
    a note longer than a line, whole
`
	wantText(t, wide, drawn(0))
	wantText(t, wide, drawn(16))
	wantText(t, `
NAME
  ONE  TWO
a
  1    22
longer

    a note longer than a line, whole
`, drawn(15))
	wantText(t, `
NAME
  ONE  TWO
a
  1  22
longer

    a note longer than a line, whole
`, drawn(9))
}

// A table takes as long as it has rows: by the square of so many this test would not end.
func TestALongTable(t *testing.T) {
	const rows = 500_000
	table := newTable(80, 1, "NAME", "ONE", "TWO")
	for range rows {
		table.row("a", "1", "22")
	}
	var b strings.Builder
	if err := table.write(&b); err != nil || strings.Count(b.String(), "\n") != rows+1 {
		t.Errorf("%d lines, %v", strings.Count(b.String(), "\n"), err)
	}
}

func TestWidth(t *testing.T) {
	for columns, want := range map[string]int{"": 0, "100": 100, "0": 0, "wide": 0} {
		t.Setenv("COLUMNS", columns)
		if got := widthOf(new(strings.Builder)); got != want {
			t.Errorf("COLUMNS=%q: %d, want %d", columns, got, want)
		}
	}
}
