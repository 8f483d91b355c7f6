package search_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
	"feedex/search"
)

func TestQueriesForTheSameHaveOneKey(t *testing.T) {
	q := func(f feed.Filter) protocol.Query { return protocol.Query{Filter: f} }
	base := search.Key(q(feed.Filter{Words: []string{"b", "A  c"}, IDs: []feed.EntryID{{1}, {2}}, Since: now}))
	same := protocol.Query{
		ID: "x", Hops: 3, Budget: 9, Wait: time.Second,
		Filter: feed.Filter{Words: []string{"a C", "B", "b"}, IDs: []feed.EntryID{{2}, {1}}, Since: now},
	}
	if got := search.Key(same); got != base {
		t.Errorf("keys differ:\n%s\n%s", got, base)
	}
	for _, f := range []feed.Filter{
		{Words: []string{"b", "a", "c"}, IDs: []feed.EntryID{{1}, {2}}, Since: now},
		{Title: []string{"b", "a c"}, IDs: []feed.EntryID{{1}, {2}}, Since: now},
		{Words: []string{"b", "a c"}, IDs: []feed.EntryID{{1}}, Since: now},
		{Words: []string{"b", "a c"}, IDs: []feed.EntryID{{1}, {2}}, Until: now},
		{Words: []string{"b", "a c"}, IDs: []feed.EntryID{{1}, {2}}, Since: now, Limit: 9},
		{Words: []string{"b", "a c"}, IDs: []feed.EntryID{{1}, {2}}, Since: now, Feed: news},
	} {
		if search.Key(q(f)) == base {
			t.Errorf("%+v has the key of another", f)
		}
	}
}

func TestAnswersAreKeptForTheirTime(t *testing.T) {
	some := []protocol.Found{found(1)}
	for name, c := range map[string]struct {
		filter feed.Filter
		answer protocol.Answer
		life   time.Duration
	}{
		"usual":            {feed.Filter{}, protocol.Answer{Found: some}, time.Minute},
		"cut by its limit": {feed.Filter{}, protocol.Answer{Found: some, Cut: protocol.CutLimit}, time.Minute},
		"of the past":      {feed.Filter{Until: now.Add(-1)}, protocol.Answer{Found: some}, 10 * time.Minute},
		"of today":         {feed.Filter{Until: now.Add(1)}, protocol.Answer{Found: some}, time.Minute},
		"empty":            {feed.Filter{Until: now.Add(-1)}, protocol.Answer{}, 30 * time.Second},
		"partial": {feed.Filter{Until: now.Add(-1)}, protocol.Answer{Found: some, Cut: protocol.CutTime},
			10 * time.Second},
		"partial, and empty": {feed.Filter{}, protocol.Answer{Cut: protocol.CutRefused}, 10 * time.Second},
	} {
		var kept search.Cache
		kept.Keep(now, "key", protocol.Query{Filter: c.filter, Hops: 2}, c.answer)
		if _, ok := kept.Find(now.Add(c.life-1), "key", protocol.Query{Hops: 2}); !ok {
			t.Errorf("%s: forgotten before %v", name, c.life)
		}
		if _, ok := kept.Find(now.Add(c.life), "key", protocol.Query{Hops: 2}); ok {
			t.Errorf("%s: kept for longer than %v", name, c.life)
		}
		if _, ok := kept.Find(now, "key", protocol.Query{Hops: 3}); ok {
			t.Errorf("%s: an answer from two hops stands for one from three", name)
		}
	}
}

// An asker that waits for longer gets what others were too late with, and one that has more asked what those know.
func TestAnAnswerThatWasCutStandsForNoLargerQuestion(t *testing.T) {
	for _, c := range []struct {
		cut    protocol.Cut
		wait   time.Duration
		budget int
		want   bool
	}{
		{protocol.CutTime, time.Second, 9, true},
		{protocol.CutTime, time.Second + 1, 1, false},
		{protocol.CutTime | protocol.CutLimit, time.Minute, 1, false},
		{protocol.CutLimit, time.Minute, 9, true},
		{protocol.CutBudget, time.Minute, 1, true},
		{protocol.CutBudget, time.Second, 2, false},
		{0, time.Minute, 9, true},
	} {
		var kept search.Cache
		kept.Keep(now, "key", protocol.Query{Wait: time.Second, Budget: 1}, protocol.Answer{Cut: c.cut})
		if _, ok := kept.Find(now, "key", protocol.Query{Wait: c.wait, Budget: c.budget}); ok != c.want {
			t.Errorf("an answer of one node, cut by %v after a second, stands for one of %d after %v: %v",
				c.cut.Reasons(), c.budget, c.wait, ok)
		}
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	var c search.Cache
	large := found(1)
	large.Title = strings.Repeat("x", 1<<20)
	for i := range 40 {
		c.Keep(now, fmt.Sprint(i), protocol.Query{}, protocol.Answer{Found: []protocol.Found{large}})
	}
	kept := 0
	for i := range 40 {
		if _, ok := c.Find(now, fmt.Sprint(i), protocol.Query{}); ok {
			kept++
		}
	}
	if _, ok := c.Find(now, "39", protocol.Query{}); !ok || kept != 15 {
		t.Errorf("%d answers of 1 MiB each are kept, the latest: %v", kept, ok)
	}
}

// An answer counts with its key, and one that is larger than the cache is not kept.
func TestTheCacheCountsToTheByte(t *testing.T) {
	const most = 16<<20 - 256
	for length, want := range map[int]bool{most: true, most + 1: false} {
		var c search.Cache
		key := strings.Repeat("k", length)
		c.Keep(now, key, protocol.Query{}, protocol.Answer{})
		if _, ok := c.Find(now, key, protocol.Query{}); ok != want {
			t.Errorf("with a key of %d bytes it is kept: %v", length, ok)
		}
	}
}

// Whatever makes an entry longer makes its answer longer by as much.
func TestAnswersAreAsLongAsTheirEntries(t *testing.T) {
	var empty protocol.Found
	for name, c := range map[string]struct {
		found protocol.Found
		more  int
	}{
		"a feed":  {protocol.Found{Feed: news}, len(news)},
		"a title": {protocol.Found{Title: "title"}, 5},
		"a link":  {protocol.Found{Link: "http://a.example/"}, 17},
		"holders": {protocol.Found{Holders: make([]protocol.NodeID, 2)}, 128},
	} {
		if more := search.AnswerBytes(&c.found) - search.AnswerBytes(&empty); more != c.more {
			t.Errorf("%s: %d bytes more, want %d", name, more, c.more)
		}
	}
	if bare := search.AnswerBytes(&empty); bare < 300 {
		t.Errorf("an entry has %d bytes beside its texts", bare)
	}
}
