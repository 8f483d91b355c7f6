// Package jsonl writes entries of an archive as JSON: one object an entry, as the command line prints it and
// the control socket and the reader's address send it, and the lines of an export, each such an object on a
// line of its own (JSON Lines), from which another archive takes them over.
package jsonl

import (
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// An Entry is an entry of the archive in JSON. Members are only ever added. Times are RFC 3339 in UTC; what is
// not known is left out.
type Entry struct {
	ID         string           `json:"id"`  // the EntryID, 40 hexadecimal digits
	Seq        int64            `json:"seq"` // order of arrival in this archive; below zero where it was filled in
	Feed       feed.URL         `json:"feed"`
	GUID       string           `json:"guid,omitempty"` // id or guid as published
	Title      string           `json:"title"`
	Link       string           `json:"link,omitempty"`
	Authors    []string         `json:"authors,omitempty"`
	Published  time.Time        `json:"published,omitzero"`
	Updated    time.Time        `json:"updated,omitzero"`
	Seen       time.Time        `json:"seen"`              // when it arrived here
	Source     protocol.NodeID  `json:"source,omitzero"`   // the neighbor that brought it; absent for an own poll
	Confirmed  bool             `json:"confirmed"`         // an own poll, or two neighbors apart, have shown it
	Summary    string           `json:"summary,omitempty"` // HTML as published
	Content    string           `json:"content,omitempty"` // HTML as published
	Categories []string         `json:"categories,omitempty"`
	Enclosures []feed.Enclosure `json:"enclosures,omitempty"`
	Rights     []string         `json:"rights,omitempty"`     // statements, as published
	CopiedFrom feed.Original    `json:"copied_from,omitzero"` // the feed that it was copied from
	Extras     feed.Extras      `json:"extras,omitzero"`      // which the digest does not count
}

// Entries converts records, in order. It returns an empty list rather than nil, so that JSON says [].
func Entries(records []archive.Record) []Entry {
	out := make([]Entry, len(records))
	for i := range records {
		out[i] = NewEntry(&records[i])
	}
	return out
}

// NewEntry converts a record.
func NewEntry(r *archive.Record) Entry {
	e := &r.Entry
	return Entry{
		ID: r.ID.String(), Seq: r.Seq, Feed: e.Feed, GUID: e.ID, Title: e.Title, Link: e.Link,
		Authors: e.Authors, Published: e.Published, Updated: e.Updated, Seen: r.Seen, Source: r.Source,
		Confirmed: r.Confirmed, Summary: e.Summary, Content: e.Content, Categories: e.Categories,
		Enclosures: e.Enclosures, Rights: e.Rights, CopiedFrom: e.CopiedFrom, Extras: e.Extras,
	}
}

// Record is the inverse of NewEntry. The id and digest follow from the content.
func (e *Entry) Record() archive.Record {
	r := archive.NewRecord(e.entry(), e.Seen, e.Source)
	r.Seq, r.Confirmed = e.Seq, e.Confirmed
	return r
}

func (e *Entry) entry() feed.Entry {
	return feed.Entry{
		Feed: e.Feed, ID: e.GUID, Title: e.Title, Link: e.Link, Authors: e.Authors,
		Published: e.Published, Updated: e.Updated, Summary: e.Summary, Content: e.Content,
		Categories: e.Categories, Enclosures: e.Enclosures, Rights: e.Rights, CopiedFrom: e.CopiedFrom,
		Extras: e.Extras,
	}
}
