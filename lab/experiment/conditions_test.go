package experiment

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"feedex/lab/trace"
	"feedex/protocol"
)

// Among real conditions publishers refuse, and what the network is worth stays: nearly as little is lost as in the
// paper's world, and beside a node alone, which publishers also ask to come rarely, entries are not half as late again.
func TestTheRealWorld(t *testing.T) {
	t.Parallel()
	run := func(c Conditions) PaperRow {
		p := Paper{Seed: 1, Traces: embedded(t), Nodes: 30, Each: 12, Length: 3 * time.Hour, Conditions: c,
			Intervals: []time.Duration{time.Hour}}
		report := ran(t, p.Run)
		return report.Result.(PaperResult).Rows[0]
	}
	late := func(r PaperRow) float64 { return r.Exchange.Lag.Mean / r.Alone.Lag.Mean }
	lost := func(r PaperRow) float64 { return r.Exchange.Miss.Mean - r.Exchange.Listed.Mean }
	usual, real := run(Conditions{}), run(Real())
	if usual.Refused != 0 || real.Refused == 0 {
		t.Errorf("%d requests are refused in the paper's world, and %d in the real one", usual.Refused, real.Refused)
	}
	if late(real) > 1.5*late(usual) || lost(real) > lost(usual)+.02 {
		t.Errorf("%.3f of a node's own lag, and %.4f are lost; in the paper's world %.3f and %.4f",
			late(real), lost(real), late(usual), lost(usual))
	}
}

// Nodes follow what people do, a list each, and there can be no more of them than lists.
func TestNodesWithInterests(t *testing.T) {
	t.Parallel()
	p := Paper{Seed: 1, Traces: embedded(t), Nodes: 12, Length: 2 * time.Hour, NoEncoding: true,
		Conditions: Conditions{Interests: true}, Intervals: []time.Duration{time.Hour}}
	p, feeds, err := p.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	start := weekday(p.Traces, p.Length)
	w := p.world(p.network(feeds, start, time.Hour))
	advance(t.Context(), w, start.Add(2*joinWithin), func(float64) {})
	if len(p.Lists) != p.Nodes || len(feeds) != len(p.Lists.Followers()) || len(w.Hosts()) != p.Nodes {
		t.Fatalf("%d hosts and %d feeds for %v", len(w.Hosts()), len(feeds), p.Lists)
	}
	for _, h := range w.Hosts() {
		i, err := strconv.Atoi(strings.TrimPrefix(h.Name, "node "))
		if follows := slices.Sorted(slices.Values(h.Follows())); err != nil || !slices.Equal(follows, p.Lists[i]) {
			t.Errorf("%s follows %v, want %v (%v)", h.Name, follows, p.Lists[i], err)
		}
	}
	for _, p := range []Paper{
		{Traces: p.Traces, Nodes: 3, Lists: trace.Lists{{0}, {0}}},
		{Traces: p.Traces, Nodes: -1},
		{Traces: &trace.Set{From: p.Traces.From, To: p.Traces.To}},
	} {
		p.Interests = true
		if _, err := p.Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
			t.Errorf("%d nodes, %v: %v", p.Nodes, p.Lists, err)
		}
	}
}

// Who reaches no publisher sees nothing by own polls, and most by neighbors.
func TestNodesThatReachNoPublisher(t *testing.T) {
	t.Parallel()
	run := func(unable float64) PaperRow {
		p := Paper{Seed: 1, Traces: embedded(t), Nodes: 24, Failing: -1, Length: 3 * time.Hour, NoEncoding: true,
			Conditions: Conditions{Unable: unable}, Intervals: []time.Duration{time.Hour}}
		report := ran(t, p.Run)
		return report.Result.(PaperResult).Rows[0]
	}
	all, half, none := run(0), run(.5), run(1)
	if none.Alone.Miss.Mean != 1 || none.Exchange.Miss.Mean != 1 {
		t.Errorf("where nobody reaches a publisher %.2f are missing", none.Exchange.Miss.Mean)
	}
	if half.Alone.Miss.Mean < .3+all.Alone.Miss.Mean || half.Exchange.Miss.Mean > half.Alone.Miss.Mean/4 {
		t.Errorf("half of whom reach none miss %.3f alone and %.3f with neighbors; of whom all do %.3f and %.3f",
			half.Alone.Miss.Mean, half.Exchange.Miss.Mean, all.Alone.Miss.Mean, all.Exchange.Miss.Mean)
	}
	_, err := Paper{Traces: embedded(t), Conditions: Conditions{Unable: 1.5}}.Run(t.Context(), nil)
	if !errors.Is(err, ErrSetting) {
		t.Errorf("half as many again as there are: %v", err)
	}
}

// Nodes that share networks have addresses of their own, in fewer networks than there are nodes, and the largest
// provider has about a fifth of them.
func TestSharedNetworks(t *testing.T) {
	ids, parts, providers := make(map[protocol.NodeID]bool), make(map[netip.Prefix]int), make(map[netip.Prefix]int)
	most := 0
	const nodes = 600
	for i := range nodes {
		id := sharedNetwork(1, i)
		ids[id] = true
		part, _ := id.Addr().Prefix(24)
		provider, _ := id.Addr().Prefix(16)
		parts[part]++
		providers[provider]++
		most = max(most, providers[provider])
	}
	if len(ids) != nodes || len(providers) > 64 || len(parts) > nodes*9/10 || most < nodes/7 || most > nodes*3/10 {
		t.Errorf("%d nodes have %d addresses in %d /24 and %d /16, of which the largest has %d", nodes, len(ids),
			len(parts), len(providers), most)
	}
}
