package reading

import (
	"time"

	"feedex/feed"
)

// An ItemState is an entry as a person has it to read; the zero ID is for one of a feed that was not followed.
type ItemState struct {
	ID            ItemID
	Read, Starred bool
}

// A Headline is an entry as a list of them shows it. Titles and links may be cut where nobody shows more.
type Headline struct {
	Seq        int64
	ID         feed.EntryID
	Feed       int64 // its number
	URL        feed.URL
	FeedTitle  string // the person's own, where there is one
	FeedIcon   IconRef
	Title      string
	Link       string
	Time, Seen time.Time // as in archive.Record
	Source     string    // the neighbor that brought it, "" for an own poll
	Confirmed  bool
	Lead       string // the beginning of its text, as HTML that may end anywhere
	Item       ItemState
}

// A HeadlineQuery says which entries are listed: of one feed, or of all that are followed or ever were. Unread,
// Starred, Label and Filter are of those that are.
type HeadlineQuery struct {
	Feed    int64    // the number of the feed; 0 for all
	Folder  FolderID // only of feeds in this folder; 0 for all
	Unread  bool     // only what is not read
	Starred bool     // only what is starred
	Label   LabelID  // only what has this label, read or not; 0 for all. Feed, Folder, Unread and Starred are zero then
	Filter  FilterID // only what this filter caught of them, likewise
	// only what came before the entry of this seq or, for Unread, Starred, Label and Filter, before the item of this
	// id; 0 for all
	Before int64
	// only what came after it, in the same numbers, the earliest first; 0 for all
	After int64
	// ByTime lists by when entries were published, and by seq where that is the same, in place of their arrival. Before
	// and After are seqs then, and At is when that entry was published.
	ByTime bool
	At     time.Time
	Secret bool // also of feeds whose URL is a secret
	// Followed lists no entries but of feeds that the person reads, as Unread, Starred and Label do in any case.
	Followed bool
	Limit    int
}
