package search

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// How long answers are kept, and how many bytes of them.
const (
	usualLife   = time.Minute
	pastLife    = 10 * time.Minute // of a range of time that is over: hardly anything will be added
	emptyLife   = 30 * time.Second
	partialLife = 10 * time.Second // of an answer for which somebody was too late
	maxCached   = 16 << 20
)

// A Cache keeps answers for queries that ask the same soon. Paper §3.6: "results can be cached, which may be useful for
// popular queries." The zero Cache is empty.
type Cache struct {
	answers map[string]cached
	order   []string // the oldest first
	bytes   int
}

type cached struct {
	answer protocol.Answer
	hops   int           // how far it was asked
	budget int           // of how many nodes
	wait   time.Duration // and for how long
	until  time.Time
	bytes  int
}

// Key is the same for queries that ask for the same.
func Key(q protocol.Query) string {
	f := q.Filter
	f.Words, f.Title = normal(f.Words), normal(f.Title)
	f.IDs = slices.Clone(f.IDs)
	slices.SortFunc(f.IDs, feed.EntryID.Compare)
	return fmt.Sprintf("%#v", f)
}

// normal is a list of words that must all occur, as short as it can be said.
func normal(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.Join(strings.Fields(strings.ToLower(w)), " ")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Find returns the answer that is kept for the key of a query, if it was asked as far as that and, where somebody was
// late, for as long, and where there were more to ask, of as many.
func (c *Cache) Find(now time.Time, key string, q protocol.Query) (protocol.Answer, bool) {
	kept, ok := c.answers[key]
	less := kept.answer.Cut&protocol.CutTime != 0 && kept.wait < q.Wait ||
		kept.answer.Cut&protocol.CutBudget != 0 && kept.budget < q.Budget
	if !ok || less || kept.hops < q.Hops || !now.Before(kept.until) {
		return protocol.Answer{}, false
	}
	return kept.answer, true
}

// Keep keeps an answer, in place of one that is there, for as long as it is likely to be true.
func (c *Cache) Keep(now time.Time, key string, q protocol.Query, a protocol.Answer) {
	if c.answers == nil {
		c.answers = make(map[string]cached)
	}
	c.drop(key)
	kept := cached{answer: a, hops: q.Hops, budget: q.Budget, wait: q.Wait, until: now.Add(life(now, q.Filter, a)),
		bytes: len(key) + 256}
	for i := range a.Found {
		kept.bytes += AnswerBytes(&a.Found[i])
	}
	c.answers[key] = kept
	c.order = append(c.order, key)
	c.bytes += kept.bytes
	for len(c.order) > 0 && (c.bytes > maxCached || !now.Before(c.answers[c.order[0]].until)) {
		c.drop(c.order[0])
	}
}

func (c *Cache) drop(key string) {
	kept, ok := c.answers[key]
	if !ok {
		return
	}
	c.bytes -= kept.bytes
	delete(c.answers, key)
	i := slices.Index(c.order, key)
	c.order = slices.Delete(c.order, i, i+1)
}

// life is how long the answer is kept.
func life(now time.Time, f feed.Filter, a protocol.Answer) time.Duration {
	switch {
	case a.Cut&(protocol.CutTime|protocol.CutRefused) != 0:
		return partialLife
	case len(a.Found) == 0:
		return emptyLife
	case !f.Until.IsZero() && f.Until.Before(now):
		return pastLife
	}
	return usualLife
}

// AnswerBytes is about how long an entry is in an answer.
func AnswerBytes(f *protocol.Found) int {
	return 512 + len(f.Feed) + len(f.Title) + len(f.Link) + 64*len(f.Holders)
}
