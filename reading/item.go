package reading

import (
	"time"

	"feedex/feed"
)

// An ItemID names one item, over all feeds: from 1, below 1<<31, in the order in which items arrived, never used again.
// (Some readers hold it in 32 bits, and take the highest they have seen for the latest.)
type ItemID int64

// A FeedID names a feed: from 1, never used again.
type FeedID int64

// An Item is an entry that arrived for people: one of a feed that the node follows. It stays the same item when the
// publisher edits the entry.
type Item struct {
	ID      ItemID
	Feed    FeedID
	Arrived time.Time // when it came here, whole seconds; for an entry that was filled in, when that happened
	// Listed says that it came as news. Entries that were filled in, and most of those that were there before the
	// feed was followed, did not: they are outside of the reading list, until the person marks them unread.
	Listed  bool
	Read    bool
	Starred bool
	Changed time.Time // when it came here or, later, was last marked; whole seconds

	Filters []FilterID   // those of the person that caught it
	Site    string       // the page of its feed, "" for none
	EntryID feed.EntryID // by which programs know it: the first that it had (archive.Record.Was)
	// Entry is as safehtml.Entry leaves it: all but its HTML, which is as published, is fit to be shown. Its Content is
	// the full text where one is shown.
	Entry     feed.Entry
	Time      time.Time // when it was published, as far as it is known and can be believed; never zero
	Confirmed bool      // see archive.Record
}

// A Choice is yes, no, or neither of them.
type Choice int8

// The zero Choice asks for nothing and changes nothing.
const (
	Either Choice = 0
	Yes    Choice = 1
	No     Choice = -1
)

// A Mark is a change to items. To mark one unread lists it.
type Mark struct{ Read, Starred Choice }

// A Stream is some of the items of the feeds that a person reads. The zero Stream is the reading list: all that are
// listed.
type Stream struct {
	Feed     FeedID   // of this feed alone, where not zero
	Folder   FolderID // of the feeds in this folder, where not zero
	Filter   FilterID // that this filter caught, where not zero
	Label    LabelID  // that have this label, where not zero
	Read     Choice
	Starred  Choice // Yes takes also what is not listed
	Since    time.Time
	Until    time.Time // these arrived at Since or later, and before Until; zero for no bound
	Unlisted bool      // also those that are not listed
	Among    []ItemID  // these alone, where not nil
	// NoSecrets leaves out those of feeds whose URL is a secret.
	NoSecrets bool
	// Changed leaves, where it is not zero, those that arrived and are listed, or were marked, then or later.
	Changed time.Time
}

// A Page is a part of a stream.
type Page struct {
	// After is the item behind which the page begins: the last of the page before, 0 for the first page. It need not
	// exist, nor be in the stream.
	After ItemID
	// Before is the item in front of which the page ends at the latest, 0 for none. It need not exist either.
	Before ItemID
	// Oldest has the stream go from the oldest item to the newest, instead of from the newest.
	Oldest bool
	// Limit is how many items the page has at most, MaxPage where it is greater.
	Limit int
}

// MaxPage is how many items a Page has at most. One reader asks for 200,000 at a time.
const MaxPage = 1 << 18
