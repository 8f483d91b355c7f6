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
	return reader.Channel{Number: c.Number, URL: c.URL, Title: c.Title, Link: c.Link, Since: c.Since, Version: reader.Version(c.Version)}, err
}

// Changed implements reader.Source.
func (s readerSource) Changed(ctx context.Context, number int64, since reader.Version, last int64, limit int) ([]int64, error) {
	return s.Reader.Changed(ctx, number, sqlite.FeedVersion(since), last, limit)
}

// LastPage implements reader.Source. A feed's own document has the latest sqlite.FullPage and more.
func (s readerSource) LastPage(ctx context.Context, number int64) (reader.PageRef, error) {
	ref, err := s.Reader.LastPage(ctx, number)
	return reader.PageRef(ref), err
}

// The entries of a page that is not full yet must be in the feed's own document.
const _ = uint(reader.Window - sqlite.FullPage)

// Page implements reader.Source.
func (s readerSource) Page(ctx context.Context, number int64, ref reader.PageRef) (reader.Page, error) {
	p, err := s.Reader.Page(ctx, number, sqlite.PageRef(ref))
	return reader.Page{
		PageRef: reader.PageRef(p.PageRef), Seqs: p.Seqs, Prev: reader.PageRef(p.Prev), Next: reader.PageRef(p.Next),
		Updated: p.Updated, Digest: p.Digest,
	}, err
}

// Following implements reader.Source.
func (s readerSource) Following(ctx context.Context, secret bool) (reader.Following, error) {
	f, err := s.Reader.Following(ctx, secret)
	return reader.Following{Titles: f.Titles, Version: reader.Version(f.Version), Digest: f.Digest}, err
}
