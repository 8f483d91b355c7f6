package filter

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"feedex/archive"
	"feedex/feed"
)

// words are such as occur in each other, fold to each other, or come apart.
var words = []string{"a", "ab", "abc", "b", "Ä", "é", "e", "café", "CAFE", "σ", "Σ", "日本", "本", "日本語", "語",
	"ไทย", "ท", "한국", "국어", "1", "e-mail", "mail", "the", "*", "!?", "ab.c"}

var (
	genWord = rapid.SampledFrom(words)
	genText = rapid.Custom(func(rt *rapid.T) string {
		return strings.Join(rapid.SliceOfN(genWord, 0, 6).Draw(rt, "words"), " ")
	})
	genTerm = rapid.Custom(func(rt *rapid.T) string {
		return strings.Join(rapid.SliceOfN(genWord, 1, 3).Draw(rt, "words"), " ") +
			rapid.SampledFrom([]string{"", "", "*"}).Draw(rt, "star")
	})
	genEntry = rapid.Custom(func(rt *rapid.T) feed.Entry {
		return feed.Entry{
			Title:      genText.Draw(rt, "title"),
			Authors:    rapid.SliceOfN(genText, 0, 2).Draw(rt, "authors"),
			Categories: rapid.SliceOfN(genText, 0, 2).Draw(rt, "categories"),
			Summary:    genText.Draw(rt, "summary"),
			Content:    genText.Draw(rt, "content"),
		}
	})
)

// genMatch draws an expression of at most so many levels.
func genMatch(rt *rapid.T, levels int) feed.Match {
	op := feed.MatchTerm
	if levels > 0 {
		op = rapid.SampledFrom([]feed.MatchOp{feed.MatchTerm, feed.MatchAnd, feed.MatchOr,
			feed.MatchNot}).Draw(rt, "op")
	}
	m := feed.Match{Op: op}
	switch op {
	case feed.MatchTerm:
		m.Term = genTerm.Draw(rt, "term")
	case feed.MatchNot:
		m.Of = []feed.Match{genMatch(rt, levels-1)}
	default:
		for range rapid.IntRange(2, 3).Draw(rt, "operands") {
			m.Of = append(m.Of, genMatch(rt, levels-1))
		}
	}
	return m
}

// An Index finds what Matchers find one by one, whatever is put, replaced and removed.
func TestAnIndexMeansWhatMatchersMean(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var x Index
		model := make(map[ID]*archive.Matcher)
		genID := rapid.Map(rapid.IntRange(0, 30), func(n int) ID { return ID(n) })
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				id, m := genID.Draw(rt, "id"), genMatch(rt, 3)
				matcher := archive.NewMatcher(feed.Filter{Match: m})
				err := x.Put(id, m)
				if matcher.Wordless() != errors.Is(err, ErrNothing) {
					rt.Fatalf("Put(%s) = %v", m, err)
				}
				if err == nil {
					model[id] = matcher
				}
			},
			"remove": func(rt *rapid.T) {
				id := genID.Draw(rt, "id")
				x.Remove(id)
				delete(model, id)
			},
			"match": func(rt *rapid.T) {
				r := archive.Record{Entry: genEntry.Draw(rt, "entry")}
				want := []ID{1 << 31}
				for _, id := range slices.Sorted(maps.Keys(model)) {
					if model[id].Match(&r) {
						want = append(want, id)
					}
				}
				if got := x.Match(&r.Entry, []ID{1 << 31}); !slices.Equal(got, want) {
					rt.Fatalf("found %v, want %v", got, want)
				}
			},
			"": func(rt *rapid.T) {
				if x.Len() != len(model) {
					rt.Fatalf("Len = %d of %d", x.Len(), len(model))
				}
			},
		})
	})
}
