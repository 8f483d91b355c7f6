package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"feedex/lab"
	"feedex/lab/report"
	"feedex/node"
)

// Row 32 has nobody lie but caches in front of publishers, each of which shows what another has not yet: what a node
// truly polled is missing in the next poll of another, and who polled an old copy says that there is nothing new.

// staleFor is how far behind a cache is at most.
const staleFor = 10 * time.Minute

// stalling counts whom honest nodes take for liars, against the same nodes without notices.
func (t *trial) stalling() (string, bool) {
	suspected, ended, lowest := 0, 0, 100
	var ratios, lags, lagsAlone, shares []float64
	for n := range coordinationSeeds {
		c := t.crowd
		c.Seed += lab.Seed(n) << 32
		c.Every, c.Each, c.NoEncoding, c.Stale = coordinationEvery, coordinationEach, true, staleFor
		c.Length = min(coordinationLength, c.Length)
		run := func() CrowdRow {
			g := t.play(c, nil)
			for _, h := range g.w.Hosts() { // not all came where it was interrupted
				for _, s := range h.Node().Neighbors() {
					lowest = min(lowest, s.Standing)
				}
			}
			return g.measure(c)
		}
		c.Watch = func(int, bool) watch {
			return func(_ time.Time, _ node.Event, effects []node.Effect) {
				for _, note := range notes(effects) {
					switch note := note.(type) {
					case node.Suspect:
						suspected++
					case node.Unlinked:
						if strings.Contains(note.Reason, "broke the rules") {
							ended++
						}
					}
				}
			}
		}
		with := run()
		c.Alone = true
		alone := run()
		lags, lagsAlone = append(lags, with.Honest.Lag), append(lagsAlone, alone.Honest.Lag)
		ratios = append(ratios, with.Honest.Lag/alone.Honest.Lag)
		shares = append(shares, with.Honest.Coverage/alone.Honest.Coverage)
	}
	ratio := report.Mean(ratios)
	return fmt.Sprintf("suspected %d times, %d links ended for it, standing %d at least; %.2f x (%.2f to %.2f), %s "+
			"against %s min; %.3f x of the entries", suspected, ended, lowest, ratio, slices.Min(ratios),
			slices.Max(ratios), report.Minutes(report.Mean(lags)), report.Minutes(report.Mean(lagsAlone)),
			report.Mean(shares)),
		suspected == 0 && ended == 0 && lowest == 100 && ratio <= mostRatio && report.Mean(shares) >= keptWithoutThem
}

// cacheAttacks is row 32.
func cacheAttacks() []attack {
	return []attack{{32, "stale caches", "all are honest; publishers answer with any of 8 copies, 10 min old at most",
		fmt.Sprintf("nobody is taken for a liar; lag <= %g x, entries >= 99.5%% of, that without notices, means of %d",
			mostRatio, coordinationSeeds),
		2 * coordinationSeeds, (*trial).stalling}}
}
