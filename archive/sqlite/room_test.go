package sqlite

import (
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
	for _, c := range []struct{ size, entries int }{{0, 500}, {100, 500}, {600, 400}, {3000, 150}, {64 << 10, 12},
		{300 << 10, 5}} {
		for _, text := range []struct {
			name       string
			first      rune
			characters int
			alphabet   int
		}{{"short words", 'a', 2, 26}, {"words", 'a', 5, 26}, {"Han", 0x4e00, 2, 20_000},
			{"Hangul", 0xac00, 1, 11_172}} {
			s := newStore(t)
			s.KeepFeed(archive.Feed{URL: u, Subscribed: true})
			mustCommit(t, s)
			empty, err := s.used(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r, room := rand.New(rand.NewPCG(1, 2)), int64(0)
			for i := range c.entries {
				e := feed.Entry{Feed: u, ID: fmt.Sprint(i),
					Summary: words(r, c.size, text.first, text.alphabet, text.characters)}
				room += archive.Room(archive.TextBytes(&e))
				s.Keep([]archive.Record{archive.NewRecord(e, time.Unix(int64(i), 0), aNeighbor)})
				if i%50 == 0 {
					mustCommit(t, s)
				}
			}
			mustCommit(t, s)
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
				t.Errorf("%d entries with %d bytes of %s take %d bytes, more than %d (%v)", c.entries, c.size,
					text.name, taken, room, err)
			} else if taken < room/6 {
				t.Errorf("%d entries with %d bytes of %s take %d bytes, far less than %d", c.entries, c.size,
					text.name, taken, room)
			}
		}
	}
}

// What the archive counts of an entry is what archive.TextBytes says, as far as it is not quoted in JSON.
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
