package daemon

import (
	"context"

	"feedex/archive/sqlite"
	"feedex/feed"
	"feedex/reader"
)

// readerSource shows the archive to feed readers. It reads beside the loop, so readers are served also
// while nothing can be stored.
type readerSource struct{ *sqlite.Reader }

// FeedVersion implements reader.Source.
func (s readerSource) FeedVersion(ctx context.Context, u feed.URL) (reader.Version, error) {
	v, err := s.Reader.FeedVersion(ctx, u)
	return reader.Version(v), err
}
