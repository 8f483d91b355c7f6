package experiment

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"feedex/lab/report"
	"feedex/lab/trace"
)

var update = flag.Bool("update", false, "write the tables in testdata anew")

func embedded(t testing.TB) *trace.Set {
	t.Helper()
	set, err := trace.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// ran is what an experiment comes to that can be run.
func ran(t *testing.T, run Run) *report.Report {
	t.Helper()
	r, err := run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func errorOf(_ *report.Report, err error) error { return err }

// isGolden compares a report with the file of that name.
func isGolden(t *testing.T, name string, r *report.Report) {
	t.Helper()
	var got bytes.Buffer
	if err := r.Write(&got); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(got.String()) {
		if columns := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); columns > report.Width {
			t.Errorf("%s: %d columns, the limit is %d: %s", name, columns, report.Width, line)
		}
	}
	golden := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the report differs from %s; if that is meant, run: go test ./lab/experiment -update\n%s", golden,
			got.String())
	}
}

// checkDrawings holds figures to being SVG, each in a file of its own, with a title, names of the axes and of the
// marks.
func checkDrawings(t *testing.T, plots []*report.Plot) {
	t.Helper()
	files := map[string]bool{}
	for _, p := range plots {
		var svg bytes.Buffer
		if err := p.WriteSVG(&svg); err != nil {
			t.Error(err)
		}
		texts := map[string]bool{}
		for dec := xml.NewDecoder(&svg); ; {
			token, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", p.Name, err)
			}
			if text, ok := token.(xml.CharData); ok {
				texts[string(text)] = true
			}
		}
		named := 0
		for _, m := range p.Marks {
			if m.Name != "" || m.Label != "" {
				named++
			}
			if m.Name != "" && !texts[m.Name] {
				t.Errorf("%s: the legend lacks %q", p.Name, m.Name)
			}
		}
		if !texts[p.Title] || !texts[p.X.Name] || p.Y.Name != "" && !texts[p.Y.Name] || named == 0 {
			t.Errorf("%s lacks a title, the name of an axis or a legend", p.Name)
		}
		if files[p.Name] {
			t.Errorf("%s twice", p.Name)
		}
		files[p.Name] = true
	}
}

// wantPage fails the test unless the page of an experiment has the tables of a run, and its hashes.
func wantPage(t *testing.T, name string, r *report.Report) {
	t.Helper()
	path := "docs/evaluation/" + name + ".md"
	text, err := os.ReadFile("../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, table := range r.Tables {
		for line := range strings.Lines(table.String()) {
			if !strings.Contains(page, "    "+line) {
				t.Errorf("%s lacks %q", path, line)
			}
		}
	}
	if !strings.Contains(page, r.Hash) || !strings.Contains(page, r.Traces) {
		t.Errorf("%s is of other hashes than %s and %s", path, r.Traces, r.Hash)
	}
}
