package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// purgeAll purges what is beyond what is kept, as a node does, and returns how many entries that were.
func purgeAll(t *testing.T, s *Store, now time.Time, keep archive.Retention) (n int) {
	t.Helper()
	for {
		ids, err := s.OverLimit(context.Background(), now, keep)
		if err != nil {
			t.Fatal(err)
		}
		if len(ids) == 0 {
			untidy, err := s.Untidy(context.Background(), keep)
			if err != nil {
				t.Fatal(err)
			}
			if !untidy {
				return n
			}
			for dead := int64(-1); ; {
				dead = s.compact(dead)
				commit(t, s)
				if dead < 0 {
					break
				}
			}
			continue
		}
		for i, dropped := range s.Purge(now, ids) {
			if !dropped {
				t.Fatalf("%s may be purged, and was not", ids[i])
			}
			n++
		}
		commit(t, s)
		for more := true; more; {
			if more, err = s.Tidy(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// wantWhole verifies the archive.
func wantWhole(t *testing.T, s *Store) {
	t.Helper()
	report := func(problem string) { t.Errorf("verify: %s", problem) }
	err := fresh{s}.Verify(context.Background(), func(int64) {}, report)
	if err != nil {
		t.Fatal(err)
	}
}

// usedIndexed is how many bytes are used when everything is indexed.
func usedIndexed(t *testing.T, s *Store) int64 {
	t.Helper()
	for left := 1; left > 0; {
		var err error
		if left, err = s.Index(500); err != nil {
			t.Fatal(err)
		}
	}
	used, err := s.used(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return used
}

// A flood of what nobody has confirmed fills the disk's share for it and no more; all that own polls have shown stays.
// And what it takes is what a limit counts, so that it gets no larger than it may be.
func TestFloodOnABoundedDisk(t *testing.T) {
	alone(t)
	s := newStore(t)
	c := newCorpus()
	own := c.records(1500)
	keep(t, s, own...)
	r := rand.New(rand.NewPCG(1, 2))
	bound := usedIndexed(t, s) * 8 / 6 // an eighth for others, and an eighth is free
	for round := range 3 {
		for range 10 {
			var flood []archive.Record
			for range 20 {
				e := feed.Entry{Feed: own[0].Entry.Feed, ID: fmt.Sprint(r.Uint64()),
					Summary: words(r, 3000, 'a', 26, 2)}
				flood = append(flood, archive.NewRecord(e, time.Unix(1e9, 0), aNeighbor))
			}
			keep(t, s, flood...)
		}
		before := usedIndexed(t, s)
		purgeAll(t, s, time.Unix(2e9, 0), archive.Retention{All: archive.Limits{Bytes: bound}})
		after := usedIndexed(t, s)
		there := make(map[feed.EntryID]bool)
		for _, r := range left(t, s, "") {
			there[r.ID] = true
		}
		for i := range own {
			if !there[own[i].ID] {
				t.Fatalf("round %d: entry %d of an own poll is gone; %d bytes are used of %d, bound %d", round, i,
					after, before, bound)
			}
		}
		if after > bound {
			t.Errorf("round %d: %d bytes are used of %d, after %d", round, after, bound, before)
		}
	}
}

// The file gets no larger than it may be, once what is free is given back; not much more is purged than must be.
func TestOverTheLimitOnDisk(t *testing.T) {
	alone(t)
	s := newStore(t)
	c := newCorpus()
	keep(t, s, c.records(6000)...)
	before := usedIndexed(t, s)
	bound := before / 2
	n := purgeAll(t, s, time.Unix(1, 0), archive.Retention{All: archive.Limits{Bytes: bound}})
	after := usedIndexed(t, s)
	if after > bound || after < bound*7/10 {
		t.Errorf("%d bytes are used of %d; want at most %d and not much less", after, before, bound)
	}
	if records := left(t, s, ""); len(records) != 6000-n || records[0].Seq != int64(n+1) {
		t.Errorf("%d entries are left of 6000 after %d were purged", len(records), n)
	}
	wantWhole(t, s)
	t.Logf("%d of 6000 entries purged, %d bytes used of %d", n, after, before)

	// Where it cannot be so small nothing is left but what may not be purged.
	follow(t, s, time.Unix(1, 0), left(t, s, "")[0].Entry.Feed)
	purgeAll(t, s, time.Unix(1, 0), archive.Retention{All: archive.Limits{Bytes: 1}})
	if records := left(t, s, ""); len(records) != 1 {
		t.Errorf("%d entries are left, want the latest of the feed that is followed", len(records))
	}
	wantWhole(t, s)
}

// words is text of words with so many characters, drawn from an alphabet of so many that begins at first.
func words(r *rand.Rand, bytes int, first rune, alphabet, characters int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteByte(' ')
		for range characters {
			b.WriteRune(first + rune(r.IntN(alphabet)))
		}
	}
	return strings.ToValidUTF8(b.String()[:bytes], "")
}

// aNeighbor is one that brings something.
var aNeighbor = protocol.NewNodeID(netip.MustParseAddr("192.0.2.7"), 7790)

// An entry takes no more room on disk than archive.Room says, index and items included, whatever its words are.
func TestRoomIsEnough(t *testing.T) {
	alone(t)
	const u = feed.URL("https://example.com/feed")
	for _, c := range []struct {
		size, entries int
		titles        bool
	}{{0, 500, false}, {100, 500, false}, {600, 400, false}, {3000, 150, false}, {64 << 10, 12, false},
		{300 << 10, 5, false}, {100, 500, true}, {600, 400, true}, {3000, 150, true}, {64 << 10, 12, true}} {
		for _, text := range []struct {
			name       string
			first      rune
			characters int
			alphabet   int
		}{{"short words", 'a', 2, 26}, {"words", 'a', 5, 26}, {"Han", 0x4e00, 2, 20_000},
			{"Hangul", 0xac00, 1, 11_172}} {
			s := newStore(t)
			s.KeepFeed(archive.Feed{URL: u, Subscribed: true})
			commit(t, s)
			empty, err := s.used(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r, room := rand.New(rand.NewPCG(1, 2)), int64(0)
			for i := range c.entries {
				e := feed.Entry{Feed: u, ID: fmt.Sprint(i)}
				if full := words(r, c.size, text.first, text.alphabet, text.characters); c.titles {
					e.Title = full
				} else {
					e.Summary = full
				}
				room += archive.Room(archive.TextBytes(&e))
				s.Keep([]archive.Record{archive.NewRecord(e, time.Unix(int64(i), 0), aNeighbor)})
				if i%50 == 0 {
					commit(t, s)
				}
			}
			commit(t, s)
			for left := 1; left > 0; {
				if left, err = s.Index(20); err != nil {
					t.Fatal(err)
				}
			}
			for more := true; more; {
				if more, err = s.Tidy(); err != nil {
					t.Fatal(err)
				}
			}
			full, err := s.used(t.Context())
			if taken := full - empty; err != nil || taken > room {
				t.Errorf("%+v: entries of %s take %d bytes, more than %d (%v)", c, text.name, taken, room, err)
			} else if taken < room/6 {
				t.Errorf("%+v: entries of %s take %d bytes, far less than %d", c, text.name, taken, room)
			}
		}
	}
}

// The bytes that the archive counts of an entry are those that archive.TextBytes says, as far as it is not quoted in
// JSON.
func TestSizeOfAnEntry(t *testing.T) {
	s := newStore(t)
	full := feed.Entry{
		Feed: "https://example.com/feed", ID: "é", Title: "日本語", Link: "https://example.com/1", Summary: "<p>",
		Content: strings.Repeat("x", 5000),
		Authors: []string{"Ann <a@example.com>", `"Q" & \`}, Categories: []string{"", "\u2028"},
		Enclosures: []feed.Enclosure{{URL: "https://example.com/a.mp3?a=1&b=2", Type: "audio/mpeg", Length: 1 << 62}},
	}
	for i, e := range []feed.Entry{full, {Feed: full.Feed, Title: "only this"}} {
		keep(t, s, archive.NewRecord(e, time.Unix(1, 0), aNeighbor))
		var size int64
		if err := s.conn.QueryRowContext(t.Context(), `SELECT size FROM entries WHERE seq = ?`,
			i+1).Scan(&size); err != nil {
			t.Fatal(err)
		}
		if most := archive.TextBytes(&e); size > most || size < most-300 || i == 1 && size != most {
			t.Errorf("%+v: %d bytes, at most %d", e.Title, size, most)
		}
	}
}
