package archive

import (
	"context"
	"iter"
	"time"

	"feedex/feed"
)

// Contents tells what an archive holds.
type Contents interface {
	// Feeds returns the feeds that the node follows or followed, ordered by URL.
	Feeds(ctx context.Context) ([]Feed, error)
	// Feed returns what is known of one feed, the zero Feed if that is nothing.
	Feed(ctx context.Context, u feed.URL) (Feed, error)
	// NumberedFeed returns what is known of the feed with that number, the zero Feed if there is none.
	NumberedFeed(ctx context.Context, number int64) (Feed, error)
	// FeedNames returns the names of the feeds that anything is kept of, the owner's own where there is one, in any
	// order.
	FeedNames(ctx context.Context) ([]FeedName, error)
	// CountEntries counts the entries of the feed that are kept, max at most.
	CountEntries(ctx context.Context, number int64, max int) (int, error)
	// Stats counts what the archive holds.
	Stats(ctx context.Context) (Stats, error)
	// FeedStats counts what the archive holds of each feed that is followed, has entries or is to be kept in its own
	// way, ordered by URL. It goes through all entries and holds no snapshot meanwhile.
	FeedStats(ctx context.Context) ([]FeedStats, error)
	// Export returns all entries, or those of one feed where u is not "", newest arrival first. It holds few of them in
	// memory at one time and no snapshot of the archive; entries that arrive meanwhile are not among them. An error is
	// the last thing it yields.
	Export(ctx context.Context, u feed.URL) iter.Seq2[Exported, error]
}

// A FeedName is the name of a feed, and the number that it has in this archive for good.
type FeedName struct {
	Number int64
	URL    feed.URL
	Title  string
	// Polled is how many entries own polls brought first while it was followed, but for its first poll, and Brought how
	// many neighbors did.
	Polled, Brought int64
	FullText        bool // full texts of what it publishes are fetched
}

// Stats are the totals of an archive.
type Stats struct {
	Entries   int64 `json:"entries"`
	Feeds     int64 `json:"feeds"`     // as FeedStats lists them
	Unindexed int64 `json:"unindexed"` // entries that the full-text index has yet to see
	Bytes     int64 `json:"bytes"`     // on the disk
	Free      int64 `json:"free"`      // of these that hold nothing; Reclaim or Vacuum gives them back
	InSteps   bool  `json:"in_steps"`  // Reclaim can do so, without stopping the node
}

// A FeedStats counts what an archive holds of one feed.
type FeedStats struct {
	URL         feed.URL  `json:"url"`
	Title       string    `json:"title,omitempty"`
	Format      string    `json:"format,omitempty"` // see Feed
	Subscribed  bool      `json:"subscribed"`
	Entries     int64     `json:"entries"`
	Bytes       int64     `json:"bytes"`       // of their texts
	Unconfirmed int64     `json:"unconfirmed"` // of which there is one neighbor's or an export's word
	Filled      int64     `json:"filled"`      // that were filled in from elsewhere
	Hidden      int64     `json:"hidden"`      // not served to others
	Oldest      time.Time `json:"oldest,omitzero"`
	Newest      time.Time `json:"newest,omitzero"`

	// The limits on what is kept of it; 0 is no limit of its own.
	KeepBytes int64 `json:"keep_bytes,omitempty"` // of texts
	KeepAge   int64 `json:"keep_age,omitempty"`   // seconds
	KeepCount int64 `json:"keep_count,omitempty"` // entries

	// Apart says that these are the entries of a feed that is followed discreetly as others know them.
	Apart bool `json:"apart,omitempty"`
}

// An Exported is a record, and whether its archive keeps it to itself.
type Exported struct {
	Record
	Hidden bool
}
