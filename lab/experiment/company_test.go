package experiment

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/lab/trace"
	"feedex/neighbors"
	"feedex/protocol"
)

// The graph says of as many people what the network does: which share of their feeds the ten best follow, and which
// anybody.
func TestCompanyIsThatOfTheNetwork(t *testing.T) {
	set := embedded(t)
	network, err := Interests{Seed: 3, Traces: set, Nodes: 40, Length: 2 * time.Hour, Every: 30 * time.Minute,
		NoEncoding: true}.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	graph := ran(t, Company{Seed: 3, Traces: set, Sizes: []int{40, 200}}.Run)
	got, rows := network.Result.(InterestResult), graph.Result.([]CompanyRow)
	if small := rows[0]; small.Any != got.Any || small.Best != got.Best || small.Sample != 40 {
		t.Errorf("by the graph anybody %+v, the ten best %+v; in the network %+v, %+v", small.Any, small.Best, got.Any,
			got.Best)
	}
	for _, row := range rows {
		if row.Chosen.Mean > row.Any.Mean || row.Chosen.Mean < .8*row.Best.Mean || row.Lone <= 0 || row.Lone >= 1 {
			t.Errorf("%+v", row)
		}
	}
	if rows[1].Any.Mean <= rows[0].Any.Mean || rows[1].Lone >= rows[0].Lone {
		t.Errorf("among more people fewer have company: %+v", rows)
	}
}

// A routing table that takes ten, one after the other, whoever claims most, has the feeds of those that are chosen.
func TestTenChosenAsNodesChoose(t *testing.T) {
	lists := trace.SyntheticLists(5, 60)
	followers := make([][]int, len(lists.Followers()))
	sets := make([]protocol.Subset, len(lists))
	url := func(f int) feed.URL { return feed.URL(fmt.Sprintf("https://publisher%d.example.com/feed", f)) }
	for i, list := range lists {
		for _, f := range list {
			followers[f] = append(followers[f], i)
			sets[i] = append(sets[i], protocol.Interest{Feed: url(f)})
		}
	}
	some := 0
	for i, list := range lists {
		table := neighbors.NewRoutingTable(neighbors.Config{Max: linksEach, MaxHops: 3, MaxRelayed: 96})
		for _, f := range list {
			table.Own(url(f), true)
		}
		covered, taken := make(map[int]bool), map[int]bool{i: true}
		for range linksEach {
			best, most := nobody, neighbors.Usefulness(-1)
			for j := range lists {
				if claims := table.Claimed(publicAddress(j), sets[j]); !taken[j] && claims > most {
					best, most = j, claims
				}
			}
			taken[best] = true
			table.Add(time.Unix(0, 0), publicAddress(best), true, sets[best], nil)
			for _, f := range lists[best] {
				covered[f] = true
			}
		}
		want := 0
		for _, f := range list {
			if covered[f] {
				want++
			}
		}
		if got := tenChosen(followers, i, list); got != want {
			t.Errorf("of reader %d %d feeds are covered, by a routing table %d", i, got, want)
		}
		some += want
	}
	if some == 0 {
		t.Error("nobody has company")
	}
}

func TestCompanySettings(t *testing.T) {
	set := embedded(t)
	for _, c := range []Company{{Traces: set}, {Traces: set, Sizes: []int{1}}, {Traces: set, Sizes: []int{100_001}},
		{Traces: set, Sizes: []int{3}, Lists: trace.Lists{{0}, {0}}}, {Traces: set, Sizes: []int{3}, Sample: -1}} {
		if _, err := c.Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
			t.Errorf("%v people: error %v", c.Sizes, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := (Company{Traces: set, Sizes: []int{9}}).Run(ctx, nil); err != nil || r.Partial != "0 of 1 sizes" {
		t.Errorf("interrupted: %v, %v", r, err)
	}
}
