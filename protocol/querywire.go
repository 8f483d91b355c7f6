package protocol

import (
	"math"
	"time"

	"feedex/feed"
	"feedex/xmlrpc"
)

// Limits of a query's members.
const (
	maxWords     = 32              // words, and title words
	maxQueryIDs  = 200             // entry ids asked for
	maxQueryHops = 5               // hops a query may go
	maxQueryWait = time.Minute     // how long an asker may say it waits
	minUnix      = -62_135_596_800 // 0001-01-01
	maxUnix      = 253_402_300_799 // 9999-12-31
)

// encodeQuery writes a query's members; those that are empty are left out.
func encodeQuery(q Query) xmlrpc.Struct {
	s := make(xmlrpc.Struct, 0, 10)
	add := func(name string, v xmlrpc.Value) { s = append(s, xmlrpc.Member{Name: name, Value: v}) }
	if q.ID != "" {
		add("id", q.ID)
	}
	if q.Filter.Feed != "" {
		add("feed", string(q.Filter.Feed))
	}
	if len(q.Filter.Words) > 0 {
		add("words", stringArray(q.Filter.Words))
	}
	if len(q.Filter.Title) > 0 {
		add("title", stringArray(q.Filter.Title))
	}
	if !q.Filter.Since.IsZero() {
		add("since", q.Filter.Since.Unix())
	}
	if !q.Filter.Until.IsZero() {
		add("until", q.Filter.Until.Unix())
	}
	if len(q.Filter.IDs) > 0 {
		ids := make(xmlrpc.Array, len(q.Filter.IDs))
		for i, id := range q.Filter.IDs {
			ids[i] = id.String()
		}
		add("ids", ids)
	}
	if q.Filter.Limit > 0 {
		add("limit", int64(q.Filter.Limit))
	}
	add("hops", int64(q.Hops))
	if q.Wait > 0 {
		add("wait", q.Wait.Milliseconds())
	}
	return s
}

func decodeQuery(p *params) Query {
	m := p.structure("query")
	q := Query{
		ID:   m.string("id", MaxSessionBytes),
		Hops: int(m.int("hops", 0, maxQueryHops)),
		Wait: time.Duration(m.int("wait", 0, maxQueryWait.Milliseconds())) * time.Millisecond,
		Filter: feed.Filter{
			Feed:  m.feed("feed"),
			Words: bounded(m, "words"),
			Title: bounded(m, "title"),
			Limit: int(m.int("limit", 0, math.MaxInt32)),
		},
	}
	q.Filter.Limit = min(q.Filter.Limit, MaxAnswerEntries)
	if _, ok := m.list.Lookup("since"); ok {
		q.Filter.Since = instant(m.int("since", minUnix, maxUnix))
	}
	if _, ok := m.list.Lookup("until"); ok {
		q.Filter.Until = instant(m.int("until", minUnix, maxUnix))
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
			m.fail(name, "want words of at most 256 bytes")
		}
	}
	return words
}

// encodeAnswer writes {found, partial}.
func encodeAnswer(a Answer) xmlrpc.Struct {
	found := make(xmlrpc.Array, len(a.Found))
	for i, f := range a.Found {
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
		if !f.Holder.IsZero() {
			s = append(s, xmlrpc.Member{Name: "holder", Value: f.Holder.String()})
		}
		found[i] = s
	}
	return xmlrpc.Struct{{Name: "found", Value: found}, {Name: "partial", Value: a.Partial}}
}

func decodeAnswer(p *params) Answer {
	m := p.structure("answer")
	a := Answer{Partial: m.bool("partial")}
	for _, v := range m.array("found", MaxAnswerEntries) {
		s, is := v.(xmlrpc.Struct)
		if !is {
			m.fail("found", "want structs")
		}
		f := members{list: s, where: "found", err: m.err}
		found := Found{
			Feed:  f.feed("feed"),
			Title: f.string("title", MaxTitleBytes),
			Link:  f.string("link", feed.MaxURLBytes),
			Seen:  instant(f.int("seen", minUnix, maxUnix)),
		}
		if _, ok := s.Lookup("published"); ok {
			found.Published = instant(f.int("published", minUnix, maxUnix))
		}
		id, err := feed.ParseEntryID(f.string("id", 40))
		if err != nil {
			f.fail("id", "want 40 hexadecimal digits")
		}
		digest, err := feed.ParseEntryID(f.string("digest", 40))
		if err != nil {
			f.fail("digest", "want 40 hexadecimal digits")
		}
		found.ID, found.Digest = id, feed.Digest(digest)
		if text := f.string("holder", MaxLabelBytes); text != "" {
			if found.Holder, err = ParseNodeID(text); err != nil {
				f.fail("holder", "want ip:port")
			}
		}
		a.Found = append(a.Found, found)
	}
	return a
}

func stringArray(items []string) xmlrpc.Array {
	a := make(xmlrpc.Array, len(items))
	for i, s := range items {
		a[i] = s
	}
	return a
}

// instant is the time of whole Unix seconds.
func instant(s int64) time.Time { return time.Unix(s, 0).UTC() }
