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

// Channel implements reader.Source.
func (s readerSource) Channel(ctx context.Context, u feed.URL) (reader.Channel, error) {
	return readerChannel(s.Reader.Channel(ctx, u))
}

// ChannelNumber implements reader.Source.
func (s readerSource) ChannelNumber(ctx context.Context, number int64) (reader.Channel, error) {
	return readerChannel(s.Reader.ChannelNumber(ctx, number))
}

func readerChannel(c sqlite.Channel, err error) (reader.Channel, error) {
	return reader.Channel{Number: c.Number, URL: c.URL, Title: c.Title, Link: c.Link, Since: c.Since,
		Version: reader.Version(c.Version)}, err
}

// Changed implements reader.Source.
func (s readerSource) Changed(ctx context.Context, number int64, since reader.Version, last int64,
	limit int) ([]int64, error) {
	return s.Reader.Changed(ctx, number, sqlite.FeedVersion(since), last, limit)
}

// LastBlock implements reader.Source. A feed's own document has the latest sqlite.FullBlock and more.
func (s readerSource) LastBlock(ctx context.Context, number int64) (reader.BlockRef, error) {
	ref, err := s.Reader.LastBlock(ctx, number)
	return reader.BlockRef(ref), err
}

// The entries of a page that is not full yet must be in the feed's own document.
const _ = uint(reader.Window - sqlite.FullBlock)

// Document implements reader.Source.
func (s readerSource) Block(ctx context.Context, number int64, ref reader.BlockRef) (reader.Block, error) {
	p, err := s.Reader.Block(ctx, number, sqlite.BlockRef(ref))
	return reader.Block{
		BlockRef: reader.BlockRef(p.BlockRef), Seqs: p.Seqs, Prev: reader.BlockRef(p.Prev),
		Next:    reader.BlockRef(p.Next),
		Updated: p.Updated, Digest: p.Digest,
	}, err
}

// Following implements reader.Source.
func (s readerSource) Following(ctx context.Context, secret bool) (reader.Following, error) {
	f, err := s.Reader.Following(ctx, secret)
	return reader.Following{Titles: f.Titles, Version: reader.Version(f.Version), Digest: f.Digest}, err
}
