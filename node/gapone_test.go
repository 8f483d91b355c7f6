package node_test

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/polling"
)

// A feed that lists its latest entry alone slips with each new one. As long as these come as often as ever nothing is
// missing; where they come later than that, about as many as fit between.
func TestAFeedOfOneEntry(t *testing.T) {
	w := newNetwork(t)
	w.feed(news).answer = func(f node.Fetch) node.Fetched {
		at := w.Now().Truncate(24 * time.Hour)
		e := feed.Entry{Feed: f.Feed, ID: at.Format(time.DateOnly), Title: "A picture a day", Published: at}
		return node.Fetched{Status: 200, Document: &feed.Document{Feed: f.Feed, Entries: []feed.Entry{e}}}
	}
	h := w.add(node.Config{Policy: polling.Fixed{Every: 5 * time.Hour}}, news)
	w.run(10 * 24 * time.Hour)
	if slipped, _ := gapNotes(h); slipped != 0 {
		t.Errorf("%d gaps in a feed of an entry a day: %+v", slipped, h.node.Feeds()[0].Gap)
	}
	h.kill()
	w.run(4 * 24 * time.Hour)
	h.start()
	w.run(time.Hour)
	if g := h.node.Feeds()[0].Gap; g == nil || g.Missing < 2 || g.Missing > 4 {
		t.Errorf("after four days away: %+v, want about three entries missing", g)
	}
}
