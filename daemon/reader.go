package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/discover"
	"feedex/feed"
	"feedex/internal/when"
	"feedex/node"
	"feedex/reader/fever"
	"feedex/reader/greader"
	"feedex/reader/miniflux"
	"feedex/reader/nextcloud"
	"feedex/reading"
	"feedex/syncapi"
)

// A library has the entries that the programs of a person read, and takes the marks that they set. It reads beside the
// loop and writes by it.
type library struct {
	reading.Shelf
	host   *host
	person reading.PersonID
	by     string // name of the password of a program, which is to be known for what it unfollows; "" for none
}

var _ reading.Library = (*library)(nil)

// An entrance lets programs in to the library of the person whose password they show.
type entrance struct{ host *host }

var _ reading.Entrance = entrance{}

// An ownersArchive is the archive as the owner has it.
type ownersArchive struct {
	reading.View
	reading.Shelf
}

// libraryOf is the library of a person.
func (h *host) libraryOf(p reading.PersonID) *library { return h.libraryBy(p, "") }

// libraryBy is the same for a program that came in by a password.
func (h *host) libraryBy(p reading.PersonID, by string) *library {
	return &library{h.store.Shelf(p), h, p, by}
}

const (
	// markStep is how many items are marked together: some milliseconds, in which the loop does nothing else.
	markStep = 500
	// leaveStep is how many feeds are taken in together, likewise.
	leaveStep = 100
	// writeTime is how long a program of the owner waits for the loop at most.
	writeTime = 30 * time.Second
)

// write is durably for a program of somebody.
func (h *host) write(ctx context.Context, f func(reading.Database) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return h.durably(ctx, f)
}

// write has f write for the person. The error wraps reading.ErrNobody where they are there no more.
func (l *library) write(ctx context.Context, f func(reading.Pen) error) error {
	defer l.host.written(l.person).Add(1)
	return l.host.write(ctx, func(d reading.Database) error {
		pen := d.Pen(l.person)
		if pen == nil {
			return reading.ErrNobody
		}
		return f(pen)
	})
}

// written counts what was written for a person.
func (h *host) written(p reading.PersonID) *atomic.Uint64 {
	n, _ := h.writes.LoadOrStore(p, new(atomic.Uint64))
	return n.(*atomic.Uint64)
}

// Visitor implements reading.Entrance. Readers ask without a password first, which is no guess.
func (e entrance) Visitor(ctx context.Context, password string) (reading.Visitor, error) {
	if password == "" {
		return reading.Visitor{}, nil
	}
	return e.enter(ctx, reading.HashOf(password), false)
}

// FeverVisitor implements reading.Entrance.
func (e entrance) FeverVisitor(ctx context.Context, key string) (reading.Visitor, error) {
	if key == "" {
		return reading.Visitor{}, nil
	}
	return e.enter(ctx, reading.FeverHash(key), true)
}

func (e entrance) enter(ctx context.Context, h reading.Hash, fever bool) (reading.Visitor, error) {
	p, err := e.host.callers.look(callerAddr(ctx), h,
		func() (reading.Password, error) { return e.host.store.Password(ctx, h, fever) })
	if err != nil || p.Name == "" {
		return reading.Visitor{}, err
	}
	if now := time.Now(); when.Due(now, p.Used.Add(time.Hour), time.Hour) {
		// A reader whose visit cannot be written down may read all the same.
		_ = e.host.write(ctx, func(d reading.Database) error { d.UsePassword(p.Name, now); return nil })
	}
	return reading.Visitor{Name: p.Name, Person: p.Person, Library: e.host.libraryBy(p.Person, p.Name)}, nil
}

// Mark implements reading.Editor.
func (l *library) Mark(ctx context.Context, ids []reading.ItemID, m reading.Mark) error {
	for part := range slices.Chunk(ids, markStep) {
		err := l.write(ctx, func(p reading.Pen) error { p.Mark(time.Now(), part, m); return nil })
		if err != nil {
			return err
		}
	}
	return nil
}

// MarkStream implements reading.Editor.
func (l *library) MarkStream(ctx context.Context, s reading.Stream, m reading.Mark) error {
	return inSteps(ctx, l.write, func(p reading.Pen) bool { return p.MarkStream(time.Now(), s, m, markStep) })
}

// Subscriptions implements reading.Items.
func (l *library) Subscriptions(ctx context.Context) ([]reading.FollowedFeed, error) {
	list, err := l.Shelf.Subscriptions(ctx)
	for i := range list {
		list[i].Error = l.toldOf(list[i].Error)
	}
	return list, err
}

// Refresh implements reading.Editor.
func (l *library) Refresh(ctx context.Context, ids ...reading.FeedID) (r reading.RefreshResult, err error) {
	list, err := l.Subscriptions(ctx)
	if err != nil {
		return r, err
	}
	var feeds []feed.URL
	for i := range list {
		if slices.Contains(ids, list[i].ID) {
			feeds = append(feeds, list[i].URL)
		}
	}
	if len(feeds) == 0 { // which is all to the host
		return r, nil
	}
	left := func(feed.URL) error { return nil } // since a moment ago, which is no reason not to poll the others
	said, err := l.host.refresh(ctx, feeds, left)
	for _, f := range said {
		switch {
		case f.Ended:
			r.Ended++
		case f.NotBefore.IsZero():
			r.Polled++
		default:
			if r.Later++; r.Later == 1 || f.NotBefore.Before(r.From) {
				r.From = f.NotBefore
			}
		}
	}
	l.host.changes.Add(1)
	return r, err
}

// takeIn has the person read feeds again that they left out, and of what came so much as news.
func (l *library) takeIn(ctx context.Context, unread archive.Backlog, ids ...reading.FeedID) error {
	for part := range slices.Chunk(ids, leaveStep) {
		if err := l.write(ctx, func(p reading.Pen) error {
			for _, id := range part {
				p.TakeIn(id, unread)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// Arrange implements reading.Editor.
func (l *library) Arrange(ctx context.Context, list ...reading.Arrangement) error {
	list, err := reading.Checked(list)
	if err != nil {
		return control.BadRequest{Err: err}
	}
	return l.write(ctx, func(p reading.Pen) error {
		for i := range list {
			for _, name := range list[i].Into {
				if err := p.FolderTaken(name); err != nil {
					return control.BadRequest{Err: err}
				}
			}
		}
		if !p.Arrange(list) {
			return control.BadRequest{Err: reading.ErrFolders}
		}
		return nil
	})
}

// AddFolder implements reading.Editor.
func (l *library) AddFolder(ctx context.Context, raw string) (id reading.FolderID, err error) {
	name, err := reading.FolderName(raw)
	if err != nil {
		return 0, err
	}
	err = l.write(ctx, func(p reading.Pen) error {
		var ok bool
		if err := p.FolderTaken(name); err != nil {
			return err
		}
		if id, ok = p.AddFolder(name); !ok {
			return reading.ErrFolders
		}
		return nil
	})
	return id, err
}

// RenameFolder implements reading.Editor.
func (l *library) RenameFolder(ctx context.Context, id reading.FolderID, raw string) error {
	name, err := reading.FolderName(raw)
	if err != nil {
		return err
	}
	return l.write(ctx, func(p reading.Pen) error {
		if err := p.FolderTaken(name); err != nil {
			return err
		}
		p.RenameFolder(id, name)
		return nil
	})
}

// RemoveFolder implements reading.Editor.
func (l *library) RemoveFolder(ctx context.Context, id reading.FolderID) error {
	return l.write(ctx, func(p reading.Pen) error { p.RemoveFolder(id); return nil })
}

// syncAPIs are the APIs by which people's readers keep what is read at the node, by the beginnings of their paths.
func (h *host) syncAPIs() map[string]http.Handler {
	apis := make(map[string]http.Handler)
	mount := func(api http.Handler, paths []string) {
		for _, path := range paths {
			apis[path] = api
		}
	}
	c := syncapi.Config{Entrance: entrance{h}, Version: Version, Log: h.config.Log}
	mount(greader.New(c), greader.Paths())
	mount(fever.New(c), fever.Paths())
	mount(miniflux.New(c), miniflux.Paths())
	mount(nextcloud.New(c), nextcloud.Paths())
	return apis
}

// How long a program of the owner waits for a first poll, and for one of a feed that was chosen for it: they give up
// after half a minute.
const (
	readerWait = 15 * time.Second
	choiceWait = 5 * time.Second
)

// Subscribe implements reading.Editor.
func (l *library) Subscribe(ctx context.Context, tries ...feed.URL) (reading.FeedID, error) {
	s, err := l.host.FollowAddress(ctx, control.FollowAddress{Subscribe: node.Subscribe{Feeds: tries},
		Wait: readerWait, Keep: true})
	if err == nil && len(s.Choices) > 0 {
		// A program cannot ask which, and publishers name the one first that they mean. The choice also decides what
		// becomes of the page.
		chosen := node.Subscribe{Feeds: []feed.URL{s.Choices[0].URL}}
		s, err = l.host.FollowAddress(ctx, control.FollowAddress{Subscribe: chosen, Wait: choiceWait})
	}
	if err != nil {
		return 0, err
	}
	if s.Feed == "" {
		return 0, fmt.Errorf("%w: %s", reading.ErrNoFeed, l.toldOf(s.Problem))
	}
	id, err := l.FeedID(ctx, s.Feed)
	if err != nil {
		return 0, err
	}
	return id, l.takeIn(ctx, archive.UsualBacklog, id)
}

// Discover implements reading.Editor. Addresses that are followed are not asked for.
func (l *library) Discover(ctx context.Context, u feed.URL) ([]discover.SiteFeed, error) {
	u, err := published(ctx, l.host, u, l.host.at.Reader, l.host.config.ReaderHosts)
	if errors.Is(err, errMadeHere) {
		return nil, fmt.Errorf("%w: %w", reading.ErrNoFeed, err)
	} else if err != nil {
		return nil, err
	}
	followed, err := l.host.feed(ctx, u)
	if err != nil {
		return nil, err
	}
	if followed != nil && !followed.WebPage {
		return []discover.SiteFeed{{URL: u, Title: followed.Title}}, nil
	}
	got, err := l.host.prefetch(ctx, u)
	switch {
	case err != nil:
		return nil, err
	case got.Document != nil:
		return []discover.SiteFeed{{URL: u, Title: got.Document.Title}}, nil
	}
	switch named := discover.Read(got.Names); {
	case len(named) > 0:
		return discover.LendAll(u, named), nil
	case got.Names != "", errors.Is(got.Err, feed.ErrFormat):
		return nil, fmt.Errorf("%w: %w", reading.ErrNoFeed, got.Err)
	}
	return nil, fmt.Errorf("%w: %w", reading.ErrUnread, l.told(got.Err))
}
