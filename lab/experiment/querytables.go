package experiment

import (
	"fmt"
	"time"

	"feedex/lab"
)

// summed sums up the questions of one network, a row for each kind.
func summed(questions []*question, size, flooders int, load float64) []QueryRow {
	var rows []QueryRow
	for _, kind := range kindsOf(flooders > 0) {
		row := QueryRow{Nodes: size, Flooders: flooders, Hops: kind.hops, Budget: kind.budget, Blind: kind.blind, Load: load}
		var messages, delay, first []float64
		var asked [len(heldBy)]int
		for _, q := range questions {
			if q.kind != kind {
				continue
			}
			row.Recall[q.held] += float64(q.found) / planted
			asked[q.held]++
			messages = append(messages, float64(q.messages))
			delay = append(delay, q.delay.Seconds())
			if q.first != lab.Never {
				first = append(first, q.first.Seconds())
			}
		}
		for i, n := range asked {
			row.Recall[i] /= float64(max(1, n))
		}
		if flooders == 0 {
			row.Messages = spread(messages)
		}
		row.Delay, row.First = spread(delay), spread(first)
		rows = append(rows, row)
	}
	return rows
}

// tables shows the rows, a table for each network.
func (c Queries) tables(r *Report, rows []QueryRow) {
	r.Setting = []string{
		fmt.Sprintf("%d feeds a node, %d subscribers a feed, %v until the first query, then one every %v by a random subscriber", c.Each, subscribers, c.Settle, apart),
		fmt.Sprintf("documents of %d entries; each query is for %d old entries of a feed, each of them held by so many of its other subscribers, one at least; %d queries a cell", listed, planted, c.Trials),
	}
	for i, kinds := 0, 0; i < len(rows); i += kinds {
		first := rows[i]
		kinds = len(kindsOf(first.Flooders > 0))
		t := Table{Title: fmt.Sprintf("%d nodes", first.Nodes), Columns: []string{"hops, budget"}}
		if first.Flooders > 0 {
			t.Title += fmt.Sprintf(", of which %d ask each neighbor something every %v", first.Flooders, floodEvery)
		}
		for _, share := range heldBy {
			t.Columns = append(t.Columns, fmt.Sprintf("held by %.0f%%", 100*share))
		}
		t.Columns = append(t.Columns, "messages", "first after ms", "ended after ms")
		for _, row := range rows[i : i+kinds] {
			name := fmt.Sprintf("%d, %d", row.Hops, row.Budget)
			if row.Blind {
				name += ", no feed named"
			}
			cells := []string{name}
			for _, recall := range row.Recall {
				cells = append(cells, percent(recall))
			}
			ms := time.Millisecond.Seconds()
			t.row(append(cells, spreadOf(row.Messages, 1, "%.0f"), spreadOf(row.First, ms, "%.0f"), spreadOf(row.Delay, ms, "%.0f"))...)
		}
		t.Notes = []string{"The share of the entries that was found; means with the 5th and 95th percentile."}
		if first.Flooders > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("An honest node makes %.1f query_feed calls a minute, for all queries that reach it.", first.Load))
		}
		r.Tables = append(r.Tables, t)
	}
}
