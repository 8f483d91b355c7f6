package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/feed"
	"feedex/fetch"
	"feedex/node"
	"feedex/reading"
	"feedex/web"
)

// dashboard shows the node on pages to its owner. It reads the archive beside the loop.
type dashboard struct {
	reading.View
	*library
	entrance
	host     *host
	pictures *pictures
	saved    *savedTo
}

var _ web.Source = dashboard{}

// Of implements web.Source.
func (d dashboard) Of(p reading.PersonID, by string) web.PersonalSource {
	return pagesLibrary{d.host.libraryBy(p, by), d.pictures, d.saved}
}

// Status implements web.Present.
func (d dashboard) Status(ctx context.Context) (web.Status, error) {
	r, err := d.host.Status(ctx)
	return web.Status{Status: *cmp.Or(r.Status, new(node.Status)), Version: r.Version, Data: r.Data, Storage: r.Storage,
		Entries: r.Archive.Entries, Bytes: r.Archive.Bytes, Reach: r.Reach.Diagnose(),
		At: r.Reach.At(), Named: r.Named,
		DHT: web.DHT{On: r.DHT.Use == control.DHTOn, Ask: r.DHT.Use == control.DHTAsk, Fixed: r.DHT.Fixed}}, err
}

// Feeds implements web.Present.
func (d dashboard) Feeds(ctx context.Context) ([]web.FeedSummary, error) {
	list, err := ask(ctx, d.host.loop, (*node.Node).Feeds)
	if err != nil {
		return nil, err
	}
	followed, err := d.Subscriptions(ctx)
	if err != nil {
		return nil, err
	}
	by := make(map[feed.URL]*reading.FollowedFeed, len(followed))
	for i := range followed {
		by[followed[i].URL] = &followed[i]
	}
	feeds := make([]web.FeedSummary, 0, len(list))
	for i := range list {
		s := by[list[i].URL]
		if s == nil { // followed or left this very moment
			continue
		}
		f := web.FeedSummary{FeedStatus: list[i], Number: int64(s.ID), Icon: s.Icon, Folders: s.FolderNames()}
		f.Title, f.FullText = cmp.Or(s.Name, s.Title, f.Title), s.FullText
		f.Polled, f.Delivered = s.Polls, s.Neighbors
		feeds = append(feeds, f)
	}
	return feeds, nil
}

// Neighbors implements web.Present.
func (d dashboard) Neighbors(ctx context.Context) ([]node.NeighborStatus, error) {
	return d.host.Neighbors(ctx)
}

// Feed implements web.Archive.
func (d dashboard) Feed(ctx context.Context, number int64) (k web.FeedDetail, err error) {
	if k.KnownFeed, err = d.Of(reading.Owner, "").Known(ctx, number); err != nil {
		return k, err
	}
	f := &k.Feed
	if k.Entries, err = d.CountEntries(ctx, number, web.MaxCounted); err != nil {
		return k, err
	}
	bounded, err := d.FeedLimits(ctx)
	if err != nil {
		return k, err
	}
	for _, b := range bounded {
		if b.URL == f.URL {
			k.Limits = b.Limits
		}
	}
	if k.Host, err = d.Host(ctx, cmp.Or(f.Alias, f.URL).Host()); err != nil || !f.Subscribed {
		return k, err
	}
	k.Status, err = d.host.feed(ctx, f.URL)
	return k, err
}

// Happened implements web.Archive.
func (d dashboard) Happened(ctx context.Context, number int64, since time.Time, n int) (h web.Happened, err error) {
	f, err := d.NumberedFeed(ctx, number)
	if err != nil {
		return h, err
	}
	if h.Requests, err = d.RequestsFor(ctx, fetch.Logged(f.URL), since, n); err != nil {
		return h, err
	}
	if h.Heard, err = d.host.pollsHeard(ctx, f.URL); err != nil {
		return h, err
	}
	// Entries that came before may have been confirmed since.
	h.Entries, err = d.Appearances(ctx, number, since.Add(-24*time.Hour), n)
	return h, err
}

// Brought implements web.Archive.
func (d dashboard) Brought(ctx context.Context, number int64, since time.Time, n int) (int, error) {
	return d.BroughtSince(ctx, number, since, n)
}

// Ask implements web.NetworkSearcher.
func (d dashboard) Ask(ctx context.Context, f feed.Filter,
	each func([]web.RemoteEntry) error) (asked web.SearchOutcome, err error) {
	err = d.host.Query(ctx, control.QueryRequest{Filter: f, Network: new(true)}, func(p control.QueryPart) error {
		if p.End != nil {
			asked = web.SearchOutcome{Neighbors: p.End.Asked, Cut: p.End.Cut, Problem: p.End.Problem}
		}
		list := make([]web.RemoteEntry, len(p.Found))
		for i := range p.Found {
			r := &p.Found[i]
			list[i] = web.RemoteEntry{Feed: r.Feed, Title: r.Title, Link: r.Link, Time: r.Time(),
				Holders: len(r.Holders), Here: r.Here}
		}
		return each(list)
	})
	return asked, err
}

// Adjust implements web.OwnerActions.
func (d dashboard) Adjust(ctx context.Context, number int64, wish node.Subscribe) error {
	u, err := d.numbered(ctx, number, true)
	if err != nil {
		return err
	}
	d.host.changes.Add(1)
	wish.Feeds = []feed.URL{u}
	return d.host.Subscribe(ctx, wish)
}

// Keep implements web.OwnerActions.
func (d dashboard) Keep(ctx context.Context, number int64, l archive.Limits) error {
	u, err := d.numbered(ctx, number, true)
	if err != nil {
		return err
	}
	return d.host.SetRetention(ctx, control.RetentionChange{Feeds: []feed.URL{u}, Bytes: &l.Bytes, Age: &l.Age,
		Count: &l.Count})
}

// Unfollow implements web.OwnerActions.
func (d dashboard) Unfollow(ctx context.Context, number int64) error {
	u, err := d.numbered(ctx, number, false)
	if err != nil {
		return err
	}
	d.host.changes.Add(1)
	return d.host.Unsubscribe(ctx, u)
}

// FollowAgain implements web.OwnerActions.
func (d dashboard) FollowAgain(ctx context.Context, number int64) error {
	u, err := d.numbered(ctx, number, false)
	if err != nil {
		return err
	}
	d.host.changes.Add(1)
	return d.host.Subscribe(ctx, node.Subscribe{Feeds: []feed.URL{u}})
}

// numbered is the feed with that number. The error is web.ErrNone where there is none, or it is to be followed and is
// not.
func (d dashboard) numbered(ctx context.Context, number int64, followed bool) (feed.URL, error) {
	f, err := d.NumberedFeed(ctx, number)
	if err == nil && (f.URL == "" || followed && !f.Subscribed) {
		err = web.ErrNone
	}
	return f.URL, err
}

// NameSource implements web.Inviter.
func (d dashboard) NameSource(ctx context.Context, name string) (node.SourceStatus, error) {
	s, err := d.host.NameSource(ctx, name)
	return s, plain(err)
}

// ForgetSource implements web.Inviter.
func (d dashboard) ForgetSource(ctx context.Context, name string) error {
	return plain(d.host.ForgetSource(ctx, name))
}

// UseDHT implements web.OwnerActions.
func (d dashboard) UseDHT(ctx context.Context, on bool) error { return d.host.UseDHT(ctx, on) }

// AddPassword implements web.Keys.
func (d dashboard) AddPassword(ctx context.Context, name, person string, scope reading.Scope) (string, error) {
	secret, err := d.host.AddPassword(ctx, control.PasswordRequest{Name: name, Person: person, Scope: scope})
	return secret, plain(err)
}

// plain is an error without what says that it is the client's: the page says what is wrong.
func plain(err error) error {
	if bad := (control.BadRequest{}); errors.As(err, &bad) {
		return bad.Err
	}
	return err
}

// AddPerson implements web.Keys.
func (d dashboard) AddPerson(ctx context.Context, name string) error {
	return plain(d.host.AddPerson(ctx, name))
}

// RemovePerson implements web.Keys.
func (d dashboard) RemovePerson(ctx context.Context, name string) (back func(context.Context) error, err error) {
	back, err = d.host.hidePerson(ctx, name)
	return back, plain(err)
}

// RemovePassword implements web.Keys.
func (d dashboard) RemovePassword(ctx context.Context, name string) (back func(context.Context) error, err error) {
	return d.host.takePassword(ctx, func(p reading.Password) bool { return p.Name == name }, nil)
}

// EndSessions implements web.Keys.
func (d dashboard) EndSessions(ctx context.Context, name string) error {
	return d.host.write(ctx, func(d reading.Database) error { d.EndSessions(name); return nil })
}

// newDashboard makes the pages of a node. They let go of open connections when ctx ends. login says which requests need
// a password.
func newDashboard(ctx context.Context, h *host, login func(*http.Request) bool) (*web.Handler, error) {
	source := dashboard{h.store, h.libraryOf(reading.Owner), entrance{h}, h, newPictures(ctx, h), newSavedTo(&h.config)}
	pages, err := web.New(web.Config{Source: source, Login: login, Version: Version, Ending: ctx.Done(),
		Log: h.config.Log})
	if err != nil {
		return nil, fmt.Errorf("make the dashboard: %w", err)
	}
	return pages, nil
}

// KeepFilter implements web.OwnerFilters.
func (d dashboard) KeepFilter(ctx context.Context, id reading.FilterID,
	w reading.FilterWish) (reading.FilterID, error) {
	defer d.host.changes.Add(1)
	r, err := d.host.filing.keep(ctx, reading.Owner, id, w)
	return r.Filter, plain(err)
}

// KeepFilterAgain implements web.OwnerFilters.
func (d dashboard) KeepFilterAgain(ctx context.Context, id, instead reading.FilterID) error {
	defer d.host.changes.Add(1)
	return plain(d.host.filing.keepAgain(ctx, reading.Owner, id, instead))
}

// TryFilter implements web.OwnerFilters.
func (d dashboard) TryFilter(ctx context.Context, m feed.Match) (caught int, rules map[reading.Rule]int, err error) {
	items, err := d.library.Find(ctx, m, nil, reading.MaxCaught)
	if err == nil {
		rules, err = d.library.RulesOn(ctx, time.Now(), items)
	}
	return len(items), rules, err
}

// MoveFilter implements web.OwnerFilters.
func (d dashboard) MoveFilter(ctx context.Context, id, before reading.FilterID) error {
	return d.library.write(ctx, func(p reading.Pen) error { p.MoveFilter(id, before); return nil })
}

// RemoveFilter implements web.OwnerFilters.
func (d dashboard) RemoveFilter(ctx context.Context, id reading.FilterID) error {
	defer d.host.changes.Add(1)
	return plain(d.host.filing.remove(ctx, reading.Owner, id))
}

// ActOnPast implements web.OwnerFilters, in steps between which the loop goes on.
func (d dashboard) ActOnPast(ctx context.Context, id reading.FilterID) (at time.Time, err error) {
	defer d.host.changes.Add(1)
	items, err := d.library.IDs(ctx, reading.Stream{Filter: id, Unlisted: true}, reading.Page{Limit: reading.MaxPage})
	if err != nil {
		return at, err
	}
	at = time.Now()
	for part := range slices.Chunk(items, markStep) {
		if err := d.library.write(ctx, func(p reading.Pen) error { p.Act(at, id, part); return nil }); err != nil {
			return at, err
		}
	}
	return at, nil
}

// TakeBack implements web.OwnerFilters.
func (d dashboard) TakeBack(ctx context.Context, id reading.FilterID, moment time.Time) error {
	defer d.host.changes.Add(1)
	return d.host.filing.takeBack(ctx, reading.Owner, id, moment)
}
