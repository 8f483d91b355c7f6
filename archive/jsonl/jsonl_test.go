package jsonl_test

import (
	"errors"
	"io"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
	"feedex/protocol"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var (
	genText = rapid.Custom(func(rt *rapid.T) string { return feed.Clean(rapid.String().Draw(rt, "text")) })
	genTime = rapid.Custom(func(rt *rapid.T) time.Time {
		return rapid.SampledFrom([]time.Time{{}, now.Add(-time.Hour), time.Unix(0, 0).UTC(),
			time.Unix(-1, 0).UTC()}).Draw(rt, "time")
	})
	genRecord = rapid.Custom(func(rt *rapid.T) archive.Record {
		e := feed.Entry{
			Feed: "https://example.com/feed", ID: genText.Draw(rt, "guid"), Title: genText.Draw(rt, "title"),
			Link:    genText.Draw(rt, "link"),
			Authors: rapid.SliceOfN(genText, 0, 2).Draw(rt, "authors"), Published: genTime.Draw(rt, "published"),
			Updated: genTime.Draw(rt, "updated"),
			Summary: genText.Draw(rt, "summary"), Content: genText.Draw(rt, "content"),
			Categories: rapid.SliceOfN(genText, 0, 2).Draw(rt, "categories"),
			Rights:     rapid.SliceOfN(genText, 0, 2).Draw(rt, "rights"),
			CopiedFrom: feed.Original{ID: genText.Draw(rt, "source id"), Title: genText.Draw(rt, "source title")},
		}
		if rapid.Bool().Draw(rt, "extras") {
			e.Extras = feed.Extras{Duration: 754 * time.Second, Image: "https://example.com/1.jpg", Language: "de",
				Season: 2, Episode: rapid.IntRange(0, 9).Draw(rt, "episode"),
				Chapters:    feed.Companion{URL: "https://example.com/1/chapters", Type: "application/json+chapters"},
				Transcripts: []feed.Companion{{URL: "https://example.com/1.vtt", Type: "text/vtt", Language: "en"}}}
		}
		for range rapid.IntRange(0, 2).Draw(rt, "enclosures") {
			e.Enclosures = append(e.Enclosures, feed.Enclosure{URL: genText.Draw(rt, "url"),
				Type: "audio/mpeg", Length: rapid.Int64().Draw(rt, "length")})
		}
		source := rapid.SampledFrom([]protocol.NodeID{{},
			protocol.NewNodeID(netip.AddrFrom4([4]byte{192, 0, 2, 7}), 7790)}).Draw(rt, "source")
		r := archive.NewRecord(e, now, source)
		r.Seq = rapid.Int64().Draw(rt, "seq")
		return r
	})
)

// Whatever a record holds, its line is one line, and is read as the same record.
func TestLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := rapid.SliceOfN(genRecord, 1, 3).Draw(rt, "records")
		hidden := rapid.Bool().Draw(rt, "hidden")
		var text []byte
		for i := range records {
			line := jsonl.NewLine(&records[i], hidden)
			var err error
			if text, err = line.Append(text); err != nil {
				rt.Fatal(err)
			}
		}
		lines := jsonl.NewReader(strings.NewReader(string(text)))
		for i := range records {
			line, err := lines.Next()
			if err != nil || line.Hidden != hidden {
				rt.Fatalf("line %d: %+v, %v", i, line, err)
			}
			got, want := line.Record(), records[i]
			if !got.Entry.Equal(&want.Entry) || got.Seq != want.Seq || got.ID != want.ID || got.Digest != want.Digest ||
				!got.Seen.Equal(want.Seen) || got.Source != want.Source || got.Confirmed != want.Confirmed {
				rt.Fatalf("line %d is read as %+v, want %+v", i, got, want)
			}
		}
		if _, err := lines.Next(); err != io.EOF || lines.Bytes() != int64(len(text)) {
			rt.Fatalf("at the end: %v after %d bytes of %d", err, lines.Bytes(), len(text))
		}
	})
}

// A record is exported member by member as it is documented.
func TestLineMembers(t *testing.T) {
	r := archive.NewRecord(feed.Entry{Feed: "https://example.com/feed", ID: "1", Title: "<b>", Published: now},
		now.Add(1500*time.Millisecond), protocol.NodeID{})
	r.Seq = -3
	line := jsonl.NewLine(&r, true)
	text, err := line.Append(nil)
	want := `{"id":"` + r.ID.String() +
		`","seq":-3,"feed":"https://example.com/feed","guid":"1","title":"<b>","published":"2026-03-01T12:00:00Z",` +
		`"seen":"2026-03-01T12:00:01Z","confirmed":true,"digest":"` + r.Digest.String() + `","sha256":"` +
		r.Entry.Fingerprint().String() + `","hidden":true}` + "\n"
	if err != nil || string(text) != want {
		t.Errorf("%s, %v\nwant %s", text, err, want)
	}
}

func TestBadLines(t *testing.T) {
	long := `{"feed":"https://example.com/","title":"` + strings.Repeat("x", jsonl.MaxLineBytes) + `"}`
	in := strings.Join([]string{
		`{"feed":"https://example.com/","title":"first"}`, "", `null`, `[]`, `{"feed":"https://example.com/"} {}`, long,
		`{"feed":"https://example.com/","seen":"0000-01-01T00:00:00Z"}`,
		`{"feed":"https://example.com/","source":"example.com:80"}`,
		`{"feed":"https://example.com/","published":"yesterday"}`, " \t",
		`{"feed":"HTTPS://EXAMPLE.com","title":"a\u0000b"}`,
	}, "\r\n")
	lines := jsonl.NewReader(strings.NewReader(in))
	var titles []string
	var bad []int
	for {
		line, err := lines.Next()
		if err == io.EOF {
			break
		}
		if at := new(jsonl.BadLine); errors.As(err, at) {
			bad = append(bad, at.Number)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		r := line.Filling(now)
		titles = append(titles, string(r.Entry.Feed)+" "+r.Entry.Title)
	}
	if want := []string{"https://example.com/ first", "https://example.com/ ab"}; !reflect.DeepEqual(titles, want) {
		t.Errorf("read %q, want %q", titles, want)
	}
	if want := []int{3, 4, 5, 6, 7, 8, 9}; !reflect.DeepEqual(bad, want) {
		t.Errorf("bad are %v, want %v", bad, want)
	}
}

// A line that is taken over was not seen in the future, and is nobody's word but the exporter's.
func TestFilling(t *testing.T) {
	r := archive.NewRecord(feed.Entry{Feed: "https://example.com/feed"}, now, protocol.NodeID{})
	line := jsonl.NewLine(&r, false)
	for at, want := range map[time.Time]time.Time{now.Add(time.Hour): now, now.Add(-time.Hour): now.Add(-time.Hour)} {
		if got := line.Filling(at); !got.Seen.Equal(want) || got.Confirmed {
			t.Errorf("at %v it was seen %v, confirmed is %v", at, got.Seen, got.Confirmed)
		}
	}
	line.Seen = time.Time{}
	if got := line.Filling(now); !got.Seen.Equal(now) {
		t.Errorf("seen at no time is %v", got.Seen)
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add(`{"feed":"https://example.com/","title":"first","published":"2024-05-06T07:08:09Z",` +
		`"enclosures":[{"url":"x"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		line, err := jsonl.ParseLine([]byte(text))
		if err != nil {
			return
		}
		r := line.Filling(now)
		again := jsonl.NewLine(&r, line.Hidden)
		if err := again.Check(); err != nil {
			t.Errorf("%q is taken over as %+v: %v", text, r, err)
		}
	})
}
