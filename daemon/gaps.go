package daemon

import (
	"context"
	"time"

	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

const (
	// gapsEvery is how often the node looks for gaps in its feeds that others may fill.
	gapsEvery = 10 * time.Minute
	// gapAgain is how long a gap that nobody could fill is left alone at least, and gapSoon one about which nobody
	// answered.
	gapAgain, gapSoon = 6 * time.Hour, time.Hour
	// gapAging is the share of a gap's age for which it is left alone, as 1/gapAging: how many entries are missing is a
	// guess, and nobody may have the last of them.
	gapAging = 4
)

// leftAlone is for how long the gap of a feed is left alone that was asked about.
func leftAlone(f *node.FeedStatus, now time.Time) time.Duration {
	return max(gapAgain, now.Sub(f.Gap.Before)/gapAging)
}

// A gapFiller asks the network for the entries that feeds published between two polls and that are missing here.
type gapFiller struct {
	owner control.Owner
	log   func(feed.URL, BackfillReport)
	hops  int           // as in Backfill
	pause time.Duration // as in Backfill
	tried map[feed.URL]time.Time
}

// run looks for gaps until ctx ends.
func (g *gapFiller) run(ctx context.Context) {
	for rest(ctx, gapsEvery) == nil {
		_ = g.sweep(ctx, time.Now()) // what fails is tried again the next time
	}
}

// sweep has one look. Feeds that are private, or followed discreetly, are nobody's business: there the owner has to
// ask.
func (g *gapFiller) sweep(ctx context.Context, now time.Time) error {
	feeds, err := g.owner.Feeds(ctx)
	if err != nil {
		return err
	}
	tried := make(map[feed.URL]time.Time)
	for i := range feeds {
		if at, ok := g.tried[feeds[i].URL]; ok && fillable(&feeds[i]) && now.Sub(at).Abs() < leftAlone(&feeds[i], now) {
			tried[feeds[i].URL] = at
		}
	}
	g.tried = tried
	for i := range feeds {
		f := &feeds[i]
		if _, lately := g.tried[f.URL]; lately || !fillable(f) {
			continue
		}
		g.tried[f.URL] = now
		got, err := Backfill{Feed: f.URL, Since: f.Gap.After, Until: f.Gap.Before, Network: true, Hops: g.hops,
			Pause: g.pause}.Run(ctx, g.owner, func(BackfillReport) {})
		if err != nil {
			return err
		}
		if got.Unanswered {
			g.tried[f.URL] = now.Add(gapSoon - leftAlone(f, now))
		}
		g.log(f.URL, got)
	}
	return nil
}

// fillable reports whether the feed has a gap that others may be asked about.
func fillable(f *node.FeedStatus) bool { return f.Gap != nil && !f.Private && !f.Discreet }

// gapHops is how far gaps are asked about by themselves. That the node follows a feed its neighbors know from its
// adverts, so that asking them tells nobody anything; others only hear of it where the owner always asks.
func gapHops(s node.QueryNetwork) int {
	switch s {
	case node.AlwaysNetwork:
		return protocol.DefaultQueryHops
	case node.NeverNetwork:
		return 0
	}
	return 1
}

// fillGaps has the node fill gaps by itself, as far as its owner lets it ask others.
func (h *host) fillGaps(ctx context.Context) {
	hops := gapHops(h.config.Node.QueryNetwork)
	if hops == 0 {
		return
	}
	g := gapFiller{owner: unasked{h}, hops: hops, log: func(u feed.URL, got BackfillReport) {
		h.config.Log.Info("asked the network for missed entries", "feed", shown(u), "entries", got.Network,
			"err", got.Problem)
	}}
	g.run(ctx)
}
