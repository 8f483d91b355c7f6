package daemon

import (
	"context"
	"slices"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/discover"
	"feedex/feed"
	"feedex/node"
	"feedex/opml"
	"feedex/reading"
	"feedex/web"
)

// A pagesLibrary is a person's library as pages show it, with what the archive has beside it.
type pagesLibrary struct {
	*library
	pictures *pictures
	saved    *savedTo
}

var _ web.PersonalSource = pagesLibrary{}

// Version implements web.PersonalSource. What becomes of the node is the owner's to know.
func (l pagesLibrary) Version() uint64 {
	news := &l.host.news
	if l.person == reading.Owner {
		news = &l.host.changes
	}
	return news.Load() + l.host.written(l.person).Load()
}

// Known implements web.PersonalSource.
func (l pagesLibrary) Known(ctx context.Context, number int64) (k web.KnownFeed, err error) {
	k.Number = number
	if k.Feed, err = l.seen(ctx, number); err != nil {
		return k, err
	}
	k.LastError = l.toldOf(k.LastError)
	if k.Reads, err = l.Reads(ctx, number); err != nil {
		return k, err
	}
	if k.Name, k.Folders, err = l.Filing(ctx, number); err != nil {
		return k, err
	}
	k.Look, err = l.FeedLook(ctx, number)
	return k, err
}

// seen is the feed with that number, as far as the person may know of it: of one whose URL is a secret who reads it,
// and the owner. The error is web.ErrNone where there is none.
func (l pagesLibrary) seen(ctx context.Context, number int64) (archive.Feed, error) {
	f, err := l.host.store.NumberedFeed(ctx, number)
	if err != nil || l.person == reading.Owner && f.URL != "" || f.URL != "" && !f.URL.Secret() {
		return f, err
	}
	if reads, err := l.Reads(ctx, number); err != nil || reads {
		return f, err
	}
	return archive.Feed{}, web.ErrNone
}

// Entry implements web.PersonalSource.
func (l pagesLibrary) Entry(ctx context.Context, id feed.EntryID) (web.EntryDetail, error) {
	r, item, number, err := l.Shelf.Entry(ctx, id)
	if err == nil && number == 0 {
		err = web.ErrNone
	}
	if err == nil && r.Entry.Feed.Secret() {
		_, err = l.seen(ctx, number)
	}
	if err != nil {
		return web.EntryDetail{}, err
	}
	full, err := l.host.store.FullText(ctx, item.ID)
	full.Problem = l.toldOf(full.Problem)
	return web.EntryDetail{Record: r, Feed: number, Item: item, Full: full}, err
}

// Picture implements web.PersonalSource.
func (l pagesLibrary) Picture(ctx context.Context, number int64, at feed.URL) ([]byte, error) {
	return l.shownOf(ctx, number, at, &pictureKind)
}

// Chapters implements web.PersonalSource.
func (l pagesLibrary) Chapters(ctx context.Context, number int64, at feed.URL) ([]feed.Chapter, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, chaptersWait, errSlowChapters)
	defer cancel()
	content, err := l.shownOf(ctx, number, at, &chaptersKind)
	if err != nil {
		return nil, err
	}
	return feed.ParseChapters(content)
}

// shownOf is what a page shows that is at an address which an entry of a feed names.
func (l pagesLibrary) shownOf(ctx context.Context, number int64, at feed.URL, kind *shownKind) ([]byte, error) {
	f, err := l.seen(ctx, number)
	if err != nil {
		return nil, err
	}
	shown, err := l.pictures.get(ctx, f.URL, at, kind)
	return shown, l.told(err)
}

// longestWalk is how long a list of what somebody reads may take: it passes over the entries of feeds that they follow
// no more, one by one.
const longestWalk = 5 * time.Second

// Headlines implements web.PersonalSource. The owner alone has a list of a feed that is followed no more, by its
// number.
func (l pagesLibrary) Headlines(ctx context.Context, q reading.HeadlineQuery) ([]reading.Headline, error) {
	if q.Followed = l.person != reading.Owner || q.Feed == 0; q.Followed {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, longestWalk)
		defer cancel()
	}
	return l.Shelf.Headlines(ctx, q)
}

// Search implements archive.Searcher.
func (l pagesLibrary) Search(ctx context.Context, f feed.Filter) ([]archive.Record, error) {
	if l.person == reading.Owner {
		return l.host.store.Search(ctx, f)
	}
	return l.Found(ctx, f)
}

// OwnPasswords implements web.OwnKeys.
func (l pagesLibrary) OwnPasswords(ctx context.Context) ([]reading.Password, error) {
	return passwordsOf(ctx, l.person, l.host.store)
}

func passwordsOf(ctx context.Context, p reading.PersonID, all reading.PasswordList) ([]reading.Password, error) {
	list, err := all.Passwords(ctx)
	return slices.DeleteFunc(list, func(x reading.Password) bool { return x.Person != p }), err
}

// AddOwnPassword implements web.OwnKeys.
func (l pagesLibrary) AddOwnPassword(ctx context.Context, name string) (secret string, err error) {
	return secret, plain(l.host.write(ctx, func(d reading.Database) error {
		err := l.roomForOwn(ctx, d)
		if err == nil {
			secret, err = makePassword(d, l.person, control.PasswordRequest{Name: name, Scope: reading.ReaderScope})
		}
		return asked(err)
	}))
}

// RemoveOwnPassword implements web.OwnKeys.
func (l pagesLibrary) RemoveOwnPassword(ctx context.Context,
	name string) (back func(context.Context) error, err error) {
	return l.host.takePassword(ctx, func(p reading.Password) bool {
		return p.Name == name && p.Scope == reading.ReaderScope && p.Person == l.person
	}, l.roomForOwn)
}

// takePassword removes the password that is which, and returns what keeps it again as it was, where room then says that
// there is room for it. The error is web.ErrNone where there is none.
func (h *host) takePassword(ctx context.Context, which func(reading.Password) bool,
	room func(context.Context, reading.Database) error) (back func(context.Context) error, err error) {
	var gone reading.Password
	err = h.write(ctx, func(d reading.Database) error {
		list, err := d.Passwords(ctx)
		if i := slices.IndexFunc(list, which); i >= 0 {
			gone = list[i]
			d.DropPassword(gone.Name)
		} else if err == nil {
			err = asked(web.ErrNone)
		}
		return err
	})
	return func(ctx context.Context) error {
		return plain(h.write(ctx, func(d reading.Database) error {
			if room != nil {
				if err := room(ctx, d); err != nil {
					return asked(err)
				}
			}
			return asked(d.KeepPassword(gone))
		}))
	}, plain(err)
}

// roomForOwn says whether somebody who is not the owner may have another password.
func (l pagesLibrary) roomForOwn(ctx context.Context, d reading.Database) error {
	list, err := passwordsOf(ctx, l.person, d)
	if err == nil && len(list) >= reading.MaxOwnPasswords {
		err = reading.ErrOwn
	}
	return err
}

// TakeUp implements web.PersonalSource. What is followed already is not asked for again: it may be a page that waits
// for its owner's choice.
func (l pagesLibrary) TakeUp(ctx context.Context, number int64) error {
	f, err := l.seen(ctx, number)
	if err == nil && f.Subscribed {
		return l.takeIn(ctx, archive.UsualBacklog, reading.FeedID(number))
	}
	if err == nil {
		_, err = l.Subscribe(ctx, f.URL)
	}
	return err
}

// Follow implements web.PersonalSource. What stays on the node is its owner's to know.
func (l pagesLibrary) Follow(ctx context.Context, list []opml.Outline,
	unread archive.Backlog) (web.FollowedList, error) {
	f, err := l.follow(ctx, list, unread)
	l.host.changes.Add(1)
	s := web.FollowedList{Added: len(f.New), Problems: f.Problems}
	for i := range f.Duplicates {
		again := &f.Duplicates[i]
		s.Repeated = append(s.Repeated, web.Repetition{Line: again.Line, Feed: again.URL, Reason: again.Reason()})
	}
	if l.person == reading.Owner {
		s.Kept = f.Kept
	}
	return s, err
}

// followWait is how long a person waits for a page that says what became of their wish.
const followWait = 10 * time.Second

// FollowAt implements web.PersonalSource.
func (l pagesLibrary) FollowAt(ctx context.Context, w web.FollowWish) (f web.FollowedAt, err error) {
	tries := slices.Clone(w.Tries) // those of the wish are shown
	if w.Page != 0 {
		page, err := l.seen(ctx, w.Page)
		if err != nil {
			return f, err
		}
		named := discover.Read(page.Names)
		for i, u := range tries {
			if slices.ContainsFunc(named, func(n discover.SiteFeed) bool { return n.URL == u }) {
				tries[i] = discover.Lend(page.URL, u)
			}
		}
	}
	s, err := l.host.FollowAddress(ctx, control.FollowAddress{
		Subscribe: node.Subscribe{Feeds: tries, Backlog: w.Backlog, BacklogOf: int64(l.person)}, Wait: followWait,
		Keep: true, Anyway: w.Anyway})
	l.host.changes.Add(1)
	f = web.FollowedAt{New: s.New, Choose: len(s.Choices) > 0, Problem: l.toldOf(s.Problem), Unread: s.Unread}
	if l.person == reading.Owner {
		f.Kept, f.Undecided = s.Kept, s.Undecided
	}
	if err != nil || s.Feed == "" {
		return f, err
	}
	id, err := l.FeedID(ctx, s.Feed)
	if err != nil {
		return f, err
	}
	f.Number = int64(id)
	read, err := l.Reads(ctx, f.Number)
	if err != nil {
		return f, err
	}
	f.New = f.New || !read
	return f, l.takeIn(ctx, w.Backlog, id)
}

// ShowFullText implements web.PersonalSource.
func (l pagesLibrary) ShowFullText(ctx context.Context, id reading.ItemID, shown bool) error {
	if l.person != reading.Owner {
		return web.ErrNone // it would be shown, or not, to all
	}
	return l.host.showFullText(ctx, id, shown)
}
