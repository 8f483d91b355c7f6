package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"feedex/archive"
	"feedex/backfill"
	"feedex/control"
	"feedex/feed"
	"feedex/internal/sleep"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
)

// FetchArchive implements control.Owner. The publisher is asked like for a poll, one request to a host at a time.
// Entries of the document are filled in, as of the publisher and not as news.
func (h *host) FetchArchive(ctx context.Context, u, page feed.URL) (control.ArchiveDocument, error) {
	p, err := h.fetchArchive(ctx, u, page)
	if err == nil {
		err = h.noteRead(ctx, u, page, p)
	}
	return p, err
}

// fetchArchive is FetchArchive without a note of it.
func (h *host) fetchArchive(ctx context.Context, u, page feed.URL) (control.ArchiveDocument, error) {
	got, err := h.fetchForOwner(ctx, node.Fetch{Feed: u, Page: page})
	if err != nil {
		return control.ArchiveDocument{}, err
	}
	p, records := archiveDocumentOf(&got)
	stored, shown, err := h.fillArchive(ctx, &got, records)
	p.Stored = len(stored)
	if len(stored) > 0 || len(shown) > 0 {
		err = errors.Join(err, h.command(ctx, node.Recovered{Feed: u, Records: stored, Shown: shown}))
	}
	return p, err
}

// noteRead notes that a document of a feed was read for the owner.
func (h *host) noteRead(ctx context.Context, u, at feed.URL, page control.ArchiveDocument) error {
	f, err := h.feed(ctx, u)
	if err != nil || f == nil || f.Past == nil {
		return err
	}
	past := *f.Past
	if !backfill.Read(&past, u, at, page) {
		return nil
	}
	return h.command(ctx, node.Backfilled{Feed: u, From: *f.Past, Past: past})
}

// fillPast has the node fill in by itself what others have of its feeds, as far as its owner lets it ask them.
func (h *host) fillPast(ctx context.Context) {
	backfill.NewWorker(unasked{h}, backfill.Config{
		Network: h.config.Node.QueryNetwork, Pasts: h.config.Node.Backfill > 0, Every: h.config.pastPause,
		Keep: func(ctx context.Context, ev node.Backfilled) error { return h.command(ctx, ev) }, Log: h.config.Log,
	}).Run(ctx)
}

// fetchForOwner fetches a document when it is its publisher's turn, has the node heed what the answer says about the
// next one, and logs its requests.
func (h *host) fetchForOwner(ctx context.Context, f node.Fetch) (node.Fetched, error) {
	at := cmp.Or(f.Page, f.Feed)
	if err := h.awaitHost(ctx, at); err != nil {
		return node.Fetched{}, err
	}
	got := h.fetcher.Fetch(ctx, f)
	leavePlace(h.fetching)
	if got.Status != 0 {
		if err := h.command(context.WithoutCancel(ctx), node.OwnerFetched{At: at, Answer: got}); err != nil {
			return node.Fetched{}, err
		}
	}
	return got, h.durably(ctx, func(d reading.Database) error { d.KeepRequests(got.Requests); return nil })
}

// awaitHost waits until the host of u may be asked, and takes a place in which to do so, which the caller leaves.
func (h *host) awaitHost(ctx context.Context, u feed.URL) error {
	wait, err := look(ctx, h.loop, func(n *node.Node) (time.Duration, error) {
		now := h.clock.now(time.Now())
		if n == nil {
			return 0, h.storage.rests()
		}
		at, ok := n.ReserveRequest(now, u)
		if !ok {
			return 0, restingHost{u.Host(), at}
		}
		return at.Sub(now), nil
	})
	if err == nil {
		err = sleep.For(ctx, wait)
	}
	if err == nil && !enter(ctx, h.fetching) {
		err = context.Cause(ctx)
	}
	return err
}

// A restingHost is the error about a host that is not asked, since it wants to be left alone: a backfill.ErrLater.
type restingHost struct {
	name  string
	until time.Time
}

func (r restingHost) Error() string {
	return r.name + " wants to be left alone until " + r.until.Local().Format("2006-01-02 15:04")
}

func (r restingHost) Unwrap() error { return backfill.ErrLater }

// errOffline says that no publisher can be reached now.
var errOffline = fmt.Errorf("%w: no publisher can be reached", backfill.ErrLater)

// online is errOffline while our own network seems to be down: nobody is asked for what nobody waits for then, and
// nothing is given up.
func (h *host) online(ctx context.Context) error {
	since, err := glance(ctx, h.loop, (*node.Node).Offline)
	if err == nil && !since.IsZero() {
		err = errOffline
	}
	return err
}

// archiveDocumentOf returns what a document holds, if there is one, and its records.
func archiveDocumentOf(got *node.Fetched) (p control.ArchiveDocument, records []archive.Record) {
	now, doc := time.Now(), got.Document
	if got.Err != nil || doc == nil {
		return p, nil
	}
	p = control.ArchiveDocument{Listed: len(doc.Entries), PrevArchive: doc.PrevArchive}
	records = make([]archive.Record, len(doc.Entries))
	for i, e := range doc.Entries {
		records[i] = archive.NewRecord(e, now, protocol.NodeID{})
		p.Bytes += archive.TextBytes(&e)
		t := records[i].Time()
		if p.Newest.IsZero() || t.After(p.Newest) {
			p.Newest = t
		}
		if p.Oldest.IsZero() || t.Before(p.Oldest) {
			p.Oldest = t
		}
	}
	return p, records
}

// fillArchive stores what a document holds, to be served to nobody else where the feed is followed discreetly, and
// returns the records that were not there, and the shares of neighbors that had brought others of them. The loop turns
// to other things between two parts of it.
func (h *host) fillArchive(ctx context.Context, got *node.Fetched, records []archive.Record) (added []archive.Record,
	shown []archive.Share, err error) {
	switch {
	case got.Err != nil:
		return nil, nil, got.Err
	case got.Document == nil:
		return nil, nil, errors.New("the publisher sent no document")
	}
	for part := range portions(records, recordWeight) {
		var right []archive.Share
		stored, err := chore(ctx, h.loop, func() (stored []archive.Record, err error) {
			now := time.Now()
			right = h.setRight(now, part)
			hide := got.Private || got.Secret || got.Local || got.Document.Private
			var hidden []feed.EntryID
			for i, isNew := range h.store.Fill(now, part) {
				if isNew {
					stored, hidden = append(stored, part[i]), append(hidden, part[i].ID)
				}
			}
			if hide {
				h.store.Hide(hidden)
			}
			return stored, h.commit()
		})
		if err != nil {
			return added, shown, err
		}
		added, shown = append(added, stored...), append(shown, right...)
	}
	return added, shown, nil
}

// setRight puts the publisher's versions into the place of what others brought of the entries, or notes that it is the
// same. A version that an own poll has shown may be newer, and stays. setRight returns the shares of neighbors that had
// brought the same versions.
func (h *host) setRight(now time.Time, records []archive.Record) []archive.Share {
	var other []archive.Record
	var same []feed.EntryID
	for i, v := range h.store.Known(archive.IDsOf(records)) {
		switch r := &records[i]; {
		case !v.Kept() || v.Polled:
		case v.Digest == r.Digest:
			same = append(same, r.ID)
		default:
			other = append(other, *r)
		}
	}
	h.store.Keep(other)
	return h.store.MarkPolled(now, same)
}

// prefetch fetches what is at u, which nobody follows. Where that is a feed, it stands for its first poll.
func (h *host) prefetch(ctx context.Context, u feed.URL) (got node.Fetched, err error) {
	f := node.Fetch{Feed: u}
	f.New, err = glance(ctx, h.loop, func(n *node.Node) bool { return n.New(u) })
	if err != nil {
		return got, err
	}
	got, err = h.fetchForOwner(ctx, f)
	if err != nil || got.Document == nil {
		return got, err
	}
	again, doc := got, *got.Document
	doc.Entries = slices.Clone(doc.Entries)    // the caller reads the others
	again.Document, again.Requests = &doc, nil // the requests are in the log
	h.prefetched.put(prefetchedFeed{f.New, again, time.Now()})
	return got, nil
}

const (
	// prefetchedFor is how long a document that was looked at stands for the first poll of its feed.
	prefetchedFor = 5 * time.Minute
	// maxPrefetched is of how many feeds one is kept.
	maxPrefetched = 16
)

// prefetched are documents of feeds that were fetched before these were followed, so that their first poll need not
// fetch them again. The zero value is ready.
type prefetched struct {
	mu  sync.Mutex
	all map[feed.URL]prefetchedFeed
}

type prefetchedFeed struct {
	new bool // as in Fetch
	got node.Fetched
	at  time.Time
}

// put keeps what came of looking at a feed.
func (l *prefetched) put(f prefetchedFeed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for u, x := range l.all {
		if f.at.Sub(x.at) >= prefetchedFor {
			delete(l.all, u)
		}
	}
	if l.all == nil {
		l.all = make(map[feed.URL]prefetchedFeed)
	}
	if len(l.all) < maxPrefetched {
		l.all[f.got.Feed] = f
	}
}

// take returns the result of looking at a feed, if f is its first poll and that was a moment ago.
func (l *prefetched) take(f node.Fetch, now time.Time) (node.Fetched, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, ok := l.all[f.Feed]
	delete(l.all, f.Feed)
	first := f.At() == f.Feed && f.ETag == "" && f.LastModified == "" && f.Body == (feed.Digest{})
	return x.got, ok && first && f.New == x.new && now.Sub(x.at) < prefetchedFor
}
