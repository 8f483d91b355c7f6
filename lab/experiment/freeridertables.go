package experiment

import "fmt"

// report shows what came of the networks; so many of the first are about kinds, the next about bounds.
func (f FreeRiders) report(c crowd, rows []CrowdRow, kinds, bounds int) *Report {
	r := &Report{
		Title: "Those who take without giving (Paper §3.5), among nodes of this program in virtual time",
		Seed:  f.Seed, Traces: f.Traces.Hash(), Result: rows,
	}
	from, to := c.window()
	r.Setting = []string{
		fmt.Sprintf("%d nodes in each of %d networks, polling every %s h; %d of %d feeds each", f.Nodes, len(rows),
			hours(f.Every), f.Each, len(c.Feeds)),
		fmt.Sprintf("%s from %s; entries published from hour %s to hour %s count", spell(f.Length),
			c.Start.Format("Monday 2006-01-02 15:04 MST"), hours(from), hours(to)),
		"Of the honest a fifth polls half as often (slow), a tenth follows a quarter of the feeds, a tenth has 3 " +
			"neighbors.",
		"Cells: share of the entries that came, and how late in minutes. The others poll nothing: theirs came from " +
			"neighbors alone.",
	}
	var hashes []string
	ended := 0
	for i := range rows {
		hashes = append(hashes, rows[i].Hash)
		r.Steps += rows[i].Steps
		if !rows[i].Partial {
			ended++
		}
	}
	if ended < len(rows) {
		r.Partial = fmt.Sprintf("interrupted; %d of %d networks came to their end, of the others there is what was "+
			"by then", ended, len(rows))
	}
	r.Hash = hashOf(hashes)
	r.Tables = []Table{
		crowdTable("Who is dishonest, and how many of the nodes (D = 10, all rules)", rows[:kinds]),
		crowdTable("The deficit bound D, 25% free riders", rows[kinds:kinds+bounds]),
		crowdTable("One rule switched off, and 25% of those whom it is against (padders: 5%)", rows[kinds+bounds:]),
	}
	r.Tables[2].Notes = append(r.Tables[2].Notes,
		fmt.Sprintf("A padder polls like the honest and invents %d entries an hour, so what it has is not from "+
			"neighbors alone.", padsAnHour))
	if len(f.Shares) > 1 {
		r.Figures = []Figure{f.shareFigure(rows[:kinds])}
	}
	return r
}

func crowdTable(title string, rows []CrowdRow) Table {
	t := Table{Title: title, Columns: []string{
		"network", "ordinary", "slow", "few feeds", "3 links", "others", "calls/min: honest", "others", "hash",
	}}
	cell := func(g Group) string {
		if g.Reading == 0 {
			return unknown
		}
		if g.Coverage == 0 {
			return percent(0)
		}
		return percent(g.Coverage) + " " + minutes(g.Lag)
	}
	for _, r := range rows {
		calls := func(g Group) string {
			if g.Nodes == 0 {
				return unknown
			}
			return fmt.Sprintf("%.1f", g.Calls)
		}
		name := r.Name
		if r.Partial {
			name += ", interrupted"
		}
		t.row(name, cell(r.Groups[ordinary]), cell(r.Groups[slow]), cell(r.Groups[fewFeeds]), cell(r.Groups[fewLinks]),
			cell(r.Groups[bad]), calls(r.Honest), calls(r.Groups[bad]), r.Hash)
	}
	return t
}

// shareFigure draws what the dishonest get of the entries, by their share.
func (f FreeRiders) shareFigure(rows []CrowdRow) Figure {
	fig := Figure{Name: "freeriders", Title: "What those who give nothing get (D = 10, all rules)",
		X: "Share of the nodes (%)", Y: "Entries that came (%)"}
	for _, s := range f.Shares {
		fig.Points = append(fig.Points, fmt.Sprintf("%g", 100*s))
	}
	rest := rows[1:] // the first has none of them
	for _, k := range []kind{freeRiders, echoers, portRejoiners, addressRejoiners, liars} {
		l := Line{Name: k.name}
		for range f.Shares {
			l.Values = append(l.Values, 100*rest[0].Groups[bad].Coverage)
			rest = rest[1:]
		}
		fig.Lines = append(fig.Lines, l)
	}
	return fig
}
