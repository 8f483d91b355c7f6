package report_test

import (
	"bytes"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"feedex/lab/report"
)

var update = flag.Bool("update", false, "draw the figure of docs/PERFORMANCE.md")

// The figure of filters in docs/PERFORMANCE.md shows what the table beside it has.
func TestFigureOfFilters(t *testing.T) {
	page, err := os.ReadFile("../../docs/PERFORMANCE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "\n| filters | 61 words | 2,000 words | heap | Cobra, 2,000 words |\n")
	if !found {
		t.Fatal("the page has no table of filters")
	}
	f := report.Figure{Name: "filters", Title: "Time to match an article, median", X: "filters", Y: "ms", Log: true,
		Lines: []report.Curve{{Name: "61 words"}, {Name: "2,000 words"}}}
	cobra := report.Marks{Name: "Cobra, 2,000 words: less than", Dots: true, Width: 6, Color: 2}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 {
			break
		}
		number := func(cell int) (ms float64, ok bool) {
			ms, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(cells[cell]), " ms"),
				"less than "), 64)
			return ms, err == nil
		}
		short, ok := number(2)
		if !ok {
			continue // the line below the head
		}
		long, _ := number(3)
		if bound, ok := number(5); ok {
			cobra.X, cobra.Y = append(cobra.X, float64(len(f.Points))), append(cobra.Y, bound)
		}
		f.Points = append(f.Points, strings.TrimSpace(cells[1]))
		f.Lines[0].Values = append(f.Lines[0].Values, short)
		f.Lines[1].Values = append(f.Lines[1].Values, long)
	}
	if len(f.Points) != 7 || len(cobra.X) != 1 {
		t.Fatalf("the table has %d rows, and Cobra %d values", len(f.Points), len(cobra.X))
	}
	plot := f.Plot()
	plot.Marks = append(plot.Marks, cobra)
	plot.Y = report.Decades(f.Y, .01, cobra.Y[0])
	var svg bytes.Buffer
	if err := plot.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	const path = "../../docs/figures/filters.svg"
	if *update {
		if err := os.WriteFile(path, svg.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if drawn, err := os.ReadFile(path); err != nil || !bytes.Equal(drawn, svg.Bytes()) {
		t.Errorf("%s is not what the table has (%v): go test ./lab/report -update", path, err)
	}
}
