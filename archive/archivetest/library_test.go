package archivetest

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
	"feedex/safehtml"
)

// A library is a second archive beside archive/sqlite: an archive.Memory with what its owner reads, marks and files,
// their passwords and the hub's subscriptions. It shows that the contract of these asks for nothing that SQL alone can
// do, and is made to be short.
type library struct {
	*archive.Memory
	followed  map[feed.URL]bool
	numbers   map[feed.URL]reading.FeedID
	urls      []feed.URL // by number, from 1
	items     []*item    // by ID, from 1; nil where there is none any more
	byEntry   map[feed.EntryID]*item
	names     map[reading.FeedID]string          // the owner's own titles
	folders   map[reading.FolderID]string        // their names
	lastMade  reading.FolderID                   // the latest folder
	filed     map[[2]int64]bool                  // a feed and a folder that it is in
	passwords map[string]reading.Password        // by name
	hub       map[string]archive.HubSubscription // by callback and topic
}

type item struct {
	id                    reading.ItemID
	feed                  feed.URL
	entry                 feed.EntryID
	arrived, changed      time.Time
	listed, read, starred bool
}

var (
	_ ItemArchive     = (*library)(nil)
	_ PasswordArchive = (*library)(nil)
	_ HubArchive      = (*library)(nil)
)

func newLibrary() *library {
	return &library{
		Memory: archive.NewMemory(), followed: make(map[feed.URL]bool), numbers: make(map[feed.URL]reading.FeedID),
		byEntry: make(map[feed.EntryID]*item), names: make(map[reading.FeedID]string),
		folders: make(map[reading.FolderID]string), filed: make(map[[2]int64]bool),
		passwords: make(map[string]reading.Password), hub: make(map[string]archive.HubSubscription),
	}
}

func TestLibrary(t *testing.T) {
	Run(t, func(testing.TB) Archive { return newLibrary() })
	RunItems(t, func(testing.TB) ItemArchive { return newLibrary() })
	RunPasswords(t, func(testing.TB) PasswordArchive { return newLibrary() })
	RunHub(t, func(testing.TB) HubArchive { return newLibrary() })
}

// number is that of a feed, which may be new.
func (l *library) number(u feed.URL) reading.FeedID {
	if l.numbers[u] == 0 {
		l.urls = append(l.urls, u)
		l.numbers[u] = reading.FeedID(len(l.urls))
	}
	return l.numbers[u]
}

// add makes an item of an entry that is none.
func (l *library) add(r *archive.Record, at time.Time, listed, read bool) {
	if l.byEntry[r.ID] != nil {
		return
	}
	at = archive.Second(at)
	x := &item{id: reading.ItemID(len(l.items) + 1), feed: r.Entry.Feed, entry: r.ID, arrived: at, changed: at,
		listed: listed, read: read}
	l.items, l.byEntry[r.ID] = append(l.items, x), x
}

// keep has records kept, and those that arrive made items.
func (l *library) keep(records []archive.Record, keep func([]archive.Record)) {
	keep(records)
	for i := range records {
		r := &records[i]
		l.number(r.Entry.Feed)
		if l.followed[r.Entry.Feed] && l.Known([]feed.EntryID{r.ID})[0].Kept() {
			l.add(r, r.Seen, true, false)
		}
	}
	for u := range l.followed {
		if l.LoadFeed(u).LastSuccess.IsZero() {
			l.backlog(u)
		}
	}
}

// backlog has what the first poll of a feed brought read, but the latest.
func (l *library) backlog(u feed.URL) {
	found, _ := l.Search(context.Background(), feed.Filter{Feed: u, Limit: math.MaxInt}) // the latest first
	fresh := reading.FirstUnread
	for i := range found {
		if found[i].Seq > 0 && !found[i].Source.IsZero() {
			fresh--
		}
	}
	for i := range found {
		if x := l.byEntry[found[i].ID]; x != nil && found[i].Seq > 0 && found[i].Source.IsZero() {
			if fresh--; fresh < 0 && !x.read && !x.starred {
				x.read, x.listed = true, false
			}
		}
	}
}

func (l *library) Keep(records []archive.Record) { l.keep(records, l.Memory.Keep) }

func (l *library) Shared() archive.Shared { return sharedLibrary{l.Memory.Shared(), l} }

type sharedLibrary struct {
	archive.Shared
	library *library
}

func (s sharedLibrary) Keep(records []archive.Record) { s.library.keep(records, s.Shared.Keep) }

func (l *library) Fill(at time.Time, records []archive.Record) []bool {
	stored := l.Memory.Fill(at, records)
	for i, r := range slices.Backward(records) {
		l.number(r.Entry.Feed)
		if stored[i] && l.followed[r.Entry.Feed] {
			l.add(&r, at, false, true)
		}
	}
	return stored
}

func (l *library) KeepFeed(f archive.Feed) {
	l.Memory.KeepFeed(f)
	l.number(f.URL)
	was := l.followed[f.URL]
	if l.followed[f.URL] = f.Subscribed; was || !f.Subscribed {
		return
	}
	found, _ := l.Search(context.Background(), feed.Filter{Feed: f.URL, Limit: math.MaxInt})
	for i, r := range slices.Backward(found) {
		at, fresh := f.Since, i < reading.FirstUnread && r.Seq > 0
		if at.IsZero() {
			at = r.Seen
		}
		l.add(&r, at, fresh, !fresh)
	}
}

func (l *library) Purge(at time.Time, ids []feed.EntryID) []bool {
	dropped := make([]bool, len(ids))
	for i, id := range ids {
		x := l.byEntry[id]
		if x != nil && x.starred {
			continue
		}
		if dropped[i] = l.Memory.Purge(at, ids[i:i+1])[0]; dropped[i] && x != nil {
			l.items[x.id-1] = nil
			delete(l.byEntry, id)
		}
	}
	return dropped
}

func (l *library) Inherit(to, from feed.URL) {
	heir, gone := l.numbers[to], l.numbers[from]
	if heir == 0 || gone == 0 {
		return
	}
	l.names[heir], l.names[gone] = cmp.Or(l.names[heir], l.names[gone]), ""
	for id := range l.folders {
		if key := [2]int64{int64(gone), int64(id)}; l.filed[key] {
			delete(l.filed, key)
			l.filed[[2]int64{int64(heir), int64(id)}] = true
		}
	}
}

// in reports whether an item is in a stream.
func (l *library) in(s *reading.Stream, x *item) bool {
	is := func(c reading.Choice, value bool) bool { return c == reading.Either || (c == reading.Yes) == value }
	number := l.numbers[x.feed]
	switch {
	case !l.followed[x.feed], s.Among != nil && !slices.Contains(s.Among, x.id), s.Feed != 0 && s.Feed != number,
		s.Folder != 0 && !l.filed[[2]int64{int64(number), int64(s.Folder)}],
		!is(s.Read, x.read), !is(s.Starred, x.starred),
		!s.Since.IsZero() && x.arrived.Before(s.Since), !s.Until.IsZero() && !x.arrived.Before(s.Until):
		return false
	case !s.Changed.IsZero():
		return x.listed && !x.arrived.Before(s.Changed) || x.changed.After(x.arrived) && !x.changed.Before(s.Changed)
	}
	return x.listed || s.Unlisted || s.Starred == reading.Yes
}

// stream are the items of a stream, the oldest first.
func (l *library) stream(s reading.Stream) (list []*item) {
	for _, x := range l.items {
		if x != nil && l.in(&s, x) {
			list = append(list, x)
		}
	}
	return list
}

// mark marks an item, and reports whether that changed it.
func (x *item) mark(at time.Time, m reading.Mark) bool {
	before := *x
	x.read = m.Read == reading.Yes || m.Read == reading.Either && x.read
	x.starred = m.Starred == reading.Yes || m.Starred == reading.Either && x.starred
	x.listed = x.listed || before.read && !x.read
	if *x == before {
		return false
	}
	x.changed = archive.Second(at)
	return true
}

func (l *library) Mark(at time.Time, ids []reading.ItemID, m reading.Mark) {
	for _, id := range ids {
		if id > 0 && int(id) <= len(l.items) && l.items[id-1] != nil {
			l.items[id-1].mark(at, m)
		}
	}
}

func (l *library) MarkStream(at time.Time, s reading.Stream, m reading.Mark, limit int) (more bool) {
	for _, x := range l.stream(s) {
		if x.mark(at, m) {
			limit--
		}
		if limit == 0 {
			return true
		}
	}
	return false
}

func (l *library) Size(_ context.Context, s reading.Stream) (int, error) {
	return len(l.stream(s)), nil
}

func (l *library) IDs(_ context.Context, s reading.Stream, p reading.Page) ([]reading.ItemID, error) {
	ids := []reading.ItemID{}
	for _, x := range l.stream(s) {
		if p.After == 0 || p.Oldest && x.id > p.After || !p.Oldest && x.id < p.After {
			ids = append(ids, x.id)
		}
	}
	if !p.Oldest {
		slices.Reverse(ids)
	}
	return ids[:min(len(ids), max(p.Limit, 0))], nil
}

func (l *library) Counts(context.Context) (list []reading.UnreadCount, err error) {
	counts := make(map[reading.FeedID]*reading.UnreadCount)
	for _, x := range l.stream(reading.Stream{Read: reading.No}) {
		number := l.numbers[x.feed]
		if counts[number] == nil {
			counts[number] = &reading.UnreadCount{Feed: number}
		}
		counts[number].Unread++
		counts[number].Newest = x.arrived
	}
	for _, number := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, *counts[number])
	}
	return list, nil
}

func (l *library) Find(ctx context.Context, m feed.Match, of []reading.FeedID, limit int) ([]reading.ItemID, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f := feed.Filter{Limit: math.MaxInt}
	f.Ask(m)
	found, err := l.Search(ctx, f)
	ids := []reading.ItemID{}
	for _, r := range found {
		x := l.byEntry[r.ID]
		if x != nil && l.followed[x.feed] && (len(of) == 0 || slices.Contains(of, l.numbers[x.feed])) &&
			len(ids) < limit {
			ids = append(ids, x.id)
		}
	}
	slices.Sort(ids)
	return ids, err
}

func (l *library) Items(ctx context.Context, ids []reading.ItemID) iter.Seq2[reading.Item, error] {
	return func(yield func(reading.Item, error) bool) {
		for _, id := range ids {
			if id < 1 || int(id) > len(l.items) || l.items[id-1] == nil || !l.followed[l.items[id-1].feed] {
				continue
			}
			x := l.items[id-1]
			found, err := l.Search(ctx, feed.Filter{IDs: []feed.EntryID{x.entry}})
			if err != nil {
				yield(reading.Item{}, err)
				return
			}
			r := &found[0]
			safehtml.Entry(&r.Entry)
			if !yield(reading.Item{
				ID: id, Feed: l.numbers[x.feed], Arrived: x.arrived, Listed: x.listed, Read: x.read, Starred: x.starred,
				Changed: x.changed, EntryID: r.ID, Entry: r.Entry, Time: r.Time(), Confirmed: r.Confirmed,
			}, nil) {
				return
			}
		}
	}
}

func (l *library) Subscriptions(context.Context) (list []reading.FollowedFeed, err error) {
	for _, f := range l.LoadFeeds() {
		if !f.Subscribed {
			continue
		}
		id := l.numbers[f.URL]
		list = append(list, reading.FollowedFeed{
			ID: id, URL: f.URL, Name: l.names[id], Title: safehtml.Label(f.Title), Site: safehtml.Link(f.Link),
			Since: f.Since, Errors: f.Errors, Error: safehtml.Label(f.LastError), Polled: f.LastPoll,
			Folders: l.foldersOf(id),
		})
	}
	slices.SortFunc(list, func(a, b reading.FollowedFeed) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

func (l *library) foldersOf(id reading.FeedID) (list []reading.Folder) {
	all, _ := l.Folders(context.Background())
	return slices.DeleteFunc(all, func(f reading.Folder) bool { return !l.filed[[2]int64{int64(id), int64(f.ID)}] })
}

func (l *library) Folders(context.Context) (list []reading.Folder, err error) {
	for id, name := range l.folders {
		list = append(list, reading.Folder{ID: id, Name: name})
	}
	slices.SortFunc(list, func(a, b reading.Folder) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (l *library) Arrange(list []reading.Arrangement) bool {
	made := make(map[string]bool)
	for _, a := range list {
		for _, name := range a.Into {
			made[name] = made[name] || l.named(name) == 0
		}
	}
	maps.DeleteFunc(made, func(_ string, isNew bool) bool { return !isNew })
	if len(made) > 0 && len(l.folders)+len(made) > reading.MaxFolders {
		return false
	}
	for _, a := range list {
		id := cmp.Or(a.Feed, l.numbers[a.URL])
		for _, f := range l.LoadFeeds() { // the URL of a page is that of its feed
			if a.Feed == 0 && f.Page == a.URL && f.Subscribed && !l.followed[a.URL] {
				id = l.numbers[f.URL]
			}
		}
		if id < 1 || int(id) > len(l.urls) {
			continue
		}
		if a.Name != nil {
			l.names[id] = *a.Name
		}
		for _, name := range a.Out {
			delete(l.filed, [2]int64{int64(id), int64(l.named(name))})
		}
		for _, name := range a.Into {
			folder, _ := l.AddFolder(name)
			l.filed[[2]int64{int64(id), int64(folder)}] = true
		}
	}
	return true
}

// named is the folder of a name, 0 for none.
func (l *library) named(name string) reading.FolderID {
	for id, of := range l.folders {
		if of == name {
			return id
		}
	}
	return 0
}

func (l *library) AddFolder(name string) (reading.FolderID, bool) {
	if id := l.named(name); id != 0 {
		return id, true
	}
	if len(l.folders) >= reading.MaxFolders {
		return 0, false
	}
	l.lastMade++
	l.folders[l.lastMade] = name
	return l.lastMade, true
}

func (l *library) RenameFolder(id reading.FolderID, name string) {
	other := l.named(name)
	switch {
	case l.folders[id] == "" || other == id:
	case other == 0:
		l.folders[id] = name
	default:
		for number := range l.urls {
			if l.filed[[2]int64{int64(number + 1), int64(id)}] {
				l.filed[[2]int64{int64(number + 1), int64(other)}] = true
			}
		}
		l.RemoveFolder(id)
	}
}

func (l *library) RemoveFolder(id reading.FolderID) {
	delete(l.folders, id)
	maps.DeleteFunc(l.filed, func(key [2]int64, _ bool) bool { return key[1] == int64(id) })
}

func (l *library) FeedID(_ context.Context, u feed.URL) (reading.FeedID, error) {
	return l.numbers[u], nil
}

func (l *library) FeedOf(_ context.Context, id reading.FeedID) (feed.URL, error) {
	if id < 1 || int(id) > len(l.urls) {
		return "", nil
	}
	return l.urls[id-1], nil
}

func (l *library) Filing(_ context.Context, number int64) (name string, folders []string, err error) {
	for _, f := range l.foldersOf(reading.FeedID(number)) {
		folders = append(folders, f.Name)
	}
	return l.names[reading.FeedID(number)], folders, nil
}

func (l *library) KeepPassword(p reading.Password) error {
	if _, ok := l.passwords[p.Name]; ok {
		return reading.ErrTaken
	}
	if len(l.passwords) >= reading.MaxPasswords {
		return reading.ErrPasswords
	}
	l.passwords[p.Name] = p
	return nil
}

func (l *library) UsePassword(name string, at time.Time) {
	l.change(name, func(p *reading.Password) { p.Used = archive.Second(at) })
}

func (l *library) EndSessions(name string) { l.change(name, func(p *reading.Password) { p.Epoch++ }) }

func (l *library) change(name string, f func(*reading.Password)) {
	if p, ok := l.passwords[name]; ok {
		f(&p)
		l.passwords[name] = p
	}
}

func (l *library) DropPassword(name string) bool {
	_, ok := l.passwords[name]
	delete(l.passwords, name)
	return ok
}

func (l *library) Passwords(context.Context) (list []reading.Password, err error) {
	for _, name := range slices.Sorted(maps.Keys(l.passwords)) {
		list = append(list, l.passwords[name])
	}
	return list, nil
}

func (l *library) Password(_ context.Context, h reading.Hash, fever bool) (reading.Password, error) {
	for _, p := range l.passwords {
		if h == p.Fever && fever || h == p.Hash && !fever {
			return p, nil
		}
	}
	return reading.Password{}, nil
}

func (l *library) KeepHubSubscription(s archive.HubSubscription) {
	l.hub[s.Callback+"\x00"+s.Topic] = s
}

func (l *library) DropHubSubscription(callback, topic string) { delete(l.hub, callback+"\x00"+topic) }

func (l *library) HubSubscriptions(context.Context) (list []archive.HubSubscription, err error) {
	for _, key := range slices.Sorted(maps.Keys(l.hub)) {
		list = append(list, l.hub[key])
	}
	return list, nil
}
