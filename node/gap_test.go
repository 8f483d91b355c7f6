package node_test

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/node/internal/poller"
	"feedex/polling"
	"feedex/protocol"
)

// gapNotes is how often the node told of a gap, and that one is filled.
func gapNotes(h *testHost) (slipped, filled int) {
	for _, note := range h.notes {
		switch note.(type) {
		case node.Slipped:
			slipped++
		case node.Filled:
			filled++
		}
	}
	return slipped, filled
}

// flood publishes n entries of news, a minute apart.
func (w *network) flood(n int) {
	for range n {
		w.run(time.Minute)
		w.publish(news)
	}
}

// rarely is a policy that leaves it to the test when to poll.
type rarely struct{}

func (rarely) Interval(polling.Poll) time.Duration { return 720 * time.Hour }
func (rarely) First() time.Duration                { return 720 * time.Hour }
func (rarely) Longest() time.Duration              { return 720 * time.Hour }

// pollNow has the node poll news, whether it is due or not.
func (h *testHost) pollNow() {
	s := h.node.Subscription(news)
	s.Polling = true
	h.step(h.net.fetch(h, node.Fetch{Feed: news, ETag: s.ETag}))
}

// A feed that publishes more between two polls than its document lists: the gap is noted, kept over a restart,
// shown, and over when as many entries came as were missing. Meanwhile the feed is polled sooner.
func TestSlippedWindowIsAGapUntilItIsFilled(t *testing.T) {
	w, h, neighbor := newPair(t, node.Config{Policy: rarely{}}, news)
	neighbor.blocked[news] = true // or it would bring them
	w.flood(3)
	h.pollNow()
	if slipped, _ := gapNotes(h); slipped != 0 || h.node.Feeds()[0].Gap != nil {
		t.Fatal("the first entries of a feed are no gap")
	}
	if h.stored(news).Listed != 3 {
		t.Fatalf("%d entries in the document, want 3", h.stored(news).Listed)
	}
	last := w.feed(news).entries[2]
	w.flood(30) // of which the document lists ten
	h.node.Subscription(news).Interval = 40 * time.Hour
	h.pollNow()

	slipped, _ := gapNotes(h)
	gap := h.node.Feeds()[0].Gap
	if slipped != 1 || gap == nil || h.node.Status().Gaps != 1 {
		t.Fatalf("told %d times of a gap, shown: %+v, %d feeds", slipped, gap, h.node.Status().Gaps)
	}
	oldest := w.feed(news).entries[23]
	if !gap.After.Equal(last.Published) || !gap.Before.Equal(oldest.Published) || gap.Filled != 0 {
		t.Errorf("gap %+v, want after %v and before %v", gap, last.Published, oldest.Published)
	}
	if gap.Missing != 20 {
		t.Errorf("%d entries are missing, want 20", gap.Missing)
	}
	if got := h.stored(news).Interval; got != 20*time.Hour {
		t.Errorf("polled again after %v, want half of 40h", got)
	}

	h.kill()
	h.start()
	if again := h.node.Feeds()[0].Gap; again == nil || *again != *gap {
		t.Fatalf("after a restart %+v, before %+v", again, gap)
	}
	w.run(10 * time.Minute) // they are neighbors again
	deliver := func(entries []feed.Entry) {
		t.Helper()
		bundles := protocol.Split(news, entries)
		for _, b := range bundles {
			b.Path = []protocol.NodeID{neighbor.id}
			if r := h.put(neighbor, b); r.Fault != nil {
				t.Fatal(r.Fault)
			}
		}
	}
	missed := w.feed(news).entries[3:23]
	deliver(missed[:12])
	if got := h.node.Feeds()[0].Gap; got == nil || got.Filled != 12 {
		t.Fatalf("12 of 20 came: %+v", got)
	}
	deliver(missed[:12]) // again: nothing new
	old := last
	old.ID, old.Published = "old", last.Published.Add(-time.Hour)
	deliver([]feed.Entry{old}) // from before the gap
	if got := h.node.Feeds()[0].Gap; got == nil || got.Filled != 12 {
		t.Fatalf("still 12 of 20 came: %+v", got)
	}
	deliver(missed[12:])
	if _, filled := gapNotes(h); filled != 1 || h.node.Feeds()[0].Gap != nil || h.node.Status().Gaps != 0 {
		t.Errorf("told %d times that it is filled, shown: %+v", filled, h.node.Feeds()[0].Gap)
	}
	h.kill()
	h.start()
	if h.node.Feeds()[0].Gap != nil {
		t.Error("it came back with a restart")
	}
}

// No gap: a document with one entry that was known, one whose entries have other ids now, and none at all.
func TestWindowThatDidNotSlip(t *testing.T) {
	w, h := newAlone(t, node.Config{Policy: polling.Fixed{Every: time.Hour}}, news)
	w.flood(10)
	w.run(time.Hour)
	for _, tc := range []struct {
		name   string
		change func(p *publisher)
	}{
		{"one entry is known", func(*publisher) { w.flood(9) }}, {"other ids", func(p *publisher) {
			for i := range p.entries {
				p.entries[i].ID += " moved"
			}
			p.edits++
		}},
		{"no entries", func(p *publisher) { p.window = 0; p.edits++ }},
	} {
		tc.change(w.feed(news))
		w.run(2 * time.Hour)
		w.feed(news).window = 10
		w.feed(news).edits++
		w.run(2 * time.Hour)
		if slipped, _ := gapNotes(h); slipped != 0 {
			t.Fatalf("%s: taken for a gap, %+v", tc.name, h.node.Feeds()[0].Gap)
		}
	}
	// At a fixed interval it stays at that, slipped or not.
	w.flood(30)
	w.run(time.Hour)
	if slipped, _ := gapNotes(h); slipped == 0 {
		t.Fatal("no gap was noted")
	}
	if got := h.stored(news).Interval; got != time.Hour {
		t.Errorf("interval %v, want 1h", got)
	}
}

// A document that was empty for once does not hide a gap.
func TestAGapBehindAnEmptyDocument(t *testing.T) {
	w, h := newAlone(t, node.Config{Policy: rarely{}}, news)
	w.flood(3)
	h.pollNow()
	p := w.feed(news)
	usual := p.window
	p.window = 0
	p.edits++
	h.pollNow()
	p.window = usual
	w.flood(40)
	h.pollNow()
	if slipped, _ := gapNotes(h); slipped != 1 {
		t.Errorf("%d gaps, want 1", slipped)
	}
}

// Nor does an entry that bears the date on which it was drafted.
func TestAGapBehindADraft(t *testing.T) {
	w := newNetwork(t)
	p := w.feed(news)
	h := w.add(node.Config{Policy: rarely{}}, news)
	w.flood(3)
	h.pollNow()
	last := p.entries[2].Published
	w.flood(40)
	p.entries[40].Published = last.Add(-24 * time.Hour)
	h.pollNow()
	gap := h.node.Feeds()[0].Gap
	if gap == nil || !gap.After.Equal(last) || !gap.Before.Equal(p.entries[33].Published) || gap.Missing < 25 ||
		gap.Missing > 30 {
		t.Errorf("gap %+v, want about 30 entries between %v and %v", gap, last, p.entries[33].Published)
	}
}

// A second gap before the first is filled makes it longer.
func TestGapsGrowTogether(t *testing.T) {
	w, h := newAlone(t, node.Config{Policy: rarely{}}, news)
	w.flood(3)
	h.pollNow()
	w.flood(40)
	h.pollNow()
	first := *h.node.Feeds()[0].Gap
	w.flood(40)
	h.pollNow()
	both := *h.node.Feeds()[0].Gap
	if slipped, _ := gapNotes(h); slipped != 2 {
		t.Fatalf("%d gaps, want 2", slipped)
	}
	if !both.After.Equal(first.After) || !both.Before.After(first.Before) || both.Missing <= first.Missing {
		t.Errorf("first %+v, then %+v", first, both)
	}
}

func TestMissing(t *testing.T) {
	const h = time.Hour
	for _, tc := range []struct {
		gap, document time.Duration
		listed, want  int
	}{
		{2 * h, h, 11, 19}, {h, 2 * h, 11, 4}, {time.Minute, h, 11, 1}, {h, 0, 11, 1}, {h, h, 1, 1},
		{1_000_000 * h, time.Second, 1000, poller.MostMissing - 1},
	} {
		if got := poller.Missing(tc.gap, tc.document, tc.listed); got != tc.want {
			t.Errorf("a gap of %v before %d entries in %v: %d, want %d", tc.gap, tc.listed, tc.document, got, tc.want)
		}
	}
}
