package archivetest

import (
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// testMatch looks for expressions among four entries, each with a word of its own and the word "all".
func testMatch(t *testing.T, a Archive) {
	for n, title := range []string{"", "apple all", "apple pie all", "pear pie", "plum"} {
		if n > 0 {
			a.Keep([]archive.Record{record(news, n, title, []string{"", "", "", "in all", "all of it"}[n])})
		}
	}
	Commit(t, a)
	cases := []struct {
		text string
		want []int64
	}{
		{`apple`, []int64{2, 1}},
		{`apple OR plum`, []int64{4, 2, 1}},
		{`pie NOT apple`, []int64{3}},
		{`NOT apple`, []int64{4, 3}},
		{`NOT all`, nil},
		{`NOT nothing`, []int64{4, 3, 2, 1}},
		{`plum OR NOT pie`, []int64{4, 1}},
		{`(NOT pie) (NOT plum)`, []int64{1}},
		{`NOT (pie OR plum)`, []int64{1}},
		{`NOT (apple pie)`, []int64{4, 3, 1}},
		{`NOT (pie NOT pear)`, []int64{4, 3, 1}},
		{`(apple OR pear) (pie OR plum)`, []int64{3, 2}},
		{`apple pie OR plum`, []int64{4, 2}},
		{`"apple pie" OR "pie pear"`, []int64{2}},
		{`"in all" OR "of it"`, []int64{4, 3}},
		{`"pie in"`, nil}, // title and summary are apart
		{`p* NOT pl*`, []int64{3, 2}},
		{`all NOT (pie OR plum)`, []int64{1}},
		{`all OR nothing`, []int64{4, 3, 2, 1}},
		{`ÁPPLE NOT Pïe`, []int64{1}},
	}
	for _, state := range []string{"not indexed", "indexed"} {
		for _, c := range cases {
			m := mustMatch(t, c.text)
			asked := feed.Filter{}
			asked.Ask(m)
			filters := map[string]feed.Filter{"as it is": {Match: m}, "asked": asked,
				"of the feed": {Match: m, Feed: news}}
			for name, f := range filters {
				var got []int64
				for _, r := range search(t, a, f) {
					got = append(got, r.Seq)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%s, %s: %s found %v, want %v", state, name, c.text, got, c.want)
				}
			}
			if got := search(t, a, feed.Filter{Match: m, Limit: 1}); len(got) != min(1, len(c.want)) {
				t.Errorf("%s: %s found %d with a limit of one", state, c.text, len(got))
			}
			if got := search(t, a, feed.Filter{Match: m, Feed: blog}); len(got) != 0 {
				t.Errorf("%s: %s found %d in a feed without entries", state, c.text, len(got))
			}
		}
		indexAll(t, a)
	}
	// Words that fold to nothing ask for nothing.
	nothing := feed.Match{Op: feed.MatchNot, Of: []feed.Match{{Op: feed.MatchTerm, Term: "!?"}}}
	if got := search(t, a, feed.Filter{Match: nothing}); len(got) != 4 {
		t.Errorf("%s found %d of 4", nothing, len(got))
	}
}

// testFields looks for terms in fields among three entries that hold the same words, each in other fields.
func testFields(t *testing.T, a Archive) {
	for n, e := range []feed.Entry{
		{Feed: news, ID: "1", Title: "storm", Summary: "Jane Doe", Categories: []string{"flood", "at sea"}},
		{Feed: news, ID: "2", Title: "flood at sea", Authors: []string{"Jane", "Doe"}, Summary: "storm"},
		{Feed: blog, ID: "3", Title: "Jane Doe", Authors: []string{"Storm Flood", "jane doe"},
			Categories: []string{"sea"}},
	} {
		a.Keep([]archive.Record{archive.NewRecord(e, base.Add(time.Duration(n)*time.Hour), protocol.NodeID{})})
	}
	Commit(t, a)
	cases := []struct {
		text string
		want []int64
	}{
		{`title:storm`, []int64{1}},
		{`title:st* OR title:"jane doe"`, []int64{3, 1}},
		{`title:"at sea"`, []int64{2}},
		{`NOT title:flood`, []int64{3, 1}},
		{`author:jane`, []int64{3, 2}},
		{`author:"jane doe"`, []int64{3}}, // of one author
		{`author:d* NOT author:storm`, []int64{2}},
		{`author:sea OR author:at`, nil},
		{`category:sea`, []int64{3, 1}},
		{`category:"at s"*`, []int64{1}},
		{`category:"flood at"`, nil}, // of one category
		{`NOT category:sea`, []int64{2}},
		{`storm NOT (author:storm OR category:flood)`, []int64{2}},
		{`feed:` + string(news), []int64{2, 1}},
		{`NOT feed:` + string(news), []int64{3}},
		{`storm feed:"` + string(blog) + `"`, []int64{3}},
		{`feed:nowhere`, nil},
		{`NOT feed:nowhere`, []int64{3, 2, 1}},
		{`feed:http* OR feed:https*`, []int64{3, 2, 1}},
		{`https OR http`, nil}, // the address is no text
		{`"title:storm"`, nil},
	}
	for _, state := range []string{"not indexed", "indexed"} {
		for _, c := range cases {
			m := mustMatch(t, c.text)
			asked := feed.Filter{}
			asked.Ask(m)
			for name, f := range map[string]feed.Filter{"as it is": {Match: m}, "asked": asked} {
				var got []int64
				for _, r := range search(t, a, f) {
					got = append(got, r.Seq)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%s, %s: %s found %v, want %v", state, name, c.text, got, c.want)
				}
			}
		}
		indexAll(t, a)
	}
}
