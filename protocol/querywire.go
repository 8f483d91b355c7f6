package protocol

import (
	"math"
	"time"

	"feedex/feed"
	"feedex/xmlrpc"
)

// MaxPrefixes is how many words with any ending a query may have, in words, title and match together.
const MaxPrefixes = 4

// Limits of a query's members.
const (
	maxWords    = 32              // words, and title words
	maxQueryIDs = 200             // entry ids asked for
	maxReasons  = 16              // why an answer is cut
	minUnix     = -62_135_596_799 // 0001-01-01T00:00:01Z: the second before it is Go's zero time
	maxUnix     = 253_402_300_799 // 9999-12-31
)

// The orders of answers that are not the usual one.
const byRelevance, byTime = "relevance", "time"

// encodeQuery writes a query's members; those that are empty are left out.
func encodeQuery(q Query) xmlrpc.Struct {
	s := make(xmlrpc.Struct, 0, 12)
	add := func(name string, v xmlrpc.Value) { s = append(s, xmlrpc.Member{Name: name, Value: v}) }
	if q.ID != "" {
		add("id", q.ID)
	}
	if q.Filter.Feed != "" {
		add("feed", string(q.Filter.Feed))
	}
	if len(q.Filter.Words) > 0 {
		add("words", arrayOfStrings(q.Filter.Words))
	}
	if len(q.Filter.Title) > 0 {
		add("title", arrayOfStrings(q.Filter.Title))
	}
	if !q.Filter.Match.IsZero() {
		add("match", q.Filter.Match.String())
	}
	if !q.Filter.Since.IsZero() {
		add("since", q.Filter.Since.Unix())
	}
	if !q.Filter.Until.IsZero() {
		add("until", q.Filter.Until.Unix())
	}
	if len(q.Filter.IDs) > 0 {
		add("ids", arrayOf(q.Filter.IDs, feed.EntryID.String))
	}
	if q.Filter.Limit > 0 {
		add("limit", int64(q.Filter.Limit))
	}
	switch {
	case q.Filter.Relevance:
		add("order", byRelevance)
	case q.Filter.Dated:
		add("order", byTime)
	}
	add("hops", int64(q.Hops))
	if q.Budget > 0 {
		add("budget", int64(q.Budget))
	}
	if q.Wait > 0 {
		add("wait", q.Wait.Milliseconds())
	}
	return s
}

func decodeQuery(p *params) Query {
	m := p.structure("query")
	q := Query{
		ID:     m.string("id", MaxSessionBytes),
		Hops:   int(m.int("hops", 0, MaxQueryHops)),
		Budget: int(m.int("budget", 0, MaxBudget)),
		Wait:   time.Duration(m.int("wait", 0, MaxWait.Milliseconds())) * time.Millisecond,
		Filter: feed.Filter{
			Feed:  m.feed(),
			Words: bounded(m, "words"),
			Title: bounded(m, "title"),
			Limit: int(m.int("limit", 0, math.MaxInt32)),
		},
	}
	q.Filter.Limit = min(q.Filter.Limit, MaxAnswerEntries)
	order := m.string("order", MaxLabelBytes)
	q.Filter.Relevance, q.Filter.Dated = order == byRelevance, order == byTime
	q.Filter.Since, q.Filter.Until = m.time("since"), m.time("until")
	if q.Filter.Match = match(m); q.Filter.Prefixes() > MaxPrefixes {
		m.fail("words", "want at most 4 words with any ending, in words, title and match together")
	}
	for _, text := range m.strings("ids", maxQueryIDs) {
		id, err := feed.ParseEntryID(text)
		if err != nil {
			m.fail("ids", "want 40 hexadecimal digits each")
		}
		q.Filter.IDs = append(q.Filter.IDs, id)
	}
	return q
}

// bounded reads a list of words, none longer than a label.
func bounded(m members, name string) []string {
	words := m.strings(name, maxWords)
	for _, w := range words {
		if len(w) > MaxLabelBytes {
			m.argument(name).refuse(TooLong, ": a word is %d bytes, the limit is %d", len(w), MaxLabelBytes)
		}
	}
	return words
}

// match reads an expression, the zero Match where there is none.
func match(m members) feed.Match {
	text := m.string("match", feed.MaxMatchBytes)
	if text == "" {
		return feed.Match{}
	}
	expr, err := feed.ParseMatch(text)
	if err != nil {
		m.fail("match", err.Error())
	}
	return expr
}

// encodeAnswer writes {found, partial, cut, whole, left}.
func encodeAnswer(a Answer) xmlrpc.Struct {
	found := make(xmlrpc.Array, len(a.Found))
	for i := range a.Found {
		found[i] = encodeFound(&a.Found[i])
	}
	s := xmlrpc.Struct{{Name: "found", Value: found}, {Name: "partial", Value: a.Partial()}}
	if a.Partial() {
		s = append(s, xmlrpc.Member{Name: "cut", Value: arrayOfStrings(a.Cut.Reasons())})
	}
	if !a.CompleteSince.IsZero() {
		s = append(s, xmlrpc.Member{Name: "whole", Value: a.CompleteSince.Unix()})
	}
	if a.Left > 0 {
		s = append(s, xmlrpc.Member{Name: "left", Value: int64(a.Left)})
	}
	return s
}

func encodeFound(f *Found) xmlrpc.Struct {
	s := xmlrpc.Struct{
		{Name: "id", Value: f.ID.String()},
		{Name: "digest", Value: f.Digest.String()},
		{Name: "feed", Value: string(f.Feed)},
		{Name: "title", Value: f.Title},
		{Name: "link", Value: f.Link},
		{Name: "seen", Value: f.Seen.Unix()},
	}
	if !f.Published.IsZero() {
		s = append(s, xmlrpc.Member{Name: "published", Value: f.Published.Unix()})
	}
	if !f.Updated.IsZero() {
		s = append(s, xmlrpc.Member{Name: "updated", Value: f.Updated.Unix()})
	}
	if len(f.Holders) > 0 {
		s = append(s, xmlrpc.Member{Name: "holders", Value: arrayOf(f.Holders, NodeID.String)})
	}
	return s
}

func decodeAnswer(p *params) Answer {
	m := p.structure("answer")
	a := Answer{Cut: ParseCut(m.strings("cut", maxReasons)), CompleteSince: m.time("whole")}
	a.Left = int(m.int("left", 0, MaxBudget))
	if m.bool("partial") && a.Cut == 0 {
		a.Cut = CutLimit // it does not say why
	}
	for fm := range m.structs("found", "found", MaxAnswerEntries) {
		a.Found = append(a.Found, decodeFound(fm))
	}
	return a
}

func decodeFound(m members) Found {
	f := Found{
		ID:        m.entryID("id"),
		Digest:    feed.Digest(m.entryID("digest")),
		Feed:      m.feed(),
		Title:     feed.Clean(m.string("title", MaxTitleBytes)),
		Link:      feed.Clean(m.string("link", feed.MaxURLBytes)),
		Seen:      m.time("seen"),
		Published: m.time("published"),
		Updated:   m.time("updated"),
	}
	for _, text := range m.strings("holders", MaxHolders) {
		var id NodeID // "" is the answering node
		if err := id.UnmarshalText([]byte(text)); err != nil {
			m.fail("holders", "want ip:port each")
		}
		f.Holders = append(f.Holders, id)
	}
	return f
}

// entryID reads 40 hexadecimal digits.
func (m members) entryID(name string) feed.EntryID {
	id, err := feed.ParseEntryID(m.string(name, 40))
	if err != nil {
		m.fail(name, "want 40 hexadecimal digits")
	}
	return id
}

// time reads Unix seconds; the zero time where the member is missing.
func (m members) time(name string) time.Time {
	if _, ok := m.lookup(name); !ok {
		return time.Time{}
	}
	return instant(m.int(name, minUnix, maxUnix))
}

// instant is the time of whole Unix seconds.
func instant(s int64) time.Time { return time.Unix(s, 0).UTC() }
