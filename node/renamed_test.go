package node_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/polling"
)

// A publisher that makes up new ids for each fetch has its entries kept once, and is not asked as if all of it were
// new.
func TestIdsOfTheFetch(t *testing.T) {
	const listed = 10
	w := newNetwork(t)
	fetches := 0
	p := w.feed(news)
	p.answer = func(f node.Fetch) node.Fetched {
		fetches++
		doc := &feed.Document{Feed: f.Feed}
		newest := int(w.Now().Sub(epoch) / (6 * time.Hour))
		for i := newest; i > newest-listed; i-- {
			doc.Entries = append(doc.Entries, feed.Entry{Feed: f.Feed, ID: fmt.Sprint(i, " ", fetches),
				Title: fmt.Sprint("Entry ", i)})
		}
		return node.Fetched{Status: 200, Document: doc}
	}
	h := w.add(node.Config{Policy: polling.Auto{Range: polling.Range{Min: 30 * time.Minute, Max: 16 * time.Hour}}},
		news)
	w.run(4 * 24 * time.Hour)
	kept := h.node.Status().Counters.Polled
	if slipped, _ := gapNotes(h); slipped != 0 || kept < listed+14 || kept > listed+16 || len(p.asked) > 60 {
		t.Errorf("%d gaps, %d entries of %d, %d polls in four days", slipped, kept, listed+16, len(p.asked))
	}
}

// Entries that say the same under ids of their own are as many as there are.
func TestEntriesThatSayTheSame(t *testing.T) {
	n := 2
	w := newNetwork(t)
	w.feed(news).answer = func(f node.Fetch) node.Fetched {
		doc := &feed.Document{Feed: f.Feed}
		for i := n; i > 0; i-- {
			doc.Entries = append(doc.Entries, feed.Entry{Feed: f.Feed, ID: fmt.Sprint(i), Title: "It passed"})
		}
		return node.Fetched{Status: 200, Document: doc}
	}
	h := w.add(node.Config{Policy: polling.Fixed{Every: time.Hour}}, news)
	for range 5 {
		w.run(2 * time.Hour)
		n++
	}
	w.run(2 * time.Hour)
	if kept := h.node.Status().Counters.Polled; kept != int64(n) {
		t.Errorf("%d of %d entries are kept", kept, n)
	}
}
