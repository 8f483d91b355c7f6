package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// However many words begin with a prefix, and wherever it stands in an expression, what is found is what reading all
// entries finds.
func TestPrefixesFindTheSameWhateverTheirWords(t *testing.T) {
	alone(t)
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(t.TempDir(), "archive.db") // a folder each time
		copyEmpty(t, path)
		s, err := Open(t.Context(), path, Config{})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		m := archive.NewMemory()
		words := rapid.SampledFrom([]string{"cat", "cater", "caterer", "catered", "dog", "dogma", "ca",
			"catégorie", "do"})
		for i := range rapid.IntRange(1, 30).Draw(rt, "entries") {
			e := feed.Entry{
				Feed: feed.URL("http://example.com/" + rapid.SampledFrom([]string{"feed", "second", "x"}).Draw(rt,
					"feed")),
				ID:         fmt.Sprint(i),
				Authors:    rapid.SliceOfN(words, 0, 2).Draw(rt, "authors"),
				Categories: rapid.SliceOfN(words, 0, 2).Draw(rt, "categories"),
				Title:      strings.Join(rapid.SliceOfN(words, 0, 3).Draw(rt, "title"), " "),
				Summary:    strings.Join(rapid.SliceOfN(words, 0, 4).Draw(rt, "text"), " "),
			}
			r := []archive.Record{archive.NewRecord(e, time.Unix(int64(i), 0), protocol.NodeID{})}
			s.Keep(r)
			m.Keep(r)
		}
		if err := s.Commit(); err != nil {
			rt.Fatal(err)
		}
		if _, err := s.Index(rapid.IntRange(0, 40).Draw(rt, "indexed")); err != nil {
			rt.Fatal(err)
		}
		s.maxTerms = rapid.SampledFrom([]int{0, 1, 2, 3, maxTerms}).Draw(rt, "terms")
		terms := rapid.SampledFrom([]string{"cat*", "cate*", "dog*", "c*", "ca*", "cat", "dogma", "\"cat dog*\"",
			"\"dog cate*\"", "xyz*", "title:cat*", "author:dog", "category:cate*",
			"feed:example.com", "feed:second", "feed:com/f*", "NOT feed:x"})
		expression := terms.Draw(rt, "term")
		for range rapid.IntRange(0, 4).Draw(rt, "operators") {
			other := rapid.SampledFrom([]string{"", "NOT "}).Draw(rt, "not") + terms.Draw(rt, "term")
			expression = "(" + expression + ")" + rapid.SampledFrom([]string{" AND ", " OR "}).Draw(rt,
				"operator") + other
			if rapid.Bool().Draw(rt, "negate") {
				expression = "NOT (" + expression + ")"
			}
		}
		match, err := feed.ParseMatch(expression)
		if err != nil {
			rt.Fatal(err)
		}
		f := feed.Filter{Match: match, Limit: rapid.SampledFrom([]int{1, 3, 100}).Draw(rt, "limit")}
		if rapid.Bool().Draw(rt, "until") {
			f.Until = time.Unix(int64(rapid.IntRange(0, 30).Draw(rt, "at")), 0)
		}
		seqs := func(list []archive.Record, err error) (out []int64) {
			if err != nil {
				rt.Fatal(err)
			}
			for _, r := range list {
				out = append(out, r.Seq)
			}
			return out
		}
		got, want := seqs(s.Search(t.Context(), f)), seqs(m.Search(t.Context(), f))
		if !slices.Equal(got, want) {
			rt.Errorf("%s: found %v, want %v", expression, got, want)
		}
	})
}

// The words of a prefix are found without a walk through all places where they stand, and no more of them than are
// wanted.
func TestTermsOfAPrefix(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	var list []archive.Record
	for i := range 40 {
		e := feed.Entry{Feed: "http://example.com/feed", ID: fmt.Sprint(i),
			Title: fmt.Sprintf("common common%02d com", i)}
		list = append(list, archive.NewRecord(e, time.Unix(int64(i), 0), protocol.NodeID{}))
	}
	keep(t, s, list...)
	if _, err := s.Index(100); err != nil {
		t.Fatal(err)
	}
	tx, err := s.Reader.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for stem, want := range map[string]int{"com": 10 + 1, "common": 10 + 1, "common3": 10, "common39": 1, "x": 0} {
		search := &search{ctx: t.Context(), tx: tx, maxTerms: 10}
		if terms, err := search.terms(stem); err != nil || len(terms) != want {
			t.Errorf("%s: %d terms, %v, want %d", stem, len(terms), err, want)
		}
	}
}
