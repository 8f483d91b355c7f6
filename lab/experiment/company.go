package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"feedex/lab"
	"feedex/lab/report"
	"feedex/lab/trace"
)

// Company is the experiment on who has company among many people: which share of a person's feeds others follow, as a
// graph of who follows what, without a network. The zero value of each field means its default.
type Company struct {
	Seed   lab.Seed
	Traces *trace.Set  // no default; only its Hash is shown
	Lists  trace.Lists // default: of each size as many, made up
	Sizes  []int       // how many people; no default
	Sample int         // of how many of them the shares are taken; default 500, or all where they are fewer
}

// A CompanyRow is what of so many people's feeds others follow.
type CompanyRow struct {
	People        int `json:"people"`
	Feeds         int `json:"feeds"`
	Subscriptions int `json:"subscriptions"`
	Sample        int `json:"sample"`
	// Chosen is the share of a person's feeds that ten others follow who are chosen as nodes choose neighbors, Best
	// that which the ten best do, and Any that which anybody does.
	Chosen report.Spread `json:"chosen"`
	Best   report.Spread `json:"best"`
	Any    report.Spread `json:"any"`
	// Lone is the share of all subscriptions to feeds that nobody else follows.
	Lone float64 `json:"lone"`
}

// Run takes the shares, one size after the other, as the largest takes a GB. The error wraps ErrSetting.
func (c Company) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	c.Sample = cmp.Or(c.Sample, 500)
	for _, size := range c.Sizes {
		if most := cmp.Or(len(c.Lists), maxNodes); size < 2 || size > most {
			return nil, impossible("%d people; want 2 to %d", size, most)
		}
	}
	if c.Sample < 1 || len(c.Sizes) == 0 {
		return nil, impossible("%d people of %d sizes; want one or more", c.Sample, len(c.Sizes))
	}
	m := newMeter(progress, each(c.Sizes, func(size int) float64 { return float64(size) }))
	var rows []CompanyRow
	for i, size := range c.Sizes {
		row, ok := c.of(ctx, size, m.of(i))
		if !ok {
			break
		}
		rows = append(rows, row)
	}
	return c.report(rows), nil
}

// of takes the shares of so many people; ok is false where ctx ended before.
func (c Company) of(ctx context.Context, size int, tell Progress) (row CompanyRow, ok bool) {
	var lists trace.Lists
	if c.Lists == nil {
		lists = trace.SyntheticLists(uint64(c.Seed), size)
	} else {
		lists = c.Lists.Of(c.Seed.Stream("lists").Perm(len(c.Lists))[:size])
	}
	counts := lists.Followers()
	row.Subscriptions = sum(counts)
	followers, room := make([][]int, len(counts)), make([]int, row.Subscriptions) // one, as there are millions of feeds
	for f, count := range counts {
		followers[f], room = room[:0:count], room[count:]
	}
	for i, list := range lists {
		for _, f := range list {
			followers[f] = append(followers[f], i)
		}
	}
	row.People, row.Feeds, row.Sample = size, len(followers), min(size, c.Sample)
	for _, who := range followers {
		if len(who) == 1 {
			row.Lone += 1 / float64(row.Subscriptions)
		}
	}
	var chosen, best, anybody []float64
	for _, i := range c.Seed.Stream(fmt.Sprintf("%d people", size)).Perm(size)[:row.Sample] {
		if ctx.Err() != nil {
			return row, false
		}
		shared := slices.DeleteFunc(slices.Clone(lists[i]), func(f int) bool { return len(followers[f]) < 2 })
		of := float64(len(lists[i]))
		chosen = append(chosen, float64(tenChosen(followers, i, shared))/of)
		best = append(best, float64(tenBest(followers, i, shared))/of)
		anybody = append(anybody, float64(len(shared))/of)
		tell(float64(len(chosen)) / float64(row.Sample))
	}
	row.Chosen, row.Best, row.Any = report.SpreadOf(chosen), report.SpreadOf(best), report.SpreadOf(anybody)
	return row, true
}

// tenChosen is how many of the feeds those ten readers follow, other than i, whom a node would rather have than all
// others: a feed is worth four where no neighbor has it, two where one does, and one beyond, as in package neighbors.
func tenChosen(followers [][]int, i int, feeds []int) (covered int) {
	worth := func(offers int) int { return max(4>>offers, 1) }
	offers, worths := make([]int, len(feeds)), make(map[int]int)
	for _, f := range feeds {
		for _, j := range followers[f] {
			worths[j] += worth(0)
		}
	}
	delete(worths, i)
	for range linksEach {
		best := nobody
		for j, w := range worths {
			if best == nobody || w > worths[best] || w == worths[best] && j < best {
				best = j
			}
		}
		delete(worths, best)
		for k, f := range feeds {
			if _, follows := slices.BinarySearch(followers[f], best); !follows {
				continue
			}
			less := worth(offers[k]) - worth(offers[k]+1)
			if offers[k]++; offers[k] == 1 {
				covered++
			}
			for _, j := range followers[f] {
				if _, left := worths[j]; left && less > 0 {
					worths[j] -= less
				}
			}
		}
	}
	return covered
}

func (c Company) report(rows []CompanyRow) *report.Report {
	r := newReport("Who has company among many people", c.Seed, c.Traces)
	r.Result = rows
	r.Setting = []string{"Lists made up by the law of 251 real ones"}
	if c.Lists != nil {
		r.Setting = []string{"Of " + c.Lists.String()}
	}
	if len(rows) < len(c.Sizes) {
		r.Partial = fmt.Sprintf("%d of %d sizes", len(rows), len(c.Sizes))
	}
	t := report.Table{Title: "Which share of a person's feeds others follow", Columns: []string{"people", "feeds",
		"subscriptions", "lone", "sample", "ten chosen: mean", "median", "ten best: mean", "median", "anybody: mean",
		"median"},
		Notes: []string{"Lone: the share of the subscriptions to feeds that nobody else follows. Shares of a " +
			"person's feeds are means and medians over a sample. Ten chosen: whom a node would rather have than all " +
			"others, of all there are. Ten best: of whom each adds most to those before."},
	}
	for _, row := range rows {
		var shares []string
		for _, s := range []report.Spread{row.Chosen, row.Best, row.Any} {
			shares = append(shares, report.Percent(s.Mean), report.Percent(s.Median))
		}
		t.Row(row.People, row.Feeds, row.Subscriptions, report.Percent(row.Lone), row.Sample, shares)
	}
	r.Tables = []report.Table{t}
	r.Took(report.HashOf(fmt.Sprint(r.Tables)), 0) // no world was run
	return r
}
