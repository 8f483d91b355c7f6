package experiment

import (
	"fmt"
	"time"

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
	var x compared
	for n := range coordinationSeeds {
		c := t.crowd.seeded(n)
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
		c.Watch = told(func(_ int, _ bool, note node.Note) {
			if _, ok := note.(node.Suspect); ok {
				suspected++
			} else if _, ok := dismissed(note); ok {
				ended++
			}
		})
		with := run()
		c.Alone = true
		alone := run()
		x.add(with.Honest.Lag, alone.Honest.Lag, with.Honest.Coverage/alone.Honest.Coverage)
	}
	ratio, share := report.Mean(x.ratios), report.Mean(x.others)
	return fmt.Sprintf("suspected %d times, %d links ended for it, standing %d at least; %s; %.3f x of the entries",
			suspected, ended, lowest, x, share),
		suspected == 0 && ended == 0 && lowest == 100 && ratio <= mostRatio && share >= keptWithoutThem
}

// cacheAttacks is row 32.
func cacheAttacks() []attack {
	return []attack{{32, "stale caches", "all are honest; publishers answer with any of 8 copies, 10 min old at most",
		fmt.Sprintf("nobody is taken for a liar; lag <= %g x, entries >= 99.5%% of, that without notices, means of %d",
			mostRatio, coordinationSeeds),
		2 * coordinationSeeds, (*trial).stalling}}
}
