package experiment

import (
	"fmt"
	"testing"
	"time"

	"feedex/lab/trace"
	"feedex/polling"
)

// Two nodes that have only each other still exchange after two weeks, whatever their feeds do: each gives in every
// three days about as much as in the first, and neither book drifts further than the other follows.
func TestTwoNodesAloneKeepExchanging(t *testing.T) {
	t.Parallel()
	set := embedded(t)
	busy := set.Busy(sharedLeast)
	const days, span = 15, 3
	for _, policy := range []polling.Policy{polling.FeedEx{}, polling.Auto{}} {
		for _, from := range []int{2, 3} {
			t.Run(fmt.Sprintf("%T/%d", policy, from), func(t *testing.T) {
				t.Parallel()
				var feeds []trace.Timeline
				for i := from; i < len(busy); i += 7 {
					feeds = append(feeds, busy[i])
				}
				start := set.From.Add(7 * 24 * time.Hour)
				n := network{Seed: 1, Feeds: feeds, Start: start, Length: days * 24 * time.Hour, Each: len(feeds),
					Bound: 10, Policy: policy, NoEncoding: true}
				g := crowd{network: n, Nodes: 2, Alike: true}.gather()
				var given, most [2]float64
				for day := span; day <= days; day += span {
					if !advance(t.Context(), g.w, start.Add(time.Duration(day)*24*time.Hour), func(float64) {}) {
						t.Fatal("stopped")
					}
					for i, h := range g.honest() {
						other := h.Node().Neighbors()[0]
						lately := other.Given - given[i]
						given[i], most[i] = other.Given, max(most[i], lately)
						if lately < most[i]/5 {
							t.Errorf("node %d gave %v in the days to %d, and %v before: %+v", i, lately, day,
								most[i], other)
						}
					}
				}
			})
		}
	}
}
