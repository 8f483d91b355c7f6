package lab

import (
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/lab/trace"
)

// published makes a publisher with entries at those seconds after the World's start.
func published(t *testing.T, window int, seconds ...int64) *Publisher {
	f := trace.Timeline{Name: "The Feed!", Window: window}
	for _, s := range seconds {
		f.Times = append(f.Times, wednesday.Unix()+s)
	}
	return network(t, Config{Feeds: []trace.Timeline{f}, Node: hourly}, 0, 0).Publishers()[0]
}

// A document holds the newest entries, the newest first, and a node that knows it is told so.
func TestDocuments(t *testing.T) {
	p := published(t, 2, -10, 0, 60, 120)
	at := func(s int) time.Time { return wednesday.Add(time.Duration(s) * time.Second) }
	for _, c := range []struct {
		at    int
		first int // of the entries listed
		count int
	}{{-11, 0, 0}, {-10, 0, 1}, {0, 0, 2}, {59, 0, 2}, {60, 1, 2}, {300, 2, 2}} {
		doc, _, _ := p.answer(at(c.at), "")
		if len(doc.Entries) != c.count {
			t.Fatalf("at %d s the document holds %d entries, want %d", c.at, len(doc.Entries), c.count)
		}
		for i := range doc.Entries {
			if want := p.entry(c.first + c.count - 1 - i); !doc.Entries[i].Equal(want) {
				t.Errorf("at %d s entry %d is %s, want %s", c.at, i, doc.Entries[i].ID, want.ID)
			}
		}
	}
	requests, bytes := p.Requests, p.Bytes
	_, etag, _ := p.answer(at(60), "")
	full := p.Bytes - bytes
	doc, same, _ := p.answer(at(119), etag)
	if doc != nil || same != etag || p.NotModified != 1 || p.Requests != requests+2 {
		t.Errorf("a node that knows the document got %v, %s after %s", doc, same, etag)
	}
	if cost := p.Bytes - bytes - full; cost != responseHead || full < 2*200 {
		t.Errorf("a document costs %d bytes, and a 304 %d", full, cost)
	}
	if doc, _, _ := p.answer(at(120), etag); doc == nil {
		t.Error("a new entry was hidden behind an old ETag")
	}
}

// The reference node polls every two minutes and sees what is still there.
func TestReference(t *testing.T) {
	p := published(t, 2, 0, 1, 120, 121, 122, 123)
	for i, want := range []time.Duration{0, 2 * time.Minute, 2 * time.Minute, Never, 4 * time.Minute, 4 * time.Minute} {
		if got := p.reference(i); got != want {
			t.Errorf("entry %d is seen at %v, want %v", i, got, want)
		}
	}
}

// An entry that was in no document at any time counts for nobody.
func TestWhatNobodyCouldReadDoesNotCount(t *testing.T) {
	p := published(t, 2, 60, 60, 60, 60)
	w := p.world
	h, err := w.Join(MemberConfig{Feeds: nil})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.follow(append(h.member.Feeds, p.URL)); err != nil {
		t.Fatal(err)
	}
	if got := h.Sights(wednesday.Add(time.Hour)); len(got) != 2 {
		t.Errorf("%d of the four entries count, want the two that the document held", len(got))
	}
}

// Entries that have left the document by the end are told from those that a later poll would still show.
func TestWhatIsStillListed(t *testing.T) {
	p := published(t, 2, 60, 120, 180, 600)
	h, err := p.world.Join(MemberConfig{Feeds: []feed.URL{p.URL}})
	if err != nil {
		t.Fatal(err)
	}
	var listed []bool
	for _, s := range h.Sights(wednesday.Add(5 * time.Minute)) {
		listed = append(listed, s.Listed)
	}
	if want := []bool{false, true, true}; !slices.Equal(listed, want) {
		t.Errorf("after five minutes the document lists %v of what came out, want %v", listed, want)
	}
	// At 03:10 the reference node has polled at 02:00 and not yet at 04:00.
	if got := h.Sights(wednesday.Add(190 * time.Second)); len(got) != 3 || got[1].Reference != 2*time.Minute ||
		got[2].Reference != Never {
		t.Errorf("after 190 seconds there are %+v", got)
	}
}
