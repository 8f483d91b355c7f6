package experiment

import (
	"testing"
	"time"
)

// Nodes that nobody can dial find neighbors and have what comes out as soon as others, with an address of their own or
// without.
func TestNAT(t *testing.T) {
	t.Parallel()
	x := NAT{Seed: 1, Traces: embedded(t), Nodes: 40, Length: 6 * time.Hour, Shares: []float64{1, .3}}
	report := ran(t, x.Run)
	again := ran(t, x.Run)
	if report.Hash == "" || report.Hash != again.Hash {
		t.Errorf("one seed gave the hashes %s and %s", report.Hash, again.Hash)
	}
	rows := report.Result.([]NATRow)
	all, few := rows[0], rows[1]
	if all.Dialled.Nodes != 27 || few.Dialled.Nodes != 8 || few.Homes.Nodes+few.Carrier.Nodes != 28 {
		t.Errorf("of all nodes %d can be dialled; of a few %d, at the end, and %d and %d not", all.Dialled.Nodes,
			few.Dialled.Nodes, few.Homes.Nodes, few.Carrier.Nodes)
	}
	for _, row := range rows {
		if row.Linked.of() < 1 || row.Healed.of() < 1 {
			t.Errorf("where %.0f%% can be dialled %s had neighbors after two minutes, and %s again", 100*row.Share,
				row.Linked.percent(), row.Healed.percent())
		}
	}
	for name, class := range map[string]NATClass{"homes": few.Homes, "homes behind a carrier": few.Carrier} {
		// All keys are new, so homes that share an address may owe together what one node may, and wait for that.
		late := class.Lag.Mean > 1.3*all.Dialled.Lag.Mean && name == "homes"
		if class.Coverage.of() < .98 || late {
			t.Errorf("%s have %s of the entries, %.0f s late; where all can be dialled it is %.0f s", name,
				class.Coverage.percent(), class.Lag.Mean, all.Dialled.Lag.Mean)
		}
		if class.Links.Mean < 5 || class.Hosted.Mean != 0 {
			t.Errorf("%s have %.1f neighbors, and host %.1f", name, class.Links.Mean, class.Hosted.Mean)
		}
	}
	if few.Dialled.Hosted.Mean < 5 {
		t.Errorf("who can be dialled hosts %.1f", few.Dialled.Hosted.Mean)
	}
	impossible := NAT{Traces: embedded(t), Nodes: 10, Shares: []float64{.1}}
	if _, err := impossible.Run(t.Context(), nil); err == nil {
		t.Error("a network ran in which one node can be dialled")
	}
}

// What homes at one address offer earns once for all of them, so each by itself seems to bring nothing of what it
// claims. Their hosts do not take that for lies: all of them would be refused for some.
func TestHomesAtOneAddressKeepTheirNeighbors(t *testing.T) {
	t.Parallel()
	x := NAT{Seed: 1, Traces: embedded(t), Nodes: 60, Length: 14 * time.Hour, Shares: []float64{.1}}
	report := ran(t, x.Run)
	if links := report.Result.([]NATRow)[0].Carrier.Links; links.Count < 10 || links.P5 < 5 {
		t.Errorf("%d homes behind a carrier have %.1f neighbors after seven hours, some %.1f", links.Count, links.Mean,
			links.P5)
	}
}
