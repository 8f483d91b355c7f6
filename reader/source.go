package reader

import (
	"context"
	"iter"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// A Source is the archive, as far as it is read here. Its methods may be called by several goroutines
// at once and end early with their context's error.
type Source interface {
	// Feeds returns the feeds that the node follows or followed, in the order they are to be shown.
	Feeds(ctx context.Context) ([]archive.Feed, error)
	// Subscriptions returns the feeds that the owner follows.
	Subscriptions(ctx context.Context) ([]reading.Subscription, error)
	// Channel returns the feed of that URL, the zero Channel if nothing is known of it.
	Channel(ctx context.Context, u feed.URL) (Channel, error)
	// ChannelNumber returns the feed of that number, likewise.
	ChannelNumber(ctx context.Context, number int64) (Channel, error)
	// Newest returns the seqs of the entries of a feed that arrived last, the newest first.
	Newest(ctx context.Context, number int64, limit int) ([]int64, error)
	// Changed returns the seqs of entries of a feed that changed after a version and have a seq up to last, the
	// latest change first.
	Changed(ctx context.Context, number int64, since Version, last int64, limit int) ([]int64, error)
	// Records returns entries in the order of their seqs. What is not there any more is left out. It need not
	// hold them all in memory. An error is the last thing it yields.
	Records(ctx context.Context, seqs []int64) iter.Seq2[archive.Record, error]
	// LastBlock returns the newest archive document of a feed that readers with its own document need. The zero
	// BlockRef is none.
	LastBlock(ctx context.Context, number int64) (BlockRef, error)
	// Block returns an archive document, the zero Page if there is none.
	Block(ctx context.Context, number int64, ref BlockRef) (Block, error)
	// Following returns the feeds that the node follows, without those whose URL is a secret unless these are
	// asked for, and the latest version of any.
	Following(ctx context.Context, secret bool) (Following, error)
	// NewestOfAll returns the seqs of the entries that arrived last in these feeds, the newest first, those above
	// after.
	NewestOfAll(ctx context.Context, secret bool, after int64, limit int) ([]int64, error)
	archive.Searcher
}

// A Channel is a feed that goes out.
type Channel struct {
	Number  int64 // of this feed at this node for ever, from 1
	URL     feed.URL
	Title   string    // as published, "" where unknown
	Link    string    // the site it belongs to, likewise
	Since   time.Time // when the owner subscribed, if they did
	Version Version
}

// A Version tells whether the entries of a feed are still the same. Both numbers only grow.
type Version struct {
	Arrived int64     // the seq of the latest arrival; 0 for none
	Changed int64     // how many changes there were of what had arrived, what was filled in being one
	At      time.Time // when the last of either happened, whole seconds; zero for a feed without entries
}

// Empty reports whether the feed has no entries.
func (v Version) Empty() bool { return v.Arrived == 0 && v.Changed == 0 }

// A BlockRef names an archive document: a block of the feed's entries in the order in which the node came to have them,
// or what was filled in of a block that is not full yet. What arrived of that is in the feed's own document.
type BlockRef struct {
	Block  int64 // from 1, the oldest; 0 for none
	Filled int64 // of a block that is not full, those that were filled in down to the seq -Filled; 0 for a full one
}

// A Page is an archive document. It never comes to have more entries; some may be purged.
type Block struct {
	BlockRef
	Seqs    []int64   // the newest first
	Prev    BlockRef  // what came before
	Next    BlockRef  // what came after, none where readers have that from the feed's own document
	Updated time.Time // when one of them came or was changed last
	Digest  string    // changes when one of the entries does
}

// Following is what the node follows.
type Following struct {
	Titles  map[feed.URL]string
	Version Version // the highest Arrived, the sum of Changed, the latest At
	Digest  string  // of the URLs and titles
}
