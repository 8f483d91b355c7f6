package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The list of survivors can be read, and names lines that are there.
func TestSurvivors(t *testing.T) {
	reasons, err := survivors(listed)
	if err != nil {
		t.Fatal(err)
	}
	for name := range reasons {
		file, at, _ := strings.Cut(name, " ")
		_, at, _ = strings.Cut(at, ": ")
		source, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil || !strings.Contains(string(source), strings.ReplaceAll(at, "▸", "")) {
			t.Errorf("%s has no such line any more: %s (%v)", file, at, err)
		}
	}
}

// A mutant that lived is named by what it changes; where most were cut off nothing is believed, and a reason is asked
// for.
func TestVerdicts(t *testing.T) {
	m := mutant{Type: "CONDITIONALS_BOUNDARY", Line: 2, Column: 7}
	if got, err := m.in("{\n\tif a < b {\n"); err != nil || got != "conditionals boundary: if a ▸< b {" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := m.in("{"); err == nil {
		t.Error("a line that is not there has a name")
	}
	for _, tc := range []struct {
		tally
		ok bool
	}{{tally{killed: 90, late: 10}, true}, {tally{killed: 10, late: 90}, false}, {tally{}, false}} {
		if err := tc.believable("p"); (err == nil) != tc.ok {
			t.Errorf("%+v: %v", tc.tally, err)
		}
	}
	if got, err := survivors("a\nb\n\tit is\n\tso\nc\n\telse\n"); err != nil || got["a"] != "it is so" ||
		got["b"] != "it is so" || got["c"] != "else" {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"a\n", "\tso\n", "a\n\tso\nb\n"} {
		if got, err := survivors(text); err == nil {
			t.Errorf("%q gives %v", text, got)
		}
	}
}
