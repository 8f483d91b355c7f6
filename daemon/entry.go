package daemon

import (
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// An Entry is an entry of the archive in JSON, as the control socket sends it and `feedex query
// --json` prints it. Members are only ever added. Times are RFC 3339 in UTC; what is not known is
// left out.
type Entry struct {
	ID         string          `json:"id"`  // the EntryID, 40 hexadecimal digits
	Seq        int64           `json:"seq"` // order of arrival in this archive
	Feed       feed.URL        `json:"feed"`
	GUID       string          `json:"guid,omitempty"` // id or guid as published
	Title      string          `json:"title"`
	Link       string          `json:"link,omitempty"`
	Authors    []string        `json:"authors,omitempty"`
	Published  time.Time       `json:"published,omitzero"`
	Updated    time.Time       `json:"updated,omitzero"`
	Seen       time.Time       `json:"seen"`              // when it arrived here
	Source     protocol.NodeID `json:"source,omitzero"`   // the neighbor that brought it; absent for an own poll
	Confirmed  bool            `json:"confirmed"`         // an own poll, or two neighbors apart, have shown it
	Summary    string          `json:"summary,omitempty"` // HTML as published
	Content    string          `json:"content,omitempty"` // HTML as published
	Categories []string        `json:"categories,omitempty"`
	Enclosures []Enclosure     `json:"enclosures,omitempty"`
}

// An Enclosure is a media file of an Entry.
type Enclosure struct {
	URL    string `json:"url"`
	Type   string `json:"type,omitempty"`
	Length int64  `json:"length,omitempty"` // bytes
}

// Entries converts records, in order. It returns an empty list rather than nil, so that JSON says [].
func Entries(records []archive.Record) []Entry {
	out := make([]Entry, len(records))
	for i := range records {
		out[i] = newEntry(&records[i])
	}
	return out
}

func newEntry(r *archive.Record) Entry {
	e := &r.Entry
	out := Entry{
		ID: r.ID.String(), Seq: r.Seq, Feed: e.Feed, GUID: e.ID, Title: e.Title, Link: e.Link,
		Authors: e.Authors, Published: e.Published, Updated: e.Updated, Seen: r.Seen, Source: r.Source,
		Confirmed: r.Confirmed, Summary: e.Summary, Content: e.Content, Categories: e.Categories,
	}
	for _, enc := range e.Enclosures {
		out.Enclosures = append(out.Enclosures, Enclosure(enc))
	}
	return out
}

// record is the inverse of newEntry. The id and digest follow from the content.
func (e *Entry) record() archive.Record {
	entry := feed.Entry{
		Feed: e.Feed, ID: e.GUID, Title: e.Title, Link: e.Link, Authors: e.Authors,
		Published: e.Published, Updated: e.Updated, Summary: e.Summary, Content: e.Content,
		Categories: e.Categories,
	}
	for _, enc := range e.Enclosures {
		entry.Enclosures = append(entry.Enclosures, feed.Enclosure(enc))
	}
	r := archive.NewRecord(entry, e.Seen, e.Source)
	r.Seq, r.Confirmed = e.Seq, e.Confirmed
	return r
}

// A searchRequest is a feed.Filter in JSON.
type searchRequest struct {
	Feed      feed.URL  `json:"feed,omitempty"`
	Words     []string  `json:"words,omitempty"`
	Title     []string  `json:"title,omitempty"`
	Match     string    `json:"match,omitempty"` // as feed.ParseMatch reads it
	Since     time.Time `json:"since,omitzero"`
	Until     time.Time `json:"until,omitzero"`
	IDs       []string  `json:"ids,omitempty"`
	Limit     int       `json:"limit,omitempty"`
	Shareable bool      `json:"shareable,omitempty"`
}

func newSearch(f feed.Filter) searchRequest {
	s := searchRequest{
		Feed: f.Feed, Words: f.Words, Title: f.Title, Since: f.Since, Until: f.Until,
		Match: f.Match.String(), Limit: f.Limit, Shareable: f.Shareable,
	}
	for _, id := range f.IDs {
		s.IDs = append(s.IDs, id.String())
	}
	return s
}

// filter is the inverse of newSearch. It fails on a malformed id or match.
func (s *searchRequest) filter() (feed.Filter, error) {
	f := feed.Filter{
		Feed: s.Feed, Words: s.Words, Title: s.Title, Since: s.Since, Until: s.Until,
		Limit: s.Limit, Shareable: s.Shareable,
	}
	if s.Match != "" {
		m, err := feed.ParseMatch(s.Match)
		if err != nil {
			return feed.Filter{}, err
		}
		f.Match = m
	}
	for _, text := range s.IDs {
		id, err := feed.ParseEntryID(text)
		if err != nil {
			return feed.Filter{}, err
		}
		f.IDs = append(f.IDs, id)
	}
	return f, nil
}
