package reading

import (
	"context"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// A FullText is the text of an item as its page has it. The node keeps it beside the entry, for its people alone: it is
// no part of the entry, and nobody else is offered, sent or told anything of it.
type FullText struct {
	Item    ItemID
	HTML    string    // as the page has it, which package safehtml makes fit to be shown; "" where there is none
	Problem string    // why there is none, in words
	At      time.Time // when the page was asked for, whole seconds
	Shown   bool      // in place of the feed's own text, wherever people read it

	// from when on the page is asked for again, whole seconds; unasked where there is no text, zero for never then
	Again    time.Time
	Troubles int // how often it gave trouble that may pass
}

// The bounds of full texts that are fetched unasked.
const (
	// FullTextWithin is how long ago an item may have arrived, and FullTextNews how long ago its entry may have been
	// published.
	FullTextWithin = 24 * time.Hour
	FullTextNews   = 2 * FullTextWithin
	// FullTextsOfFeed is how many of one feed are fetched within a day, and FullTextsOfAll how many in all.
	FullTextsOfFeed = 50
	FullTextsOfAll  = 500
	// FullTextRest is for how long a page, and the pages of a feed, are left alone at most.
	FullTextRest = 24 * time.Hour
	// FullTextTroubles is how often a page may give trouble before it is not asked for again.
	FullTextTroubles = 3
)

// FullTexts keeps the full texts of items. Who begins or ceases to see one in place of a feed's own text, as a program
// that reads feeds, is told so as of a revision.
type FullTexts interface {
	// KeepFullText keeps what came of asking for the page of an item, in place of what there was; it does nothing where
	// there is no such item.
	KeepFullText(t FullText)
	// ShowFullText says whether a full text is shown, if there is one.
	ShowFullText(at time.Time, id ItemID, shown bool)
	// DeferFullTexts has none of a feed's fetched unasked until then.
	DeferFullTexts(u feed.URL, until time.Time)
}

// A FullTextList reads what FullTexts keeps.
type FullTextList interface {
	// FullTextDue returns the first item whose full text is to be fetched unasked, 0 for none: of a feed of which that
	// is wanted (Arrangement), or on which RuleFull acted, other than the feeds of the items that are named; shown by
	// an own poll, not filled in, within the bounds, and not asked for yet; behind those, one whose page gave trouble
	// and is to be asked for again. What is put off for longer than twice FullTextRest was so by a clock that was
	// ahead: it is time. What was asked for at a time to come counts for no day.
	FullTextDue(ctx context.Context, now time.Time, but []ItemID) (ItemID, error)
	// FullText returns that of an item, the zero FullText where none was asked for.
	FullText(ctx context.Context, id ItemID) (FullText, error)
	// FullTexts returns the HTML of those that are shown, by the seqs of their entries.
	FullTexts(ctx context.Context, seqs []int64) (map[int64]string, error)
	// ItemRecord returns the entry of an item as its feed has it, with the number of its feed: 0 if it is not there.
	ItemRecord(ctx context.Context, id ItemID) (archive.Record, int64, error)
}
