package feed

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever entries a document lists, each identity is left once, nothing is left that was not listed, and
// what any reader would show is not lost: to each entry listed there is one of its title, or one that
// says the same where it has none.
func TestUnite(t *testing.T) {
	some := func(words ...string) *rapid.Generator[string] { return rapid.SampledFrom(words) }
	rapid.Check(t, func(t *rapid.T) {
		b := &builder{doc: &Document{Feed: "http://example.com/feed", Link: "http://example.com/"}, own: "own"}
		listed := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Entry {
			return Entry{
				Feed: b.doc.Feed, ID: some("", "1", "2", "own").Draw(t, "id"),
				Title:   some("", "a", "b").Draw(t, "title"),
				Link:    some("", "http://example.com/", "http://example.com/1").Draw(t, "link"),
				Updated: time.Unix(rapid.Int64Range(1, 2).Draw(t, "updated"), 0),
				Summary: some("x", "y").Draw(t, "summary"),
			}
		}), 0, 8).Draw(t, "listed")
		for _, e := range listed {
			b.add(e)
		}
		b.unite()
		seen := make(map[EntryID]bool)
		for i := range b.doc.Entries {
			e := &b.doc.Entries[i]
			if seen[e.EntryID()] || e.ID == "own" || e.ID == "" && e.Title == "" && e.Link == "" {
				t.Fatalf("%+v cannot be told from others", e)
			}
			seen[e.EntryID()] = true
			if !holds(listed, func(o *Entry) bool {
				return o.Title == e.Title && o.Link == e.Link && o.Summary == e.Summary && o.Updated.Equal(e.Updated)
			}) {
				t.Fatalf("%+v was not listed", e)
			}
		}
		for _, o := range listed {
			if !holds(b.doc.Entries, func(e *Entry) bool {
				return e.Title == o.Title && (e.Title != "" || e.Link == o.Link && e.Summary == o.Summary)
			}) {
				t.Fatalf("%+v is lost from %+v", o, b.doc.Entries)
			}
		}
	})
}

func holds(entries []Entry, match func(*Entry) bool) bool {
	for i := range entries {
		if match(&entries[i]) {
			return true
		}
	}
	return false
}
