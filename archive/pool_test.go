package archive_test

import (
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// Memories of one pool share what is equal and nothing else: each has its own entries, versions and times.
func TestPooledMemoriesAreApart(t *testing.T) {
	pool := archive.NewPool()
	a, b := pool.NewMemory(), pool.NewMemory()
	e := feed.Entry{Feed: "https://news.example.com/", ID: "1", Title: "T"}
	edited := e
	edited.Title = "T, corrected"
	early, late := time.Unix(1000, 0).UTC(), time.Unix(2000, 0).UTC()
	a.Keep([]archive.Record{archive.NewRecord(e, early, protocol.NodeID{})})
	ids := []feed.EntryID{e.EntryID()}
	if b.Known(ids)[0] != (archive.Version{}) {
		t.Fatal("what one keeps the other knows")
	}
	b.Keep([]archive.Record{archive.NewRecord(e, late, protocol.NodeID{})})
	b.Keep([]archive.Record{archive.NewRecord(edited, late, protocol.NodeID{})})
	if v := a.Known(ids)[0]; v.Digest != e.Digest() || !v.Seen.Equal(early) {
		t.Errorf("the first has %+v after the second changed its own", v)
	}
	if v := b.Known(ids)[0]; v.Digest != edited.Digest() || !v.Seen.Equal(late) {
		t.Errorf("the second has %+v", v)
	}
	found, err := b.Search(t.Context(), feed.Filter{})
	if err != nil || len(found) != 1 || !found[0].Entry.Equal(&edited) {
		t.Errorf("a search found %+v, %v", found, err)
	}
}
