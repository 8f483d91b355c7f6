package reader

import (
	"context"

	"feedex/archive"
	"feedex/reading"
)

// A Source is the archive, as far as it is read here. Its methods may be called by several goroutines
// at once and end early with their context's error.
type Source interface {
	// Feeds returns the feeds that the node follows or followed, in the order they are to be shown.
	Feeds(ctx context.Context) ([]archive.Feed, error)
	// Subscriptions returns the feeds that the node follows, as the owner has them.
	Subscriptions(ctx context.Context) ([]reading.FollowedFeed, error)
	archive.Channels
	archive.Searcher
}

// The entries of a block that is not full yet must be in the feed's own document.
const _ = uint(Window - archive.FullBlock)
