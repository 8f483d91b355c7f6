package archive

import (
	"context"
	"iter"
	"time"

	"feedex/feed"
)

// Channels shows the feeds of an archive to feed readers.
type Channels interface {
	// Channel returns the feed of that URL, or the one that is followed in its place, the zero Channel if nothing is
	// known of it.
	Channel(ctx context.Context, u feed.URL) (Channel, error)
	// ChannelNumber returns the feed of that number, likewise.
	ChannelNumber(ctx context.Context, number int64) (Channel, error)
	// Newest returns the seqs of the entries of a feed that arrived last, the newest first.
	Newest(ctx context.Context, number int64, limit int) ([]int64, error)
	// Changed returns the seqs of entries of a feed that changed after a version and have a seq up to last, the latest
	// change first. Entries that were filled in have not changed thereby.
	Changed(ctx context.Context, number int64, since FeedVersion, last int64, limit int) ([]int64, error)
	// Records returns entries in the order of their seqs, without those that are not there any more. It holds few of
	// them in memory at one time and no snapshot of the archive, so that slow consumers cost nothing. An error is the
	// last thing it yields.
	Records(ctx context.Context, seqs []int64) iter.Seq2[Record, error]
	// LastBlock returns the newest block of a feed that has entries which are not among the latest FullBlock to arrive.
	// The zero BlockRef is none.
	LastBlock(ctx context.Context, number int64) (BlockRef, error)
	// Block returns a block of a feed, the zero Block if there is none. Its Seqs are empty where all was purged.
	Block(ctx context.Context, number int64, ref BlockRef) (Block, error)
	// Following returns what the node follows, without the feeds whose URL is a secret unless these are asked for.
	Following(ctx context.Context, secret bool) (Following, error)
	// NewestOfAll returns the seqs of the entries that arrived last in these feeds, the newest first, those above
	// after.
	NewestOfAll(ctx context.Context, secret bool, after int64, limit int) ([]int64, error)
}

// A Channel is a feed as feed readers see it.
type Channel struct {
	Number   int64 // of this feed in this archive for ever, from 1
	URL      feed.URL
	Title    string    // as published, "" where unknown
	Link     string    // the site it belongs to, likewise
	About    string    // what its publisher says of it, as published
	Language string    // that it is in, a tag of BCP 47, "" where unknown
	Icon     feed.URL  // the picture that its publisher has for it, "" for none
	Followed bool      // the owner subscribes to it
	Since    time.Time // when they did so last, if ever
	Version  FeedVersion
}

// A FeedVersion tells whether the entries of a feed are still the same. Both numbers only grow.
type FeedVersion struct {
	Arrived int64     // the seq of the latest arrival; 0 for none
	Changed int64     // how many changes there were of what had arrived; what is filled in counts as well
	At      time.Time // when the last of either happened, whole seconds; zero for a feed without entries
}

// Empty reports whether the feed has no entries.
func (v FeedVersion) Empty() bool { return v.Arrived == 0 && v.Changed == 0 }

// FullBlock is how many entries a block has that is full.
const FullBlock = 100

// A BlockRef names entries of a feed, in the order in which the node came to have them: those of a block that is full
// or, where it is not full yet, those that were filled in so far. The entries that it names never become more.
type BlockRef struct {
	Block  int64 // from 1, the oldest; 0 for none
	Filled int64 // those of the block that were filled in, down to the seq -Filled; 0 for a full block
}

// A Block is the list of entries that a BlockRef names.
type Block struct {
	BlockRef
	Seqs       []int64   // of the entries that are still there, the newest first
	Prev, Next BlockRef  // the nearest with entries; Next is none where all that follows arrived as news of late
	Updated    time.Time // when one of the entries came or was changed last
	Digest     string    // changes when one of the entries does
}

// Following is the set of feeds that the node follows.
type Following struct {
	Titles  map[feed.URL]string
	Version FeedVersion // the highest Arrived, the sum of Changed, the latest At
	Digest  string      // of the URLs and titles
}
