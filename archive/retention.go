package archive

import (
	"context"
	"time"

	"feedex/feed"
)

// FeedLimiter writes what is kept of single feeds.
type FeedLimiter interface {
	// SetLimits changes what is kept of a feed; a nil leaves it as it is, and 0 takes the limit away. It does nothing
	// to a feed that nobody knows. Bytes counts texts, and age has whole seconds.
	SetLimits(u feed.URL, bytes *int64, age *time.Duration, count *int64)
}

// OverLimits tells what goes next, and what went.
type OverLimits interface {
	// OverLimit returns entries that are beyond what is to be kept, in the order in which they are to go. There may be
	// more, and once these are purged others; none are left where it returns none.
	OverLimit(ctx context.Context, now time.Time, keep Retention) ([]feed.EntryID, error)
	// Untidy reports whether the disk lacks room, or a limit on it does not hold, although nothing is left to be
	// purged, because what was purged still takes some: see Housekeeper.Compact.
	Untidy(ctx context.Context, keep Retention) (bool, error)
	// FeedLimits returns the feeds of which not everything is kept, ordered by URL.
	FeedLimits(ctx context.Context) ([]FeedLimits, error)
	// LastPurge returns what was purged last.
	LastPurge(ctx context.Context) (Purge, error)
}

// Limits say how much is kept at most. A zero field is no limit.
type Limits struct {
	Bytes int64         // see where they are used for what is counted
	Age   time.Duration // since an entry arrived or, where it was filled in, since it was published
	Count int64         // entries
}

// A Retention says how much of an archive is kept, beside what is kept of single feeds. Its zero value keeps
// everything.
//
// Entries beyond a limit are purged in the order of Seq: first those that were filled in, which were never news, then
// those that arrived, the oldest first. Entries that somebody starred or labelled never go, nor does the latest entry
// of a feed that the owner follows, by which one knows what is new.
//
// Entries that own polls have shown are held to the limits by themselves: none of them ever goes because of what
// neighbors bring. Entries that these brought and no own poll has shown may have what is left of a limit, and an eighth
// of it in any case: of a limit on the disk an eighth is kept free for them, and of any other it comes on top. Of those
// go first the ones that are nobody's word but one neighbor's.
type Retention struct {
	All Limits // of everything; Bytes counts the room that the archive takes, without what is free in its file
	// Relayed is how many bytes of texts are kept of what neighbors brought, and no own poll has shown, of feeds that
	// the owner never followed, and of what polls for neighbors have shown of such feeds; and of what one of them alone
	// brought of others. Each counts half a kilobyte more.
	Relayed int64
	// Short is how many bytes the disk lacks: some of the same goes for them, whatever its limit.
	Short int64
}

// FeedLimits is the most that is kept of one feed. Bytes counts its texts.
type FeedLimits struct {
	URL feed.URL
	Limits
}

// A Purge is the count of entries that were purged at one time.
type Purge struct {
	At      time.Time `json:"at,omitzero"` // when it began; zero for never
	Entries int64     `json:"entries"`
	Bytes   int64     `json:"bytes"` // of their texts
}

// UnshownShare is the part of a limit that is for what no own poll has shown.
const UnshownShare = 8
