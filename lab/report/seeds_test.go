package report

import (
	"slices"
	"strings"
	"testing"
)

// Texts that differ in their figures alone have the mean of each, with the least and the most; means of nodes lose
// their percentiles for that.
func TestTextsOverSeeds(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  string // "" where they cannot be summed up
	}{
		{[]string{"30m", "30m"}, "30m"},
		{[]string{"12.5", "13.1", "12.8"}, "12.8 (12.5-13.1)"},
		{[]string{"8.6", "11"}, "9.8 (8.6-11)"},
		{[]string{"1", "2"}, "1.5 (1-2)"},
		{[]string{"900", "1007"}, "954 (900-1007)"},
		{[]string{"62.1%", "-", "48.8%"}, "55.5% (48.8-62.1)"},
		{[]string{"-", "-"}, "-"},
		{[]string{"-0.5", "0.1"}, "-0.2 (-0.5-0.1)"},
		{[]string{"5.0 (5.0-5.0)", "5.0 (4.0-6.0)"}, "5.0"},
		{[]string{"14.9 (13.9-16.0)", "15.1 (14.0-16.2)"}, "15.0 (14.9-15.1)"},
		{[]string{"-0.5 (-0.6--0.5)", "-0.7 (-0.9--0.6)"}, "-0.6 (-0.7--0.5)"},
		{[]string{"0.0%", "6.2% 7.6"}, "3.1% (0.0-6.2) 7.6"},
		{[]string{"1.7 / -", "1.9 / 1.3"}, "1.8 (1.7-1.9) / 1.3"},
		{[]string{"43.4% (8)", "45.4% (9)"}, "44.4% (43.4-45.4) (8.5, 8-9)"},
		{[]string{"lag before 10.2 min, during 8.6; 21% did not", "lag before 13.0 min, during 8.8; 23% did not"},
			"lag before 11.6 (10.2-13.0) min, during 8.7 (8.6-8.8); 22.0% (21-23) did not"},
		{[]string{"pass", "FAIL"}, ""},
		{[]string{"1h48m", "2h29m"}, ""},
		{[]string{"5%", "5 h"}, ""},
		{[]string{"f4d0033661e0cf29", "b9923b45027dc6a5"}, ""},
	} {
		if got, ok := overTexts(c.texts); got != c.want || ok != (c.want != "") {
			t.Errorf("%q sum up to %q, %v; want %q", c.texts, got, ok, c.want)
		}
	}
	if got := overCells([]string{"pass", "FAIL", "pass"}); got != "pass (2), FAIL" {
		t.Errorf("verdicts sum up to %q", got)
	}
}

// ofSeeds are the reports of an experiment for seeds from 1 on, with a lag each.
func ofSeeds(lags ...string) (reports []*Report) {
	for i, lag := range lags {
		r := &Report{Title: "A trial", Seed: uint64(i + 1), Traces: "t", Result: lag, Setting: []string{"ten nodes"}}
		measured := Table{Title: "Lag by nodes", Columns: []string{"nodes", "lag", "lag", "hash"},
			Notes: []string{"Late"}}
		measured.Row("10", lag, "1", "aa"+lag)
		if i == 0 {
			measured.Row("20", "7", "8", "bb")
		}
		stated := Table{Title: "As stated", Columns: []string{"nodes", "lag"}}
		stated.Row("10", "3")
		r.Tables = []Table{measured, stated}
		r.Took("hash"+lag, 5)
		reports = append(reports, r)
	}
	return reports
}

// A report over seeds is that of the first, and then the tables in which seeds differ.
func TestOverSeeds(t *testing.T) {
	one := ofSeeds("2.0", "4.0", "3.0")
	r := OverSeeds(one, 3)
	if r.Seed != 1 || r.Traces != "t" || r.Steps != 15 || r.Hash != HashOf("hash2.0hash4.0hash3.0") || r.Partial != "" {
		t.Errorf("%+v", r)
	}
	if len(r.Tables) != 3 || r.Tables[0].String() != one[0].Tables[0].String() || len(one[0].Tables) != 2 {
		t.Fatalf("%d tables:\n%v", len(r.Tables), r.Tables)
	}
	const want = "Over 3 seeds: Lag by nodes\n" +
		"  nodes                  lag  lag\n" +
		"  10           3.0 (2.0-4.0)    1\n" +
		"  20 (1 of 3)              7    8\n"
	if got := r.Tables[2].String(); got != want {
		t.Errorf("summed up:\n%swant:\n%s", got, want)
	}
	if results := r.Result.([]OfSeed); len(results) != 3 || results[1] != (OfSeed{2, one[1].Hash, "4.0"}) {
		t.Errorf("results %+v", results)
	}
	if !slices.ContainsFunc(r.Setting, func(s string) bool { return strings.Contains(s, "over 3 seeds, from 1 on") }) {
		t.Errorf("setting %q", r.Setting)
	}

	one = ofSeeds("2.0", "4.0")
	one[1].Traces = "u"
	for _, r := range one {
		r.Summary = r.Tables
	}
	r = OverSeeds(one, 2)
	if len(r.Tables) != 4 || !slices.Equal(r.Tables[2].Notes, []string{"Late"}) || r.Traces != HashOf("tu") ||
		r.Tables[3].Title != "Over 2 seeds: As stated" {
		t.Errorf("with a summary, of traces %s: %v", r.Traces, r.Tables)
	}
}

// Seeds that were interrupted, or had not begun, are not in the means.
func TestOverInterruptedSeeds(t *testing.T) {
	reports := ofSeeds("2.0", "4.0", "9.0")
	reports[2].Partial = "after an hour"
	r := OverSeeds(reports, 5)
	if r.Partial != "2 of 5 seeds came to their end; seed 3: after an hour" ||
		!strings.Contains(r.Tables[2].String(), "3.0 (2.0-4.0)") {
		t.Errorf("%q\n%v", r.Partial, r.Tables)
	}
	if r = OverSeeds(reports[1:2], 5); len(r.Tables) != 2 || r.Partial != "1 of 5 seeds came to their end" {
		t.Errorf("of one seed: %q, %v", r.Partial, r.Tables)
	}
}
