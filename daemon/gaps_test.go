package daemon

import (
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
)

func TestGapsAreFilledFromTheNetwork(t *testing.T) {
	o := newPast(100, 200)
	gap := &node.GapStatus{After: o.begun.Add(10 * time.Minute), Before: o.begun.Add(30 * time.Minute), Missing: 19}
	o.feeds = []node.FeedStatus{
		{URL: exampleFeed, Gap: gap},
		{URL: "http://example.com/whole"},
		{URL: "http://example.com/private", Gap: gap, Private: true},
		{URL: "http://example.com/discreet", Gap: gap, Discreet: true},
	}
	var filled []feed.URL
	g := gapFiller{owner: o, hops: 1, pause: time.Nanosecond,
		log: func(u feed.URL, _ BackfillReport) { filled = append(filled, u) }}
	now := o.begun
	for i, step := range []struct {
		after time.Duration
		asked int
	}{{0, 1}, {gapsEvery, 1}, {gapAgain, 2}} {
		now = now.Add(step.after)
		if err := g.sweep(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(o.hops, func(h int) bool { return h != 1 }) {
			t.Error("more than neighbors were asked")
		}
		if len(o.queries) != step.asked {
			t.Errorf("sweep %d: asked %d times, want %d", i+1, len(o.queries), step.asked)
		}
	}
	if len(o.stored) != 20 || o.stored["9"] || !o.stored["10"] || o.stored["30"] ||
		!slices.Equal(filled, []feed.URL{exampleFeed, exampleFeed}) {
		t.Errorf("stored %v of %v", o.stored, filled)
	}
	o.feeds = nil
	if err := g.sweep(t.Context(), now); err != nil || len(g.tried) != 0 {
		t.Errorf("feeds that are gone are remembered: %v, %v", g.tried, err)
	}
}

// What nobody could fill for long is asked about ever more rarely: the last of it may be a wrong guess.
func TestOldGapsAreAskedAboutRarely(t *testing.T) {
	o := newPast(100, 200)
	o.feeds = []node.FeedStatus{{URL: exampleFeed, Gap: &node.GapStatus{After: o.begun.Add(-time.Minute),
		Before: o.begun, Missing: 19}}}
	g := gapFiller{owner: o, hops: 1, pause: time.Nanosecond, log: func(feed.URL, BackfillReport) {}}
	for age := gapsEvery; age < 28*24*time.Hour; age += gapsEvery {
		if err := g.sweep(t.Context(), o.begun.Add(age)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(o.queries); n < 10 || n > 20 {
		t.Errorf("asked %d times in four weeks, want 10 to 20", n)
	}
}

// What the owner lets the node ask by itself.
func TestHowFarGapsAreAskedAbout(t *testing.T) {
	for setting, want := range map[node.QueryNetwork]int{"": 1, node.AskNetwork: 1, node.AlwaysNetwork: 3,
		node.NeverNetwork: 0} {
		if got := gapHops(setting); got != want {
			t.Errorf("%q: %d hops, want %d", setting, got, want)
		}
	}
}
