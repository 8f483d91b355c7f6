package experiment

import (
	"fmt"
	"time"

	"feedex/lab"
	"feedex/lab/report"
)

// A QueriedNetwork is the outcome of the queries in one network.
type QueriedNetwork struct {
	Nodes    int        `json:"nodes"`
	Feeds    int        `json:"feeds"`
	Flooders int        `json:"flooders"` // nodes that flood in the end
	Load     float64    `json:"load"`     // then: query_feed calls that an honest node makes a minute, for all queries
	Near     Nearness   `json:"near"`
	Kinds    []QueryRow `json:"kinds"`
	Hash     string     `json:"hash"`
	steps    int64
	heap     uint64 // bytes, at the end
}

// A QueryRow is the outcome of the queries of one kind.
type QueryRow struct {
	QueryKind
	Recall   [len(heldBy)]float64 `json:"recall"`
	Messages report.Spread        `json:"messages"` // query_feed calls a query; none where the network is flooded
	Delay    report.Spread        `json:"delay"`    // until the end, in seconds
	First    report.Spread        `json:"first"`    // until something was found, likewise
}

// summed sums up those of the questions that are of one kind.
func summed(questions []*question, kind QueryKind) QueryRow {
	row := QueryRow{QueryKind: kind}
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
	if !kind.Flooded { // where all queries count, nobody knows whose is whose
		row.Messages = report.SpreadOf(messages)
	}
	row.Delay, row.First = report.SpreadOf(delay), report.SpreadOf(first)
	return row
}

// tables shows a table for each network, and two of them all.
func (c Queries) tables(r *report.Report, networks []QueriedNetwork) {
	r.Setting = []string{
		fmt.Sprintf("%d feeds a node, %d subscribers a feed, nothing published; %v until the first query, then one "+
			"every %v", c.Each, subscribers, c.Settle, apart),
		fmt.Sprintf("%d searches a cell, the same for each kind: a random subscriber looks for %d old entries of a "+
			"feed, each of them held by so many of the feed's other subscribers, one at least", c.Trials, planted),
	}
	columns := append(each(heldBy[:], heldByName), "messages", "first after ms", "ended after ms")
	for _, n := range networks {
		t := report.Table{
			Title: fmt.Sprintf("%d nodes", n.Nodes), Columns: append([]string{"hops, budget"}, columns...),
			Notes: []string{"The share of the entries that was found; means with the 5th and 95th percentile. Hash " +
				n.Hash + "."},
		}
		for _, row := range n.Kinds {
			t.Row(row, row.cells())
		}
		if c.Flooders > 0 {
			t.Notes = append(t.Notes,
				fmt.Sprintf("Flooded: %d nodes ask each neighbor something every %v. An honest node makes %.1f "+
					"query_feed calls a minute, for all queries that reach it.",
					n.Flooders, floodEvery, n.Load))
		}
		r.Tables = append(r.Tables, t)
	}
	r.Tables = append(r.Tables, grown(networks, columns), near(networks))
}

// heldByName says which share of a feed's subscribers hold something.
func heldByName(share float64) string { return fmt.Sprintf("held by %.0f%%", 100*share) }

// grown compares what the usual query comes to in networks of all sizes.
func grown(networks []QueriedNetwork, columns []string) report.Table {
	t := report.Table{Title: fmt.Sprintf("%v, as the network grows", usual), Columns: append([]string{"nodes"},
		columns...)}
	for _, flooded := range []bool{false, true} {
		for _, n := range networks {
			for _, row := range n.Kinds {
				switch {
				case row.QueryKind == usual && !flooded:
					t.Row(n.Nodes, row.cells())
				case row.Flooded && flooded:
					t.Row(fmt.Sprintf("%d, of which %d flood", n.Nodes, n.Flooders), row.cells())
				}
			}
		}
	}
	return t
}

// near shows where subscribers of a feed are from each other.
func near(networks []QueriedNetwork) report.Table {
	t := report.Table{
		Title:   "Where the other subscribers of a feed are, from who asks",
		Columns: []string{"nodes", "feeds", "neighbors", "of these subscribers", "other subscribers"},
		Notes: []string{"Within so many hops: the share of the other subscribers, and in brackets how many nodes " +
			"there are in all."},
	}
	for _, hops := range nearHops {
		t.Columns = append(t.Columns, fmt.Sprintf("within %d", hops))
	}
	for _, n := range networks {
		var within []string
		for i := range nearHops {
			within = append(within, fmt.Sprintf("%s (%.0f)", report.Percent(n.Near.Within[i]), n.Near.Nodes[i]))
		}
		t.Row(n.Nodes, n.Feeds, n.Near.Neighbors, n.Near.Alike, n.Near.Others, within)
	}
	return t
}

// cells are those of a table's row, but for the first.
func (r QueryRow) cells() []string {
	ms := time.Millisecond.Seconds()
	return append(each(r.Recall[:], report.Percent), r.Messages.Text(1, "%.0f"), r.First.Text(ms, "%.0f"),
		r.Delay.Text(ms, "%.0f"))
}

// String is how tables and figures name the kind.
func (k QueryKind) String() string {
	name := fmt.Sprintf("%d, %d", k.Hops, k.Budget)
	if k.Blind {
		name += ", no feed named"
	}
	if k.Flooded {
		name += ", flooded"
	}
	return name
}

// figures draws what is found, by the size of the network and by how far queries go.
func (c Queries) figures(networks []QueriedNetwork) []report.Figure {
	bySize := report.Figure{Name: "query-nodes", Title: fmt.Sprintf("What a query of %d hops and %d messages finds",
		usual.Hops, usual.Budget), X: "Nodes", Y: "Entries found (%)"}
	byHops := report.Figure{Name: "query-hops",
		Title: fmt.Sprintf("What %d messages find of what %.0f%% of the subscribers hold", usual.Budget,
			100*heldBy[rare]), X: "Hops", Y: "Entries found (%)"}
	bySize.Lines = each(heldBy[:], func(share float64) report.Curve { return report.Curve{Name: heldByName(share)} })
	for i, n := range networks {
		bySize.Points = append(bySize.Points, fmt.Sprint(n.Nodes))
		byHops.Lines = append(byHops.Lines, report.Curve{Name: fmt.Sprintf("%d nodes", n.Nodes)})
		for _, row := range n.Kinds {
			if row.QueryKind == usual {
				for k, recall := range row.Recall {
					bySize.Lines[k].Values = append(bySize.Lines[k].Values, 100*recall)
				}
			}
			if row.QueryKind != (QueryKind{Hops: row.Hops, Budget: usual.Budget}) {
				continue
			}
			if i == 0 {
				byHops.Points = append(byHops.Points, fmt.Sprint(row.Hops))
			}
			byHops.Lines[i].Values = append(byHops.Lines[i].Values, 100*row.Recall[rare])
		}
	}
	return []report.Figure{bySize, byHops}
}

// rare is the index in heldBy of what the second figure is about.
const rare = 2
