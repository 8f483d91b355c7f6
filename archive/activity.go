package archive

import (
	"context"
	"time"

	"feedex/feed"
	"feedex/grade"
)

// Activity shows what became of feeds, and what the node did.
type Activity interface {
	// Hours returns the hours since then in which anything was done, in order: what Keep, MarkPolled, KeepRequests and
	// KeepSpared noted.
	Hours(ctx context.Context, since time.Time) ([]Hour, error)
	// CountedSince is when anything was first counted; zero for never. It is the beginning of the first hour of which
	// there are numbers or, where the first feed was followed later than that, the time when it was.
	CountedSince(ctx context.Context) (time.Time, error)
	// Appearances returns how the latest n entries of the feed came, as far as they did since then, the latest first.
	Appearances(ctx context.Context, number int64, since time.Time, n int) ([]Appearance, error)
	// BroughtSince counts those of the latest n entries of the feed that neighbors brought since then.
	BroughtSince(ctx context.Context, number int64, since time.Time, n int) (int, error)
	// Requests returns the latest n requests at most, in the order in which they were kept.
	Requests(ctx context.Context, n int) ([]grade.Request, error)
	// RequestsFor returns the requests for the feed since then, n of the latest at most, in order. Name is the feed's
	// URL as the log has it.
	RequestsFor(ctx context.Context, name string, since time.Time, n int) ([]grade.Request, error)
	// Host returns how many requests a host takes, the zero KnownHost for one that nothing is kept of.
	Host(ctx context.Context, name string) (KnownHost, error)
}

// An Appearance is when and how an entry came.
type Appearance struct {
	ID     feed.EntryID
	Title  string
	Lead   string // the beginning of its text where it has no title, as HTML that may end anywhere
	Seen   time.Time
	Source string    // the neighbor that brought it, "" for an own poll
	Polled time.Time // when an own poll first listed what a neighbor had brought; zero where none did, or nobody knows
}

// An Hour is the count of the node's work within one hour, or within several that were added up.
type Hour struct {
	At       time.Time     // its beginning
	Polled   int64         // entries that own polls brought first, but for the first poll of each feed
	Brought  int64         // entries that neighbors brought first
	Compared int64         // entries that neighbors had brought, now or before, and that an own poll then listed
	Ahead    time.Duration // by how much neighbors were earlier than that poll, for all of these together

	Requests  int64 // own ones to publishers, but for the first poll of each feed
	Unchanged int64 // of these, answered "not modified"
	Failed    int64 // of these, refused or not answered
	Bytes     int64 // of the bodies of all answers, as they were sent

	Spared float64 // polls that there would have been besides, had neighbors brought nothing
}

// Add is both hours together, beginning with h.
func (h Hour) Add(other Hour) Hour {
	h.Polled, h.Brought = h.Polled+other.Polled, h.Brought+other.Brought
	h.Compared, h.Ahead = h.Compared+other.Compared, h.Ahead+other.Ahead
	h.Requests, h.Unchanged, h.Failed, h.Bytes = h.Requests+other.Requests, h.Unchanged+other.Unchanged,
		h.Failed+other.Failed, h.Bytes+other.Bytes
	h.Spared += other.Spared
	return h
}
