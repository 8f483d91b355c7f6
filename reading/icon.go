package reading

import (
	"context"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// An IconID names a picture: from 1, never used again.
type IconID int64

// An IconRef leads to the picture of a feed; the zero IconRef is none.
type IconRef struct {
	ID   IconID
	Word string // by which who knows it may see the picture
}

// IconPath is where pictures of feeds are served.
const IconPath = "/icons/"

// Path is where the picture is served, "" for none.
func (r IconRef) Path() string {
	if r.ID == 0 {
		return ""
	}
	return IconPath + r.Word
}

// A FeedLook is how a feed is shown.
type FeedLook struct {
	Icon IconRef
	// Pictures says that the person wants the pictures of its entries shown, without being asked each time.
	Pictures bool
	// FullText says that the full text of what it publishes is fetched.
	FullText bool
}

// Looks reads how feeds are shown to a person.
type Looks interface {
	// FeedLook returns how the feed with that number is shown.
	FeedLook(ctx context.Context, number int64) (FeedLook, error)
}

// An Icon is the picture of one feed or of several.
type Icon struct {
	IconRef
	Content []byte // of one of the types of package picture
}

// IconHolds is for how long a picture holds, and that there is none: it is looked for again then at the latest.
const IconHolds = 30 * 24 * time.Hour

// MaxIconBytes is how large a picture of a feed may be.
const MaxIconBytes = 128 << 10

// Icons keeps the pictures of feeds.
type Icons interface {
	// KeepIcon gives a feed that picture in place of what it had, no content being none, and says when to look for it
	// again. Equal pictures are one.
	KeepIcon(u feed.URL, content []byte, next time.Time)
	// DeferIcon leaves the picture of a feed as it is, and says when to look for it again.
	DeferIcon(u feed.URL, next time.Time)
}

// An IconList reads what Icons keeps.
type IconList interface {
	// IconDue returns a feed whose picture is to be looked for, the zero Feed where there is none: of those that are
	// followed and were read, one for which it is time. What is put off for longer than twice IconHolds was so by a
	// clock that was ahead: it is time.
	IconDue(ctx context.Context, now time.Time) (archive.Feed, error)
	// Icon returns a picture by its number, and IconAt by its word; the zero Icon where there is none.
	Icon(ctx context.Context, id IconID) (Icon, error)
	IconAt(ctx context.Context, word string) (Icon, error)
}
