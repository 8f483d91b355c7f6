// Package readertest is for the tests of what shows a reading.Library to programs of the owner: a small library on
// disk, and conversations with such programs that are kept in files.
package readertest

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/discover"
	"feedex/feed"
	"feedex/opml"
	"feedex/protocol"
	"feedex/reading"
)

// Name and Secret are the user name and the password that a Library lets in.
const (
	Name   = "phone"
	Secret = "00112233445566778899aabbccddeeff"
)

// A Library is a reading.Library over an archive of its own. Its changes are in the archive at once.
type Library struct {
	reading.Shelf
	Refreshed []reading.FeedID // what is to be polled now
	From      time.Time        // when it may be instead, zero for now
	store     reading.Database
	person    reading.PersonID
	mu        *sync.Mutex // held while the store is written to
}

var (
	_ reading.Library  = (*Library)(nil)
	_ reading.Entrance = (*Library)(nil)
)

// New opens an empty library, the owner's, which lets in Name, until the test ends.
func New(t testing.TB) *Library {
	t.Helper()
	store := ondisk.MustOpen(t, filepath.Join(t.TempDir(), "feedex.db"))
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	l := (&Library{store: store, mu: new(sync.Mutex)}).of(reading.Owner)
	l.admit(t, Name, Secret)
	return l
}

// Person adds a person, whose library the same archive is for who shows a password.
func (l *Library) Person(t testing.TB, name, secret string) *Library {
	t.Helper()
	var id reading.PersonID
	var err error
	l.must(t, func(s reading.Database) { id, err = s.AddPerson(Noon, name) })
	if err != nil {
		t.Fatal(err)
	}
	other := l.of(id)
	other.admit(t, name, secret)
	return other
}

// admit makes a password of the library's person.
func (l *Library) admit(t testing.TB, name, secret string) {
	t.Helper()
	var err error
	l.must(t, func(s reading.Database) {
		err = s.KeepPassword(reading.NewPassword(name, secret, l.person, reading.ReaderScope, Noon))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// of is the library for a person.
func (l *Library) of(p reading.PersonID) *Library {
	if p == l.person {
		return l
	}
	return &Library{Shelf: l.store.Shelf(p), store: l.store, person: p, mu: l.mu}
}

func (l *Library) write(f func(reading.Database)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l.store)
	return l.store.Commit()
}

func (l *Library) must(t testing.TB, f func(reading.Database)) {
	t.Helper()
	if err := l.write(f); err != nil {
		t.Fatal(err)
	}
}

// Follow follows a feed that a poll has read.
func (l *Library) Follow(t testing.TB, f archive.Feed) {
	t.Helper()
	f.Subscribed, f.LastSuccess = true, f.Since
	l.must(t, func(s reading.Database) { s.KeepFeed(f) })
}

// Icon is a picture.
const Icon = "GIF89a\x01\x00\x01\x00"

// Picture has the node keep Icon as the picture of a feed, and returns where that is.
func (l *Library) Picture(t testing.TB, u feed.URL) reading.IconRef {
	t.Helper()
	l.must(t, func(s reading.Database) { s.KeepIcon(u, []byte(Icon), Noon) })
	id, err := l.FeedID(context.Background(), u)
	if err != nil {
		t.Fatal(err)
	}
	look, err := l.FeedLook(context.Background(), int64(id))
	if err != nil || look.Icon.ID == 0 {
		t.Fatal(look, err)
	}
	return look.Icon
}

// Arrive has entries arrive, one after another.
func (l *Library) Arrive(t testing.TB, at time.Time, list ...feed.Entry) {
	t.Helper()
	l.must(t, func(s reading.Database) { s.Keep(records(at, list)) })
}

// Bring has a neighbor bring entries of which nobody else has said anything yet.
func (l *Library) Bring(t testing.TB, at time.Time, list ...feed.Entry) {
	t.Helper()
	brought := records(at, list)
	for i := range brought {
		brought[i].Source, brought[i].Confirmed = protocol.NewNodeID(netip.MustParseAddr("192.0.2.7"), 7790), false
	}
	l.must(t, func(s reading.Database) { s.Keep(brought) })
}

// Filter has a filter catch what arrives from then on.
func (l *Library) Filter(t testing.TB, w reading.FilterWish) reading.FilterID {
	t.Helper()
	var id reading.FilterID
	var err error
	l.must(t, func(s reading.Database) { id, err = s.Pen(l.person).AddFilter(Noon, w) })
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// FillIn has entries of the time before arrive.
func (l *Library) FillIn(t testing.TB, at time.Time, list ...feed.Entry) {
	t.Helper()
	l.must(t, func(s reading.Database) { s.Fill(at, records(at, list)) })
}

func records(at time.Time, list []feed.Entry) (records []archive.Record) {
	for _, e := range list {
		e.Clean()
		records = append(records, archive.NewRecord(e, at, protocol.NodeID{}))
	}
	return records
}

// Visitor implements reading.Entrance.
func (l *Library) Visitor(ctx context.Context, password string) (reading.Visitor, error) {
	return l.enter(l.store.Password(ctx, reading.HashOf(password), false))
}

// FeverVisitor implements reading.Entrance.
func (l *Library) FeverVisitor(ctx context.Context, key string) (reading.Visitor, error) {
	return l.enter(l.store.Password(ctx, reading.FeverHash(key), true))
}

func (l *Library) enter(p reading.Password, err error) (reading.Visitor, error) {
	if err != nil || p.Name == "" {
		return reading.Visitor{}, err
	}
	return reading.Visitor{Name: p.Name, Person: p.Person, Library: l.of(p.Person)}, nil
}

// Mark implements reading.Editor.
func (l *Library) Mark(_ context.Context, ids []reading.ItemID, m reading.Mark) error {
	return l.write(func(s reading.Database) { s.Pen(l.person).Mark(Evening, ids, m) })
}

// MarkStream implements reading.Editor.
func (l *Library) MarkStream(_ context.Context, stream reading.Stream, m reading.Mark) error {
	return l.write(func(s reading.Database) { s.Pen(l.person).MarkStream(Evening, stream, m, reading.MaxPage) })
}

// The addresses of web pages: site names two feeds, and silent none.
const (
	site   feed.URL = "https://site.example/"
	silent feed.URL = "https://silent.example/"
)

// Discover implements reading.Editor.
func (l *Library) Discover(_ context.Context, u feed.URL) ([]discover.SiteFeed, error) {
	switch u {
	case site:
		return []discover.SiteFeed{{URL: site + "atom.xml", Title: "Site", Type: "application/atom+xml"},
			{URL: site + "comments.xml", Type: "application/rss+xml"}}, nil
	case silent:
		return nil, fmt.Errorf("%w: this is a web page, not a feed, and it names none", reading.ErrNoFeed)
	case silent + "gone":
		return nil, fmt.Errorf("%w: HTTP 404", reading.ErrUnread)
	}
	return []discover.SiteFeed{{URL: u, Title: "Its own title"}}, nil
}

// Subscribe implements reading.Editor.
func (l *Library) Subscribe(ctx context.Context, tries ...feed.URL) (reading.FeedID, error) {
	u := tries[0]
	if u == site || u == silent || u == silent+"gone" {
		named, err := l.Discover(ctx, u)
		if err != nil {
			return 0, err
		}
		u = named[0].URL
	}
	if err := l.write(func(s reading.Database) {
		s.KeepFeed(archive.Feed{URL: u, Subscribed: true, Since: Noon, LastSuccess: Noon})
	}); err != nil {
		return 0, err
	}
	id, err := l.FeedID(ctx, u)
	if err != nil {
		return 0, err
	}
	return id, l.write(func(s reading.Database) { s.Pen(l.person).TakeIn(id, archive.UsualBacklog) })
}

// Refresh implements reading.Editor.
func (l *Library) Refresh(_ context.Context, ids ...reading.FeedID) (reading.RefreshResult, error) {
	l.Refreshed = append(l.Refreshed, ids...)
	if !l.From.IsZero() {
		return reading.RefreshResult{Later: len(ids), From: l.From}, nil
	}
	return reading.RefreshResult{Polled: len(ids)}, nil
}

// Unsubscribe implements reading.Editor.
func (l *Library) Unsubscribe(ctx context.Context, id reading.FeedID) error {
	u, err := l.FeedOf(ctx, id)
	if err != nil || u == "" {
		return err
	}
	if l.person != reading.Owner {
		return l.write(func(s reading.Database) { s.Pen(l.person).LeaveOut(id) })
	}
	return l.write(func(s reading.Database) { s.KeepFeed(archive.Feed{URL: u}) })
}

// Arrange implements reading.Editor.
func (l *Library) Arrange(_ context.Context, list ...reading.Arrangement) error {
	list, err := reading.Checked(list)
	if err != nil {
		return err
	}
	refused := reading.ErrFolders
	err = l.write(func(s reading.Database) {
		p := s.Pen(l.person)
		for i := range list {
			for _, name := range list[i].Into {
				if taken := p.FolderTaken(name); taken != nil {
					refused = taken
					return
				}
			}
		}
		if p.Arrange(list) {
			refused = nil
		}
	})
	return cmp.Or(err, refused)
}

// FetchFullText implements reading.Editor: there is a page behind each link.
func (l *Library) FetchFullText(ctx context.Context, id reading.ItemID, show bool) (t reading.FullText,
	err error) {
	for i, err := range l.Items(ctx, []reading.ItemID{id}) {
		if err != nil || i.Entry.Link == "" {
			return t, cmp.Or(err, fmt.Errorf("%w: the entry names no page", reading.ErrFullText))
		}
		t = reading.FullText{Item: id, HTML: "<p>All of " + i.Entry.Title + ".</p>", At: Evening, Shown: show}
		return t, l.write(func(s reading.Database) { s.KeepFullText(t) })
	}
	return t, reading.ErrNoItem
}

// AddFolder implements reading.Editor.
func (l *Library) AddFolder(_ context.Context, raw string) (id reading.FolderID, err error) {
	name, err := reading.FolderName(raw)
	if err != nil {
		return 0, err
	}
	ok := true
	if err := l.write(func(s reading.Database) { id, ok = s.Pen(l.person).AddFolder(name) }); err != nil || ok {
		return id, err
	}
	return 0, reading.ErrFolders
}

// RenameFolder implements reading.Editor.
func (l *Library) RenameFolder(_ context.Context, id reading.FolderID, raw string) error {
	name, err := reading.FolderName(raw)
	if err != nil {
		return err
	}
	var refused error
	err = l.write(func(s reading.Database) {
		p := s.Pen(l.person)
		if refused = p.FolderTaken(name); refused == nil {
			p.RenameFolder(id, name)
		}
	})
	return cmp.Or(err, refused)
}

// RemoveFolder implements reading.Editor.
func (l *Library) RemoveFolder(_ context.Context, id reading.FolderID) error {
	return l.write(func(s reading.Database) { s.Pen(l.person).RemoveFolder(id) })
}

// Label implements reading.Editor.
func (l *Library) Label(_ context.Context, ids []reading.ItemID, raw string, has bool) error {
	return l.named(raw, func(p reading.Pen, name string) error { return p.Label(Evening, ids, name, has) })
}

// RenameLabel implements reading.Editor.
func (l *Library) RenameLabel(_ context.Context, id reading.LabelID, raw string) error {
	return l.named(raw, func(p reading.Pen, name string) error { return p.RenameLabel(id, name) })
}

// named has f write with the name of a label as it is kept.
func (l *Library) named(raw string, f func(reading.Pen, string) error) error {
	name, err := reading.LabelName(raw)
	if err != nil {
		return err
	}
	var refused error
	if err := l.write(func(s reading.Database) { refused = f(s.Pen(l.person), name) }); err != nil {
		return err
	}
	return refused
}

// RemoveLabel implements reading.Editor.
func (l *Library) RemoveLabel(_ context.Context, id reading.LabelID) error {
	return l.write(func(s reading.Database) { s.Pen(l.person).RemoveLabel(Evening, id, reading.MaxPage) })
}

// Import implements reading.Editor.
func (l *Library) Import(ctx context.Context, list []opml.Outline) error {
	for _, f := range list {
		if _, err := l.Subscribe(ctx, f.URL); err != nil {
			return err
		}
		a := reading.Arrangement{URL: f.URL, Name: &f.Title}
		if folder := reading.FolderOf(f.Folder); folder != "" {
			a.Into = []string{folder}
		}
		if err := l.Arrange(ctx, a); err != nil {
			return err
		}
	}
	return nil
}
