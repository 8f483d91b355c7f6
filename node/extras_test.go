package node_test

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
)

// What a publisher adds to an entry beside what its digest counts, as a transcript that comes a day later, is the
// owner's: it makes no new version of the entry, and nobody is offered it.
func TestExtrasThatComeLaterMakeNoRevision(t *testing.T) {
	w, e := editors(t, 2, node.Config{})
	a, b, p := w.list[0], w.list[1], w.feeds[news]
	offers := len(a.calls)
	p.entries[0].Extras = feed.Extras{Duration: time.Hour,
		Transcripts: []feed.Companion{{URL: "https://example.com/1.vtt", Type: "text/vtt"}}}
	p.edits++
	a.poll(news)
	if got := a.record(e.EntryID()); !got.Entry.Equal(&p.entries[0]) || got.Digest != e.Digest() {
		t.Errorf("kept %+v, want %+v", got, p.entries[0])
	}
	other := e
	other.Extras = feed.Extras{Image: "https://example.com/forged.jpg"}
	a.put(b, bundleWith(other))
	if got := a.record(e.EntryID()); !got.Entry.Equal(&p.entries[0]) {
		t.Errorf("after a neighbor said otherwise it is %+v", got.Entry.Extras)
	}
	n := count(a.calls[offers:], "check_did") + count(a.calls[offers:], "check_dids")
	if n > 0 || a.node.SetAside() > 0 || a.suspects(b.id) > 0 {
		t.Errorf("%d offers, %d versions set aside, %d suspicions", n, a.node.SetAside(), a.suspects(b.id))
	}
}

// A neighbor's extras are its word, until an own poll says what they are: also where it lists none. Whoever brought
// others is no forger for it, as publishers show different readers different ones.
func TestExtrasOfANeighbor(t *testing.T) {
	for name, own := range map[string]feed.Extras{"others": {Duration: time.Minute}, "none": {}} {
		t.Run(name, func(t *testing.T) {
			w, _ := editors(t, 2, node.Config{})
			a, b := w.list[0], w.list[1]
			e := feed.Entry{Feed: news, ID: "brought", Title: "T", Published: w.Now().Truncate(time.Second)}
			e.Extras = feed.Extras{Image: "https://example.com/brought.jpg"}
			a.put(b, bundleWith(e))
			if got := a.record(e.EntryID()); got.Confirmed || !got.Entry.Equal(&e) {
				t.Fatalf("the neighbor's word is %+v", got)
			}
			listed := e
			listed.Extras = own
			p := w.feeds[news]
			p.entries = append([]feed.Entry{listed}, p.entries...)
			p.edits++
			a.poll(news)
			if got := a.record(e.EntryID()); !got.Confirmed || got.Source != b.id || !got.Entry.Equal(&listed) {
				t.Errorf("after the poll it is %+v", got)
			}
			if a.suspects(b.id) > 0 || !a.neighborOf(b.id) {
				t.Errorf("%d suspicions, a neighbor %v", a.suspects(b.id), a.neighborOf(b.id))
			}
			if shares := a.store.Unshown(w.Now().Add(-time.Hour)); len(shares) > 0 {
				t.Errorf("unshown are %+v", shares)
			}
		})
	}
}

// A picture whose address is signed anew for each poll has its entry stored once a day; all else that changes at once.
func TestSignedAddressesOfExtras(t *testing.T) {
	w, e := editors(t, 1, node.Config{})
	a, p := w.list[0], w.feeds[news]
	for _, step := range []struct {
		after        time.Duration
		list, stored feed.URL
	}{
		{0, "https://example.com/a.jpg?sig=1", "https://example.com/a.jpg?sig=1"},
		{time.Hour, "https://example.com/a.jpg?sig=2", "https://example.com/a.jpg?sig=1"},
		{time.Hour, "https://example.com/b.jpg?sig=4", "https://example.com/b.jpg?sig=4"},
		{time.Hour, "https://example.com/b.jpg?sig=5", "https://example.com/b.jpg?sig=4"},
		{24 * time.Hour, "https://example.com/b.jpg?sig=6", "https://example.com/b.jpg?sig=6"},
	} {
		w.run(step.after)
		p.entries[0].Extras.Image = step.list
		p.edits++
		a.poll(news)
		if got := a.record(e.EntryID()).Entry.Extras.Image; got != step.stored {
			t.Errorf("of %s it has %s, want %s", step.list, got, step.stored)
		}
	}
}
