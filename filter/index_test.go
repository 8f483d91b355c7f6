package filter

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
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
	genField = rapid.SampledFrom([]feed.MatchField{feed.FieldAny, feed.FieldAny, feed.FieldTitle, feed.FieldAuthor,
		feed.FieldCategory, feed.FieldFeed})
	genEntry = rapid.Custom(func(rt *rapid.T) feed.Entry {
		return feed.Entry{
			Feed:       feed.URL("https://" + genText.Draw(rt, "feed")),
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
		m.Field, m.Term = genField.Draw(rt, "field"), genTerm.Draw(rt, "term")
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

// Many are sorted in another way than a few.
func TestSortingMany(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, most := range []ID{100, 1 << 12, 1 << 20, 1<<32 - 1} {
		var of marking
		for range 3 {
			ids := make([]ID, 5000+r.IntN(5000))
			for i := range ids {
				ids[i] = ID(r.Uint32()) % most
			}
			want := slices.Sorted(slices.Values(ids))
			if of.sortIDs(ids); !slices.Equal(ids, want) {
				t.Errorf("IDs below %d are not sorted", most)
			}
		}
	}
}

// What expressions needed goes with them, and changing one does not walk through those of a common word.
func TestRemovedExpressionsLeaveNothing(t *testing.T) {
	texts := []string{"common", `common "new york"`, "comm* OR york* OR x", "NOT common", `"new york city*" NOT new`,
		"common zebra"}
	var x Index
	for round := range 3 {
		for id := range 3000 {
			m, err := feed.ParseMatch(strings.Replace(texts[id%len(texts)], "zebra", fmt.Sprint("z", id), 1))
			if err == nil {
				err = x.Put(ID(id*1000), m)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for id := range 3000 {
			x.Remove(ID((id * 7 % 3000) * 1000))
		}
		used := 0
		for n := range x.terms {
			if n != anything && x.terms[n].uses > 0 {
				used++
			}
			if filed := len(x.terms[n].filed); filed > 0 {
				t.Errorf("round %d: %d numbers are still filed at term %d", round, filed, n)
			}
		}
		if left := used + x.Len() + len(x.words) + len(x.stems) + len(x.phrases) + len(x.places.pages) +
			len(x.wide) - len(x.unused); left != 0 || len(x.terms) > 2000 {
			t.Errorf("round %d: %d things are left, of %d terms", round, left, len(x.terms))
		}
	}
}

// What was removed takes no more room than what is there.
func TestRemovedExpressionsGiveTheirRoom(t *testing.T) {
	var x Index
	for id := range 1000 {
		m, err := feed.ParseMatch("common")
		if err == nil {
			err = x.Put(ID(id), m)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	whole := len(x.terms[x.words["common"]].filed)
	for id := range 900 {
		x.Remove(ID(id))
	}
	if left := len(x.terms[x.words["common"]].filed); left > whole/5 {
		t.Errorf("a tenth of what was filed takes %d of %d", left, whole)
	}
}
