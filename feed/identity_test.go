package feed_test

import (
	"crypto/sha1"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
)

// The bytes that are hashed are part of the protocol: these vectors may never change.
func TestIdentityVectors(t *testing.T) {
	at := time.Date(2026, 2, 28, 18, 30, 0, 0, time.FixedZone("EST", -5*3600))
	for _, tc := range []struct {
		entry  feed.Entry
		id     string // what is hashed
		digest string
	}{
		{
			entry:  feed.Entry{Feed: "http://example.com/", ID: "1"},
			id:     "19:http://example.com/2:id1:1",
			digest: "1:10:0:1:00:0:0:0:1:01:0",
		},
		{
			entry:  feed.Entry{Feed: "http://example.com/", Title: "a", Link: "http://example.com/a"},
			id:     "19:http://example.com/10:title-link1:a20:http://example.com/a",
			digest: "0:1:a20:http://example.com/a1:00:0:0:0:1:01:0",
		},
		{
			entry: feed.Entry{Feed: "http://example.com/", ID: "ä", Title: "t", Authors: []string{"x", "yz"},
				Published: at, Updated: at.Add(time.Second), Summary: "s", Content: "c", Categories: []string{"k"},
				Enclosures: []feed.Enclosure{{URL: "u", Type: "audio/mpeg", Length: 12}}},
			id: "19:http://example.com/2:id2:ä",
			digest: "2:ä1:t0:1:21:x2:yz10:177232140010:17723214011:s1:c1:11:k1:1" +
				"1:u10:audio/mpeg2:12",
		},
	} {
		if got, want := tc.entry.EntryID(), feed.EntryID(sha1.Sum([]byte(tc.id))); got != want {
			t.Errorf("EntryID of %+v = %s, want SHA-1 of %q", tc.entry, got, tc.id)
		}
		if got, want := tc.entry.Digest(), feed.Digest(sha1.Sum([]byte(tc.digest))); got != want {
			t.Errorf("Digest of %+v = %s, want SHA-1 of %q", tc.entry, got, tc.digest)
		}
	}
}

func TestParseEntryID(t *testing.T) {
	id := (&feed.Entry{Feed: "http://example.com/", ID: "1"}).EntryID()
	if got, err := feed.ParseEntryID(id.String()); got != id || err != nil {
		t.Errorf("ParseEntryID(%s) = %s, %v", id, got, err)
	}
	for _, s := range []string{"", "abc", strings.Repeat("g", 40), id.String() + "0", id.String()[:39]} {
		if _, err := feed.ParseEntryID(s); !errors.Is(err, feed.ErrDigest) {
			t.Errorf("ParseEntryID(%q) = %v, want an ErrDigest", s, err)
		}
	}
	low, high := feed.EntryID{1}, feed.EntryID{2}
	if low.Compare(high) >= 0 || high.Compare(low) <= 0 || low.Compare(low) != 0 {
		t.Error("ids are not ordered by their bytes")
	}
}

// anyText draws strings in which what separates fields is frequent.
var anyText = rapid.StringOfN(rapid.RuneFrom([]rune("01:2ab\t\x00\x07é\u0085\ufffe\u2028😀")), 0, 6, -1)

func anyEntry(t *rapid.T) feed.Entry {
	texts := rapid.SliceOfN(anyText, 0, 3)
	when := rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "unknown") {
			return time.Time{}
		}
		return time.Unix(rapid.Int64Range(1, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 999).Draw(t, "nanoseconds"))
	})
	e := feed.Entry{
		Feed: "http://example.com/",
		ID:   anyText.Draw(t, "id"), Title: anyText.Draw(t, "title"), Link: anyText.Draw(t, "link"),
		Authors: texts.Draw(t, "authors"), Categories: texts.Draw(t, "categories"),
		Published: when.Draw(t, "published"), Updated: when.Draw(t, "updated"),
		Summary: anyText.Draw(t, "summary"), Content: anyText.Draw(t, "content"),
		Rights: texts.Draw(t, "rights"),
		CopiedFrom: feed.Original{ID: anyText.Draw(t, "source id"), Title: anyText.Draw(t, "source title"),
			URL: anyText.Draw(t, "source url")},
	}
	for range rapid.IntRange(0, 2).Draw(t, "enclosures") {
		e.Enclosures = append(e.Enclosures, feed.Enclosure{URL: anyText.Draw(t, "url"), Type: anyText.Draw(t, "type"),
			Length: rapid.Int64Range(0, 12).Draw(t, "length")})
	}
	return e
}

// Entries have the same digest if and only if all their fields are the same: no two lists of fields
// run together into the same bytes.
func TestDigestSeparatesFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyEntry(t), anyEntry(t)
		a.Clean()
		b.Clean()
		if a.Equal(&b) != (a.Digest() == b.Digest()) {
			t.Fatalf("%+v and %+v: equal %v, digests %s and %s", a, b, a.Equal(&b), a.Digest(), b.Digest())
		}
		if same := a.Equal(&b) && a.Feed == b.Feed; same != (a.Fingerprint() == b.Fingerprint()) {
			t.Fatalf("%+v and %+v: same %v, fingerprints %s and %s", a, b, same, a.Fingerprint(), b.Fingerprint())
		}
		moved := a
		if moved.Feed += "/elsewhere"; moved.Fingerprint() == a.Fingerprint() {
			t.Fatalf("%+v has the same fingerprint in another feed", a)
		}
	})
}

// moves are ways to move text from one field to another that leave all the text together the same.
var moves = []func(*feed.Entry){
	func(e *feed.Entry) { e.ID, e.Title = "", e.ID+e.Title },
	func(e *feed.Entry) { e.Title, e.Link = e.Title+e.Link, "" },
	func(e *feed.Entry) { e.Summary, e.Content = e.Content, e.Summary },
	func(e *feed.Entry) { e.Published, e.Updated = e.Updated, e.Published },
	func(e *feed.Entry) { e.Authors, e.Categories = e.Categories, e.Authors },
	func(e *feed.Entry) { e.Authors = []string{strings.Join(e.Authors, "")} },
	func(e *feed.Entry) { e.Categories = append(e.Categories, "") },
	func(e *feed.Entry) { e.Enclosures = append(e.Enclosures, feed.Enclosure{}) },
	func(e *feed.Entry) { slices.Reverse(e.Authors) },
	func(e *feed.Entry) { e.Rights, e.Categories = e.Categories, e.Rights },
	func(e *feed.Entry) {
		e.Rights, e.CopiedFrom = append(slices.Clip(e.Rights), e.CopiedFrom.ID), feed.Original{}
	},
	func(e *feed.Entry) { e.CopiedFrom.ID, e.CopiedFrom.Title = e.CopiedFrom.Title, e.CopiedFrom.ID },
}

func TestDigestNoticesMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := anyEntry(t)
		before.Clean()
		after := before
		after.Authors = slices.Clone(before.Authors)
		rapid.SampledFrom(moves).Draw(t, "move")(&after)
		if before.Equal(&after) != (before.Digest() == after.Digest()) {
			t.Fatalf("%+v and %+v: digests %s and %s", before, after, before.Digest(), after.Digest())
		}
	})
}

// An entry that is clean stays as it is, keeps its identity, and its identity does not look at what an
// edit changes.
func TestEntryClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEntry(t)
		e.Clean()
		again := e
		again.Authors, again.Categories = slices.Clone(e.Authors), slices.Clone(e.Categories)
		again.Enclosures = slices.Clone(e.Enclosures)
		again.Clean()
		if !again.Equal(&e) || again.Digest() != e.Digest() || again.EntryID() != e.EntryID() {
			t.Fatalf("clean %+v becomes %+v", e, again)
		}
		if !e.Published.IsZero() && (e.Published.Nanosecond() != 0 || e.Published.Location() != time.UTC) {
			t.Fatalf("clean entry is dated %v", e.Published)
		}
		edited := e
		edited.Summary, edited.Content, edited.Updated = "edited", "edited", time.Unix(1, 0)
		if e.ID != "" {
			edited.Title, edited.Link = "edited", "edited"
		}
		if edited.EntryID() != e.EntryID() {
			t.Fatalf("an edit changes the identity of %+v", e)
		}
	})
}

func TestCleanIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if once := feed.Clean(s); feed.Clean(once) != once {
			t.Fatalf("Clean(%q) = %q, and of that %q", s, once, feed.Clean(once))
		}
	})
}

// Identities that were computed for a document count for copies of it, but not where they have other entries.
func TestIdentitiesOfADocument(t *testing.T) {
	doc := feed.Document{Entries: []feed.Entry{{Feed: "https://example.com/feed", ID: "1"},
		{Feed: "https://example.com/feed", ID: "2"}}}
	doc.Identities()
	other := doc
	other.Entries = []feed.Entry{{Feed: "https://example.com/feed", ID: "3"},
		{Feed: "https://example.com/feed", ID: "4", Title: "T"}}
	fewer := doc
	fewer.Entries = doc.Entries[:1]
	for _, d := range []*feed.Document{&doc, &other, &fewer, {}} {
		for i, got := range d.Identities() {
			if want := d.Entries[i].Identity(); got != want {
				t.Errorf("entry %s has %v, want %v", d.Entries[i].ID, got, want)
			}
		}
		if len(d.Identities()) != len(d.Entries) {
			t.Errorf("%d identities of %d entries", len(d.Identities()), len(d.Entries))
		}
	}
}
