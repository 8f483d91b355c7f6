package experiment

import (
	"context"
	"fmt"
	"slices"
	"time"

	"feedex/lab"
)

// A SplitResult is what came of a network that was cut in two halves from a quarter of the run to a half.
type SplitResult struct {
	From   time.Duration `json:"from_ns"` // since the start
	To     time.Duration `json:"to_ns"`
	Looks  []SplitLook   `json:"looks"`
	Before Spread        `json:"lag_before"` // in seconds, of entries that came out before the cut,
	Cut    Spread        `json:"lag_cut"`    // during it,
	After  Spread        `json:"lag_after"`  // and afterwards
	Missed Share         `json:"missed"`     // entries of own feeds that did not come
}

// A SplitLook is how the halves hang together at one time.
type SplitLook struct {
	When  string  `json:"when"`
	Cross float64 `json:"cross"` // share of links between the halves
	Links float64 `json:"links"` // neighbors a node
	Far   float64 `json:"far"`   // neighbors of a node in the half without the tracker
}

// split cuts the network in two for a quarter of the run. A random half of its members is on the far side,
// without the tracker.
func (c Churn) split(ctx context.Context, n network, w *lab.World, progress func(float64)) SplitResult {
	for i := range c.Nodes {
		n.join(w, i, nil)
	}
	r := SplitResult{From: c.Length / 4, To: c.Length / 2}
	far := make(map[*lab.Host]bool)
	at := func(t time.Duration, f func()) { w.At(n.Start.Add(t), f) }
	look := func(t time.Duration, when string) {
		at(t, func() { r.Looks = append(r.Looks, lookAt(w, far, when)) })
	}
	at(r.From, func() {
		hosts := slices.Clone(w.Hosts())
		c.Seed.Stream("split").Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		hosts = hosts[len(hosts)/2:]
		for _, h := range hosts {
			far[h] = true
		}
		r.Looks = append(r.Looks, lookAt(w, far, "before the cut"))
		w.Split(hosts)
	})
	look(r.From+10*time.Minute, "10m after the cut") // by then neighbors that cannot be reached are known to be gone
	at(r.To, func() {
		r.Looks = append(r.Looks, lookAt(w, far, "before it heals"))
		w.Heal()
	})
	whole := []time.Duration{2 * time.Minute, 10 * time.Minute, time.Hour, c.Length / 2}
	slices.Sort(whole)
	for _, after := range slices.Compact(whole) {
		look(r.To+after, spell(after)+" after it healed")
	}
	advance(ctx, w, n.Start.Add(c.Length), progress)
	var lags [3][]float64
	for _, h := range w.Hosts() {
		var sum [3]float64
		var count [3]int
		for _, s := range h.Sights(w.Now()) {
			r.Missed.count(s.Any == lab.Never)
			phase := 0
			switch {
			case s.Published >= r.To:
				phase = 2
			case s.Published >= r.From:
				phase = 1
			}
			if s.Any != lab.Never {
				sum[phase] += (s.Any - s.Published).Seconds()
				count[phase]++
			}
		}
		for i := range lags {
			if count[i] > 0 {
				lags[i] = append(lags[i], sum[i]/float64(count[i]))
			}
		}
	}
	r.Before, r.Cut, r.After = spread(lags[0]), spread(lags[1]), spread(lags[2])
	return r
}

func lookAt(w *lab.World, far map[*lab.Host]bool, when string) SplitLook {
	look := SplitLook{When: when}
	farIDs := make(map[string]bool)
	for h := range far {
		farIDs[h.ID.String()] = true
	}
	cross, all, farLinks := 0, 0, 0
	for _, h := range w.Hosts() {
		for _, n := range h.Node().Neighbors() {
			all++
			if farIDs[n.ID.String()] != far[h] {
				cross++
			}
			if far[h] {
				farLinks++
			}
		}
	}
	look.Cross = float64(cross) / float64(max(1, all))
	look.Links = float64(all) / float64(max(1, len(w.Hosts())))
	look.Far = float64(farLinks) / float64(max(1, len(far)))
	return look
}

func (r SplitResult) table() Table {
	t := Table{
		Title:   fmt.Sprintf("A network that is cut in two halves from %s to %s", spell(r.From), spell(r.To)),
		Columns: []string{"", "links between the halves", "neighbors a node", "in the half without the tracker"},
	}
	for _, l := range r.Looks {
		t.row(l.When, percent(l.Cross), fmt.Sprintf("%.1f", l.Links), fmt.Sprintf("%.1f", l.Far))
	}
	t.Notes = []string{fmt.Sprintf("Mean lag of entries that came out before %s min, during %s, afterwards %s; %s of "+
		"all did not come.",
		meanMinutes(r.Before), meanMinutes(r.Cut), meanMinutes(r.After), r.Missed.percent())}
	return t
}
