package experiment

import (
	"context"
	"math"
	"testing"
	"time"

	"feedex/lab/report"
)

// Of networks that had not begun when somebody interrupted the table has no row.
func TestTurnsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := PaperTurns{Paper: smallPaper(t)}.Run(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Tables[0].Rows); n > 0 || r.Partial == "" {
		t.Errorf("%d rows, and what is said of it is %q", n, r.Partial)
	}
}

// Nodes that poll in turn have entries sooner than nodes that do not, at fewer requests, and much sooner at as many.
func TestTurnsAreWorthRequests(t *testing.T) {
	t.Parallel()
	p := PaperTurns{Paper: smallPaper(t)}
	p.Seeds, p.NoEncoding, p.Intervals = 2, true, []time.Duration{time.Hour}
	r := ran(t, p.Run)
	rows := make(map[string]TurnsRow)
	for _, row := range r.Result.([]TurnsRow) {
		if len(row.Lag) != p.Seeds || len(row.Requests) != p.Seeds {
			t.Errorf("%s: %d lags of %d seeds", row.Case, len(row.Lag), p.Seeds)
		}
		rows[row.Case] = row
	}
	if want := len(turnsCases) + len(turnsMatches); len(rows) != want {
		t.Errorf("%d rows of %d cases", len(rows), want)
	}
	without, turns, matched := rows[turnsCases[0].name], rows[turnsCases[1].name], rows[turnsMatches[0].name]
	if report.Mean(turns.Requests) >= report.Mean(without.Requests) ||
		report.Mean(turns.Lag) >= report.Mean(without.Lag) {
		t.Errorf("in turn: %+v, without: %+v", turns, without)
	}
	if matched.Every >= turns.Every || report.Mean(matched.Lag) >= report.Mean(turns.Lag) ||
		report.Mean(matched.Requests) <= report.Mean(turns.Requests) {
		t.Errorf("at as many requests: %+v, in turn: %+v", matched, turns)
	}
	if part := report.Mean(matched.Requests) / report.Mean(without.Requests); math.Abs(part-1) > .02 {
		t.Errorf("at as many requests there are %.3f times as many", part)
	}
	late := rows[turnsMatches[1].name]
	if report.Mean(late.Requests) >= report.Mean(turns.Requests) {
		t.Errorf("as late: %+v, in turn: %+v", late, turns)
	}
	if part := report.Mean(late.Lag) / report.Mean(without.Lag); math.Abs(part-1) > .15 {
		t.Errorf("as late is %.3f times as late", part)
	}
	unable, deaf := rows["17% cannot poll"], rows["60% in earshot"]
	if report.Mean(unable.Requests) >= report.Mean(turns.Requests) {
		t.Errorf("where some cannot poll there are %v requests, and %v where all can", unable.Requests, turns.Requests)
	}
	// First polls are waived where neighbors of two networks have the feed.
	if report.Mean(deaf.Requests) <= report.Mean(turns.Requests) {
		t.Errorf("where pairs are out of earshot there are %v requests, and %v where all hear", deaf.Requests,
			turns.Requests)
	}
}
