package experiment

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"feedex/lab"
)

// Nodes that come and go keep what comes out while they are there; a network that is cut in two becomes two.
func TestChurn(t *testing.T) {
	t.Parallel()
	c := Churn{Seed: 1, Traces: embedded(t), Nodes: 20, Each: 8, Length: 3 * time.Hour, Every: time.Hour,
		Sessions: []time.Duration{30 * time.Minute}}
	report := ran(t, c.Run)
	again := ran(t, c.Run)
	if len(report.Tables[0].Rows) != 1 {
		t.Errorf("the table of stays is\n%s", report.Tables[0])
	}
	if report.Hash == "" || report.Hash != again.Hash {
		t.Errorf("one seed gave the hashes %s and %s", report.Hash, again.Hash)
	}
	stays, split := report.Result.(ChurnResult).Stays, report.Result.(ChurnResult).Split
	for _, row := range stays {
		if row.Stays < 3*20 || row.Present < .5 || row.Present > .95 {
			t.Errorf("stays of %v: %d of them, present %.2f of the time", row.Stay, row.Stays, row.Present)
		}
		if row.Exchange <= row.Alone || row.There.Whole == 0 || row.Kept.of() < .8 {
			t.Errorf("stays of %v: %.3f came, %.3f by own polls, and %.3f were kept", row.Stay, row.Exchange, row.Alone,
				row.Kept.of())
		}
	}
	if n := len(split.Looks); n != 7 || split.Looks[0].Cross < .2 || split.Looks[2].Cross != 0 {
		t.Errorf("the cut network looked like this: %+v", split.Looks)
	}
	checkDrawings(t, report.All())
}

// A node that was away for hours gets what some node has, though the documents do not show it any more and all nodes
// were restarted meanwhile.
func TestNothingIsLostThatANodeKeeps(t *testing.T) {
	t.Parallel()
	c := Churn{Seed: 2, Traces: embedded(t), Nodes: 24, Each: 12, Length: 18 * time.Hour, Every: 8 * time.Hour}
	c, feeds, err := c.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	const stay = 5 * time.Hour
	n := network{Seed: c.Seed, Feeds: feeds, Start: weekday(c.Traces, c.Length), Length: c.Length, Each: c.Each,
		Every: c.Every, NoEncoding: true, FirstPolls: true}
	w := n.world()
	for i := range c.Nodes {
		n.join(w, i, func(h *lab.Host, rng *rand.Rand) { c.comeAndGo(w, h, rng, n.Start, stay) })
	}
	advance(t.Context(), w, n.Start.Add(c.Length), func(float64) {})
	row := churned(w, stay)
	if row.Lost.Part > 0 || row.Lost.Whole < 5000 || row.Stays < 2*c.Nodes {
		t.Errorf("in %d stays %d of %d entries were lost", row.Stays, row.Lost.Part, row.Lost.Whole)
	}
}

// As long as everything is within three hops anyway, twice the nodes with twice the feeds cost a node about as
// much.
func TestScaling(t *testing.T) {
	t.Parallel()
	s := Scaling{Seed: 1, Traces: embedded(t), Sizes: []int{46, 92}, Each: 10, Length: 40 * time.Minute,
		Every: 20 * time.Minute}
	report := ran(t, s.Run)
	rows := report.Result.([]ScaleRow)
	if len(rows) != 4 || rows[0].Nodes != 46 || rows[1].Nodes != 92 || rows[1].Feeds != 20 {
		t.Fatalf("the networks were %+v", rows)
	}
	if rows[1].Bytes < 100*rows[1].Calls || rows[1].Bytes > 10_000*rows[1].Calls {
		t.Errorf("%.0f bytes in %.1f calls a node and minute", rows[1].Bytes, rows[1].Calls)
	}
	if rows[1].Heard < .98*float64(rows[1].Feeds) {
		t.Errorf("a neighbor has %.1f of %d feeds", rows[1].Heard, rows[1].Feeds)
	}
	s.Reach, s.NoEncoding, s.Series = 1, true, SameFeeds
	near := ran(t, s.Run)
	if rows := near.Result.([]ScaleRow); len(rows) != 2 || len(near.Tables) != 1 || rows[1].Feeds != 70 ||
		len(near.Figures[0].Lines) != 1 {
		t.Errorf("one series of two: %+v", rows)
	}
	if without := near.Result.([]ScaleRow)[1]; without.Bytes != 0 || without.Calls == 0 {
		t.Errorf("without encoding: %+v", without)
	}
	if one := near.Result.([]ScaleRow)[1].Heard; one >= rows[3].Heard {
		t.Errorf("a neighbor has %.1f feeds over one hop, %.1f over three", one, rows[3].Heard)
	}
	s.Reach = 9
	if _, err := s.Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
		t.Errorf("nine hops: %v", err)
	}
	s.Reach, s.Series = 0, "both"
	if _, err := s.Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
		t.Errorf("a series of another name: %v", err)
	}
	if grown := rows[1].Calls / rows[0].Calls; grown > 1.4 || grown < .7 {
		t.Errorf("twice the nodes make %.2f as many calls each", grown)
	}
	checkDrawings(t, report.All())
}
