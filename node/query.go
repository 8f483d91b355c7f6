package node

import (
	"slices"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// maxSearches is how many queries of one neighbor are worked on at a time.
const maxSearches = 2

// queried answers a neighbor's query from our own archive.
//
// Paper §3.6: "The requester specifies in the query what feed entries it is looking for in terms of
// feed titles, entry titles, published dates, and others." Differs from the paper: a query is not yet
// passed on to our own neighbors.
func (n *Node) queried(l *link, ev Asked, q protocol.Query) {
	if l.searches >= maxSearches {
		n.refuse(ev, protocol.Faultf(protocol.Busy, "%d queries are under way; wait for their answers", l.searches))
		return
	}
	f := q.Filter
	f.Shareable = true
	limit := f.Limit
	if limit <= 0 {
		limit = feed.DefaultLimit
	}
	limit = min(limit, protocol.MaxAnswerEntries)
	f.Limit = limit + 1 // one more tells whether there is more
	l.searches++
	n.searchFor(f, func(found Found) {
		l.searches--
		if found.Err != nil {
			n.refuse(ev, protocol.Faultf(protocol.Busy, "the search was not finished in time; ask for less"))
			return
		}
		records := slices.DeleteFunc(found.Records, func(r archive.Record) bool { return n.private(r.Entry.Feed) })
		n.respond(ev, answerOf(records, limit))
	})
}

// searchFor looks through the archive and has f called with what is found.
func (n *Node) searchFor(f feed.Filter, then func(Found)) {
	n.lastID++
	n.open[n.lastID] = pending{found: then}
	n.do(Search{ID: n.lastID, Filter: f})
}

// maxAnswerBytes bounds the texts in an answer.
const maxAnswerBytes = 256 << 10

// answerOf lists at most limit records, fewer where their titles and links are very long.
func answerOf(records []archive.Record, limit int) protocol.Answer {
	a := protocol.Answer{}
	if len(records) > limit {
		a.Cut = protocol.CutLimit
	}
	bytes := 0
	for _, r := range records[:min(limit, len(records))] {
		bytes += 512 + len(r.Entry.Title) + len(r.Entry.Link)
		if bytes > maxAnswerBytes {
			a.Cut = protocol.CutLimit
			break
		}
		a.Found = append(a.Found, protocol.Found{
			ID: r.ID, Digest: r.Digest, Feed: r.Entry.Feed, Title: cut(r.Entry.Title, protocol.MaxTitleBytes),
			Link: cut(r.Entry.Link, feed.MaxURLBytes), Published: r.Entry.Published, Seen: r.Seen,
		})
	}
	return a
}

// cut is s where it keeps to the limit, and nothing where it does not.
func cut(s string, limit int) string {
	if len(s) > limit {
		return ""
	}
	return s
}
