package archivetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

func testSearch(t *testing.T, open func(testing.TB) Archive) {
	t.Run("words", func(t *testing.T) { testWords(t, open(t)) })
	t.Run("match", func(t *testing.T) { testMatch(t, open(t)) })
	t.Run("fields", func(t *testing.T) { testFields(t, open(t)) })
	t.Run("relevance", func(t *testing.T) { testRelevance(t, open(t)) })
	t.Run("conditions", func(t *testing.T) { testConditions(t, open(t)) })
	t.Run("limit", func(t *testing.T) { testLimit(t, open(t)) })
	t.Run("dated", func(t *testing.T) { testDated(t, open(t)) })
	t.Run("shareable", func(t *testing.T) { testShareable(t, open(t)) })
	t.Run("hidden", func(t *testing.T) { testHidden(t, open(t)) })
	t.Run("context", func(t *testing.T) {
		a := open(t)
		a.Keep([]archive.Record{record(news, 1, "word", "")})
		Commit(t, a)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if found, err := a.Search(ctx, feed.Filter{Words: []string{"word"}}); !errors.Is(err, context.Canceled) ||
			found != nil {
			t.Errorf("Search with an ended context = %v, %v", found, err)
		}
	})
}

// wordCases say which of the words (Filter.Words, or Filter.Title where title is set) find an entry.
var wordCases = []struct {
	name    string
	entry   feed.Entry
	title   bool
	finds   []string
	ignores []string
}{{
	name:    "whole words, any case",
	entry:   feed.Entry{Title: "The Quick brown-fox", Summary: "jumps over 3.14 lazy_dogs"},
	finds:   []string{"quick", "QUICK", "fox", "brown", "jumps", "14", "3.14", "dogs"},
	ignores: []string{"qui", "uick", "jump", "314", "dog"},
}, {
	name:    "title only",
	entry:   feed.Entry{Title: "in the title", Summary: "in the summary"},
	title:   true,
	finds:   []string{"title", "in the title"},
	ignores: []string{"summary"},
}, {
	name: "every field",
	entry: feed.Entry{Title: "t1", Summary: "s1", Content: "c1", Authors: []string{"Ann Other", "a2"},
		Categories: []string{"k1", "k2"}, ID: "guid", Link: "https://link.example.org/"},
	finds:   []string{"t1", "s1", "c1", "a2", "other", "k1", "k2"},
	ignores: []string{"guid", "link", "https"},
}, {
	name:  "diacritics",
	entry: feed.Entry{Title: "Über naïve Ca\u0301fes", Summary: "ΣΊΣΥΦΟΣ Ťhůř \u1EC7"},
	finds: []string{"uber", "über", "UBER", "naive", "nai\u0308ve", "cafes", "café*", "σίσυφος", "σισυφοσ",
		"thur", "e", "ế"},
	ignores: []string{"ueber", "nave", "caf"},
}, {
	name:    "prefix",
	entry:   feed.Entry{Title: "development of developers"},
	finds:   []string{"dev*", "develop*", "development*", "of dev*", "DÉVELOP*"},
	ignores: []string{"dev", "evelop*", "developmental*", "dev* of", "dev *", "development of*f"},
}, {
	name:    "phrase",
	entry:   feed.Entry{Title: "one two", Summary: "three, four; five", Content: "six"},
	finds:   []string{"one two", "three four", "three four five", "four-five", "one... two!"},
	ignores: []string{"two one", "one three", "two three", "five six", "three five"},
}, {
	name:    "phrases keep to one label",
	entry:   feed.Entry{Authors: []string{"Ann Lee", "Bob Ray"}, Categories: []string{"big data"}},
	finds:   []string{"ann lee", "bob ray", "big data"},
	ignores: []string{"lee bob", "ray big"},
}, {
	name: "markup",
	entry: feed.Entry{Title: "AT&amp;T &lt;3 <i>it</i>",
		Summary: `<p class="hidden">one<p>two <b>th</b>ree<br/>four<!-- no -->five` +
			`<script>var code = "x < y"</script><img alt="picture">`,
		Content: "a < b, c > d; caf&eacute; &#x41;&nbsp;z"},
	finds: []string{"at t", "3 it", "one two three", "fourfive", "a b c d", "cafe", "a z"},
	ignores: []string{"amp", "lt", "hidden", "onetwo", "th", "four", "no", "code", "picture", "eacute",
		"nbsp", "class"},
}, {
	name:    "markup that never ends",
	entry:   feed.Entry{Title: "What <style> does", Summary: "see <a href='x"},
	finds:   []string{"what does", "does", "see"},
	ignores: []string{"href"},
}, {
	name:    "other scripts",
	entry:   feed.Entry{Title: "日本語 のニュース", Summary: "сервер 한국어 हिन्दी \U0001E900\U0001E901 x\u00ADy"},
	finds:   []string{"日本語", "日本*", "СЕРВЕР", "한국어", "हिन्दी", "\U0001E922\U0001E923", "xy"},
	ignores: []string{"語本", "серв", "x"},
}, {
	name: "scripts without blanks between words",
	entry: feed.Entry{Title: "東京都の天気、大阪", Summary: "서울에서 온 편지 2026年ラーメン店",
		Content: "ฉันรักภาษาไทย ខ្ញុំចូលចិត្ត"},
	finds: []string{"東京", "京都", "東京都", "天気", "京", "서울", "에서", "서울에*", "年ラーメン", "2026", "ラーメン", "ภาษา", "ไทย",
		"ចូល", "東京 都"},
	ignores: []string{"京東", "大阪府", "서에", "서우", "ラメン", "ยไท", "202"},
}, {
	name:  "asks for nothing",
	entry: feed.Entry{Title: "anything"},
	finds: []string{"", "*", "!?", " -- ", "anything **"},
}, {
	name:  "what an index might take for syntax",
	entry: feed.Entry{Title: "c++ and foo:bar OR NOT near title"},
	finds: []string{"c++", "foo:bar", "-foo", `"bar"`, `bar"`, "and foo", "OR NOT", "NEAR(title", "^c",
		"{title}", "+c"},
	ignores: []string{"AND or", "title : c", "foo AND bar", "title:title", "c' OR 1"},
}, {
	name:  "very long words",
	entry: feed.Entry{Title: strings.Repeat("x", 3000) + " end"},
	finds: []string{strings.Repeat("x", 3000), strings.Repeat("x", 2000) + "*",
		strings.Repeat("x", 200) + "*", "end"},
	ignores: []string{strings.Repeat("x", 200)},
}}

func testWords(t *testing.T, a Archive) {
	ids := make([]feed.EntryID, len(wordCases))
	for i, c := range wordCases {
		e := c.entry
		e.Feed, e.ID = feed.URL("https://example.com/"+strings.ReplaceAll(c.name, " ", "-")), c.name
		r := archive.NewRecord(e, base, protocol.NodeID{})
		ids[i] = r.ID
		a.Keep([]archive.Record{r})
	}
	Commit(t, a)
	check := func(t *testing.T, state string) {
		for i, c := range wordCases {
			for want, words := range map[bool][]string{true: c.finds, false: c.ignores} {
				for _, w := range words {
					f := feed.Filter{Words: []string{w}, Limit: 1000}
					if c.title {
						f = feed.Filter{Title: []string{w}, Limit: 1000}
					}
					got := slices.ContainsFunc(search(t, a, f), func(r archive.Record) bool { return r.ID == ids[i] })
					if got != want {
						t.Errorf("%s, %s: found by %q is %v, want %v", state, c.name, w, got, want)
					}
				}
			}
		}
	}
	check(t, "not indexed")
	if ix, ok := a.(Indexer); ok {
		if _, err := ix.Index(len(wordCases) / 2); err != nil {
			t.Fatal(err)
		}
		check(t, "half indexed")
		indexAll(t, a)
		check(t, "indexed")
	}
}

func testConditions(t *testing.T, a Archive) {
	undated := record(blog, 4, "undated apple", "")
	undated.Entry.Published = time.Time{} // counts as published when seen: base + 4 h
	undated = archive.NewRecord(undated.Entry, undated.Seen, undated.Source)
	records := []archive.Record{
		record(news, 1, "apple pie", "sweet"), // base + 1 min
		record(blog, 2, "apple juice", "sour"),
		record(news, 3, "orange juice", "sweet"),
		undated,
	}
	a.Keep(records)
	Commit(t, a)
	id := func(n int) feed.EntryID { return records[n-1].ID }
	at := func(n int) time.Time { return records[n-1].Time() }
	cases := []struct {
		filter feed.Filter
		want   []int64 // seqs
	}{
		{feed.Filter{}, []int64{4, 3, 2, 1}},
		{feed.Filter{Feed: news}, []int64{3, 1}},
		{feed.Filter{Feed: "https://nowhere.example.org/"}, nil},
		{feed.Filter{Words: []string{"apple"}}, []int64{4, 2, 1}},
		{feed.Filter{Words: []string{"apple", "juice"}}, []int64{2}},
		{feed.Filter{Words: []string{"juice", "sweet"}}, []int64{3}},
		{feed.Filter{Words: []string{"juice"}, Title: []string{"sweet"}}, nil},
		{feed.Filter{Words: []string{"sour"}, Title: []string{"juice", "apple*"}}, []int64{2}},
		{feed.Filter{Words: []string{"apple"}, Feed: blog}, []int64{4, 2}},
		{feed.Filter{Words: []string{"1"}, Feed: news}, nil}, // no number of a feed is a word
		{feed.Filter{Since: at(2)}, []int64{4, 3, 2}},
		{feed.Filter{Since: at(2).Add(1)}, []int64{4, 3}},
		{feed.Filter{Until: at(2)}, []int64{1}},
		{feed.Filter{Until: at(2).Add(1)}, []int64{2, 1}},
		{feed.Filter{Since: at(1), Until: at(3)}, []int64{2, 1}},
		{feed.Filter{Since: at(3), Until: at(1)}, nil},
		{feed.Filter{Since: base.Add(4 * time.Hour)}, []int64{4}},
		{feed.Filter{Since: base.Add(4*time.Hour + time.Second)}, nil},
		{feed.Filter{Since: at(2), Words: []string{"apple"}}, []int64{4, 2}},
		{feed.Filter{Since: at(2), Until: at(4), Words: []string{"apple"}, Feed: blog}, []int64{2}},
		{feed.Filter{IDs: []feed.EntryID{id(1), id(3), {7}, id(1)}}, []int64{3, 1}},
		{feed.Filter{IDs: []feed.EntryID{{7}}}, nil},
		{feed.Filter{IDs: []feed.EntryID{id(1), id(2)}, Words: []string{"juice"}}, []int64{2}},
		{feed.Filter{IDs: []feed.EntryID{id(1), id(2)}, Feed: news, Until: at(2)}, []int64{1}},
		{feed.Filter{IDs: []feed.EntryID{id(1), id(2), id(3)}, Limit: 2}, []int64{3, 2}},
		{feed.Filter{Words: slices.Repeat([]string{"apple", "juice*"}, 500)}, []int64{2}},
		{feed.Filter{Words: []string{strings.Repeat("apple ", 5000)}}, nil},
	}
	for _, state := range []string{"not indexed", "indexed"} {
		for i, c := range cases {
			var got []int64
			for _, r := range search(t, a, c.filter) {
				got = append(got, r.Seq)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s, case %d: found %v, want %v: %.200v", state, i, got, c.want, c.filter)
			}
		}
		indexAll(t, a)
	}
}

func testLimit(t *testing.T, a Archive) {
	const n = 3*feed.DefaultLimit + 20
	for i := range n {
		a.Keep([]archive.Record{record(news, i, "word", "")})
	}
	Commit(t, a)
	for _, words := range [][]string{nil, {"word"}} {
		for limit, want := range map[int]int{-1: feed.DefaultLimit, 0: feed.DefaultLimit, 1: 1, 60: 60,
			n: n, 10 * n: n} {
			got := search(t, a, feed.Filter{Words: words, Limit: limit})
			if len(got) != want {
				t.Errorf("limit %d: found %d, want %d", limit, len(got), want)
			}
			for i, r := range got {
				if r.Seq != int64(n-i) {
					t.Fatalf("limit %d: result %d has seq %d, want %d", limit, i, r.Seq, n-i)
				}
			}
		}
		if ix, ok := a.(Indexer); ok {
			if _, err := ix.Index(n - 10); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func testShareable(t *testing.T, a Archive) {
	const (
		secret  feed.URL = "https://reader:pw@private.example.org/feed"
		token   feed.URL = "https://private.example.org/feed?token=x"
		private feed.URL = "https://intern.example.org/feed"
		relayed feed.URL = "https://relayed.example.org/feed"
		kept    feed.URL = "https://kept.example.org/feed"
		leading feed.URL = "https://leading.example.org/feed"
		named   feed.URL = "https://named.example.org/feed"
	)
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true})
	a.KeepFeed(archive.Feed{URL: private, Subscribed: true, Private: true})
	a.KeepFeed(archive.Feed{URL: kept, Subscribed: true, Withheld: true})
	a.KeepFeed(archive.Feed{URL: secret, Subscribed: true, Shared: true}) // secret whatever the settings say
	a.KeepFeed(archive.Feed{URL: leading, Subscribed: true, Leads: true})
	a.KeepFeed(archive.Feed{URL: named, Page: token}) // followed once, because that named it
	for i, u := range []feed.URL{news, private, secret, token, relayed, named, kept, leading} {
		a.Keep([]archive.Record{record(u, i, "word", "")})
	}
	Commit(t, a)
	for range 2 {
		for _, f := range []feed.Filter{{}, {Words: []string{"word"}}} {
			if got := search(t, a, f); len(got) != 8 {
				t.Errorf("%v found %d entries, want 8", f, len(got))
			}
			f.Shareable = true
			got := search(t, a, f)
			if len(got) != 2 || got[0].Entry.Feed != relayed || got[1].Entry.Feed != news {
				t.Errorf("%v found %v, want those of two feeds", f, got)
			}
		}
		if got := search(t, a, feed.Filter{Shareable: true, Feed: private}); len(got) != 0 {
			t.Errorf("a private feed was shared: %v", got)
		}
		if got := search(t, a,
			feed.Filter{Shareable: true, IDs: []feed.EntryID{record(token, 3, "word", "").ID}}); len(got) != 0 {
			t.Errorf("a secret feed was shared: %v", got)
		}
		indexAll(t, a)
	}

	// A search that may see what is private, but no URL that is a secret, finds as many of the others as it asks for.
	for _, f := range []feed.Filter{{}, {Words: []string{"word"}}, {Words: []string{"word"}, Relevance: true}} {
		f.NoSecrets, f.Limit = true, 3
		if got := search(t, a, f); len(got) != 3 || got[0].Entry.Feed != leading || got[1].Entry.Feed != kept ||
			got[2].Entry.Feed != named {
			t.Errorf("%v found %v, want those of three feeds", f, got)
		}
		f.Feed = token
		if got := search(t, a, f); len(got) != 0 {
			t.Errorf("%v found %v, want nothing", f, got)
		}
	}

	// Its owner shares what looks like a secret, and leads to one.
	for _, u := range []feed.URL{token, leading} {
		a.KeepFeed(archive.Feed{URL: u, Subscribed: true, Leads: true, Shared: true})
	}
	Commit(t, a)
	if got := search(t, a, feed.Filter{Shareable: true, Words: []string{"word"}, NoSecrets: true}); len(got) != 4 ||
		got[0].Entry.Feed != leading || got[2].Entry.Feed != token {
		t.Errorf("with what is shared, found %v", got)
	}

	// Later settings count for entries that are there.
	a.KeepFeed(archive.Feed{URL: token})
	a.KeepFeed(archive.Feed{URL: leading, Leads: true})
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Private: true})
	a.KeepFeed(archive.Feed{URL: private, Subscribed: false})
	Commit(t, a)
	if got := search(t, a, feed.Filter{Shareable: true, Words: []string{"word"}}); len(got) != 2 ||
		got[1].Entry.Feed != private {
		t.Errorf("after a change of settings, found %v", got)
	}
}

// Entries that are hidden, the owner finds and others do not, until they are revealed.
func testHidden(t *testing.T, a Archive) {
	shown, hidden, strange := record(news, 1, "word", ""), record(news, 2, "word", ""), record(news, 3, "word", "")
	a.Keep([]archive.Record{shown, hidden})
	a.Hide([]feed.EntryID{hidden.ID, hidden.ID, strange.ID})
	Commit(t, a)
	a.Keep([]archive.Record{hidden, strange}) // one changes, and one comes that was not there to be hidden
	Commit(t, a)
	shown.Seq, hidden.Seq, strange.Seq = 1, 2, 3
	for range 2 {
		for _, f := range []feed.Filter{{}, {Words: []string{"word"}},
			{IDs: []feed.EntryID{shown.ID, hidden.ID, strange.ID}}, {Feed: news}} {
			wantFound(t, a, f, strange, hidden, shown)
			f.Shareable = true
			wantFound(t, a, f, strange, shown)
		}
		indexAll(t, a)
	}
	if got := a.Shared().Known([]feed.EntryID{shown.ID, hidden.ID, {9}}); !got[0].Kept() || !got[1].New() ||
		!got[2].New() {
		t.Errorf("others know %+v, want the first", got)
	}
	// Others have it once one of them brings it, as something of its own.
	brought := hidden
	brought.Source, brought.Seen, brought.Confirmed = NodeID(t, "192.0.2.1:7790"), hidden.Seen.Add(time.Hour), false
	a.Shared().Keep([]archive.Record{brought})
	Commit(t, a)
	brought.Seq = 4
	for range 2 {
		for _, f := range []feed.Filter{{}, {Words: []string{"word"}},
			{IDs: []feed.EntryID{shown.ID, hidden.ID, strange.ID}}, {Feed: news}} {
			wantFound(t, a, f, strange, hidden, shown)
			f.Shareable = true
			wantFound(t, a, f, brought, strange, shown)
		}
		indexAll(t, a)
	}
}

// testDated looks for the latest by their time among entries that arrived in another order, some without a date.
func testDated(t *testing.T, a Archive) {
	const n = 30
	for i := range n {
		k := 7 * i % n
		r := record(news, k, "word", "")
		if r.Seen = base.Add(365 * 24 * time.Hour); k%5 == 0 {
			r.Seen, r.Entry.Published = r.Entry.Published, time.Time{}
		}
		a.Keep([]archive.Record{r})
	}
	Commit(t, a)
	for _, limit := range []int{1, 10, n, 2 * n} {
		got := search(t, a, feed.Filter{Feed: news, Dated: true, Limit: limit, Until: base.Add(25 * time.Minute)})
		if len(got) != min(limit, 25) {
			t.Errorf("limit %d: found %d", limit, len(got))
		}
		for i, r := range got {
			if want := base.Add(time.Duration(24-i) * time.Minute); !r.Time().Equal(want) {
				t.Fatalf("limit %d: result %d is of %v, want %v", limit, i, r.Time(), want)
			}
		}
	}
	for _, f := range []feed.Filter{{Words: []string{"word"}}, {Relevance: true}} {
		f.Dated = true
		if got := search(t, a, f); len(got) != n || !f.Relevance && got[0].Seq != n {
			t.Errorf("%+v: found %d, the first has seq %d", f, len(got), got[0].Seq)
		}
	}
}
