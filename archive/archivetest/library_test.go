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
	"feedex/internal/when"
	"feedex/reading"
	"feedex/safehtml"
)

// A library is a second archive beside archive/sqlite: an archive.Memory with what its people read, mark and file,
// their passwords and the hub's subscriptions. It shows that the contract of these asks for nothing that SQL alone can
// do, and is made to be short.
type library struct {
	*archive.Memory
	followed  map[feed.URL]bool
	numbers   map[feed.URL]reading.FeedID
	urls      []feed.URL // by number, from 1
	items     []*item    // by ID, from 1; nil where there is none any more
	byEntry   map[feed.EntryID]*item
	people    map[reading.PersonID]*person
	lastCome  reading.PersonID                   // the latest person
	lastMade  reading.FolderID                   // the latest folder
	hidden    map[reading.PersonID]time.Time     // since when
	passwords map[string]reading.Password        // by name
	hub       map[string]archive.HubSubscription // by callback and topic
}

type item struct {
	id      reading.ItemID
	feed    feed.URL
	entry   feed.EntryID
	arrived time.Time
}

// A person has marks, titles, folders and a choice of feeds.
type person struct {
	reading.Person
	marks   map[reading.ItemID]mark
	names   map[reading.FeedID]string   // their own titles
	out     map[reading.FeedID]bool     // left out
	folders map[reading.FolderID]string // their names
	filed   map[[2]int64]bool           // a feed and a folder that it is in
}

// A mark is how a person has an item.
type mark struct {
	listed, read, starred bool
	changed               time.Time
}

// A libraryDesk is a library as one person has it.
type libraryDesk struct {
	*library
	*person
}

var (
	_ ItemArchive     = (*library)(nil)
	_ ItemDesk        = libraryDesk{}
	_ PasswordArchive = (*library)(nil)
	_ HubArchive      = (*library)(nil)
)

func newLibrary() *library {
	l := &library{
		Memory: archive.NewMemory(), followed: make(map[feed.URL]bool), numbers: make(map[feed.URL]reading.FeedID),
		byEntry: make(map[feed.EntryID]*item), people: make(map[reading.PersonID]*person),
		hidden: make(map[reading.PersonID]time.Time), passwords: make(map[string]reading.Password),
		hub: make(map[string]archive.HubSubscription),
	}
	l.AddPerson(time.Time{}, reading.OwnerName)
	return l
}

func TestLibrary(t *testing.T) {
	Run(t, func(testing.TB) Archive { return newLibrary() })
	RunItems(t, func(testing.TB) ItemArchive { return newLibrary() }, func(a ItemArchive, p reading.PersonID) ItemDesk {
		l := a.(*library)
		return libraryDesk{l, l.people[p]}
	})
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

// add makes an item of an entry that is none: news, unless it was filled in.
func (l *library) add(r *archive.Record, at time.Time, isNews func(*person) bool) {
	if l.byEntry[r.ID] != nil {
		return
	}
	x := &item{id: reading.ItemID(len(l.items) + 1), feed: r.Entry.Feed, entry: r.ID, arrived: archive.Second(at)}
	l.items, l.byEntry[r.ID] = append(l.items, x), x
	for _, p := range l.people {
		if isNews(p) && !p.out[l.numbers[x.feed]] {
			p.marks[x.id] = mark{listed: true}
		}
	}
}

// keep has records kept, and those that arrive made items.
func (l *library) keep(records []archive.Record, keep func([]archive.Record)) {
	keep(records)
	for i := range records {
		r := &records[i]
		l.number(r.Entry.Feed)
		if l.followed[r.Entry.Feed] && l.Known([]feed.EntryID{r.ID})[0].Kept() {
			l.add(r, r.Seen, func(*person) bool { return true })
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
	fresh := 0
	for i := range found {
		if found[i].Seq > 0 && !found[i].Source.IsZero() {
			fresh++
		}
	}
	for i := range found {
		if x := l.byEntry[found[i].ID]; x != nil && found[i].Seq > 0 && found[i].Source.IsZero() {
			fresh++
			for _, p := range l.people {
				if m := p.mark(x); fresh > p.unreadAtFirst(l.LoadFeed(u)) && !m.read && !m.starred {
					delete(p.marks, x.id)
				}
			}
		}
	}
}

// unreadAtFirst is how much of what there is of a feed when it is followed is unread to the person.
func (p *person) unreadAtFirst(f archive.Feed) int {
	if p.ID == cmp.Or(reading.PersonID(f.BacklogOf), reading.Owner) {
		return f.Backlog.Unread()
	}
	return archive.FirstUnread
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
			l.add(&r, at, func(*person) bool { return false })
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
		at := f.Since
		if at.IsZero() {
			at = r.Seen
		}
		l.add(&r, at, func(p *person) bool { return i < p.unreadAtFirst(f) && r.Seq > 0 })
	}
}

func (l *library) Purge(at time.Time, ids []feed.EntryID) []bool {
	dropped := make([]bool, len(ids))
	for i, id := range ids {
		x := l.byEntry[id]
		if x != nil && l.isStarred(x) {
			continue
		}
		if dropped[i] = l.Memory.Purge(at, ids[i:i+1])[0]; dropped[i] && x != nil {
			l.items[x.id-1] = nil
			delete(l.byEntry, id)
			for _, p := range l.people {
				delete(p.marks, x.id)
			}
		}
	}
	return dropped
}

func (l *library) isStarred(x *item) bool {
	for _, p := range l.people {
		if p.marks[x.id].starred {
			return true
		}
	}
	return false
}

func (l *library) Inherit(to, from feed.URL) {
	heir, gone := l.numbers[to], l.numbers[from]
	if heir == 0 || gone == 0 {
		return
	}
	for _, p := range l.people {
		p.names[heir], p.names[gone] = cmp.Or(p.names[heir], p.names[gone]), ""
		passes := p.out[gone] && !l.LoadFeed(to).Since.Before(l.LoadFeed(from).Since)
		p.out[heir], p.out[gone] = p.out[heir] || passes, false
		for id := range p.folders {
			if key := [2]int64{int64(gone), int64(id)}; p.filed[key] {
				delete(p.filed, key)
				p.filed[[2]int64{int64(heir), int64(id)}] = true
			}
		}
	}
}

func (l *library) Rename(at time.Time, from, to feed.URL, listed []feed.Entry) bool {
	if slices.ContainsFunc(l.items, func(x *item) bool { return x != nil && x.feed == to }) {
		return false
	}
	before, _ := l.Search(context.Background(), feed.Filter{Feed: from, Limit: math.MaxInt})
	if !l.Memory.Rename(at, from, to, listed) {
		return false
	}
	l.numbers[to], l.followed[to] = l.numbers[from], true
	l.urls[l.numbers[to]-1] = to
	delete(l.numbers, from)
	delete(l.followed, from)
	l.number(from)
	for _, r := range before {
		if x := l.byEntry[r.ID]; x != nil {
			delete(l.byEntry, r.ID)
			r.Entry.Feed = to
			x.feed, x.entry = to, r.Entry.EntryID()
			l.byEntry[x.entry] = x
		}
	}
	joined, _ := l.Search(context.Background(), feed.Filter{Feed: to, Limit: math.MaxInt})
	for _, r := range slices.Backward(joined) {
		l.add(&r, at, func(*person) bool { return false })
	}
	return true
}

func (l *library) AddPerson(at time.Time, name string) (reading.PersonID, error) {
	for _, p := range l.people {
		if p.Name == name {
			return 0, reading.ErrPerson
		}
	}
	if len(l.people) >= reading.MaxPeople {
		return 0, reading.ErrPeople
	}
	l.lastCome++
	p := &person{Person: reading.Person{ID: l.lastCome, Name: name, Created: archive.Second(at)},
		marks: make(map[reading.ItemID]mark), names: make(map[reading.FeedID]string),
		out: make(map[reading.FeedID]bool), folders: make(map[reading.FolderID]string), filed: make(map[[2]int64]bool)}
	l.people[p.ID] = p
	found, _ := l.Search(context.Background(), feed.Filter{Limit: math.MaxInt})
	unread := make(map[feed.URL]int)
	for i, latest := 0, 0; i < len(found) && latest < reading.FirstLatest; i++ {
		x := l.byEntry[found[i].ID]
		if x == nil || found[i].Seq < 0 {
			continue
		}
		if latest++; l.followed[x.feed] && unread[x.feed] < archive.FirstUnread {
			unread[x.feed]++
			p.marks[x.id] = mark{listed: true}
		}
	}
	return p.ID, nil
}

func (l *library) HidePerson(at time.Time, id reading.PersonID) {
	if p := l.people[id]; p != nil && id != reading.Owner {
		l.hidden[id], p.Name = at, "" // a name that nobody has
		maps.DeleteFunc(l.passwords, func(_ string, x reading.Password) bool { return x.Person == id })
	}
}

func (l *library) ShowPerson(p reading.Person) error {
	if people, _ := l.People(context.Background()); slices.ContainsFunc(people, func(x reading.Person) bool {
		return x.Name == p.Name
	}) {
		return reading.ErrPerson
	}
	if l.hidden[p.ID].IsZero() {
		return reading.ErrNobody
	}
	l.people[p.ID].Name = p.Name
	delete(l.hidden, p.ID)
	return nil
}

func (l *library) HiddenPeople(_ context.Context, upTo time.Time) (ids []reading.PersonID, err error) {
	for _, id := range slices.Sorted(maps.Keys(l.hidden)) {
		if when.Due(upTo, l.hidden[id], reading.RemovedFor) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (l *library) RemovePerson(id reading.PersonID, limit int) (more bool) {
	p := l.people[id]
	if p == nil || id == reading.Owner {
		return false
	}
	maps.DeleteFunc(l.passwords, func(_ string, x reading.Password) bool { return x.Person == id })
	clear(p.folders)
	clear(p.names)
	for i := range p.marks {
		if limit--; limit < 0 {
			break
		}
		delete(p.marks, i)
	}
	if limit > 0 {
		delete(l.people, id)
		delete(l.hidden, id)
	}
	return limit <= 0
}

func (l *library) People(context.Context) (list []reading.Person, err error) {
	for _, id := range slices.Sorted(maps.Keys(l.people)) {
		if l.hidden[id].IsZero() {
			list = append(list, l.people[id].Person)
		}
	}
	return list, nil
}

func (l *library) Belongings(_ context.Context, id reading.PersonID) (b reading.Belongings, err error) {
	p := l.people[id]
	if p == nil {
		return b, nil
	}
	for id, m := range p.marks {
		if !m.read && (libraryDesk{l, p}).reads(l.items[id-1].feed) {
			b.Unread++
		}
		if m.starred {
			b.Starred++
		}
	}
	for _, x := range l.passwords {
		if x.Person == id {
			b.Passwords++
		}
	}
	b.Folders = len(p.folders)
	return b, nil
}

// mark is how a person has an item.
func (p *person) mark(x *item) mark {
	m, ok := p.marks[x.id]
	if !ok {
		m.read = true
	}
	if m.changed.IsZero() {
		m.changed = x.arrived
	}
	return m
}

// reads reports whether a person reads a feed.
func (l libraryDesk) reads(u feed.URL) bool { return l.followed[u] && !l.out[l.numbers[u]] }

func (l libraryDesk) LeaveOut(id reading.FeedID) {
	if id >= 1 && int(id) <= len(l.urls) {
		l.out[id] = true
	}
}

func (l libraryDesk) TakeIn(id reading.FeedID, b archive.Backlog) {
	if !l.out[id] {
		return
	}
	delete(l.out, id)
	if b.Unread() == 0 {
		return // for no limit a search has one of its own
	}
	found, _ := l.Search(context.Background(), feed.Filter{Feed: l.urls[id-1], Limit: b.Unread()})
	for i := range found {
		if x := l.byEntry[found[i].ID]; x != nil && found[i].Seq > 0 {
			if _, ok := l.marks[x.id]; !ok {
				l.marks[x.id] = mark{listed: true}
			}
		}
	}
}

// in reports whether an item is in a stream.
func (l libraryDesk) in(s *reading.Stream, x *item) bool {
	is := func(c reading.Choice, value bool) bool { return c == reading.Either || (c == reading.Yes) == value }
	number, m := l.numbers[x.feed], l.mark(x)
	switch {
	case !l.reads(x.feed), s.NoSecrets && x.feed.Secret(), s.Among != nil && !slices.Contains(s.Among, x.id),
		s.Feed != 0 && s.Feed != number,
		s.Folder != 0 && !l.filed[[2]int64{int64(number), int64(s.Folder)}],
		!is(s.Read, m.read), !is(s.Starred, m.starred),
		!s.Since.IsZero() && x.arrived.Before(s.Since), !s.Until.IsZero() && !x.arrived.Before(s.Until):
		return false
	case !s.Changed.IsZero():
		return m.listed && !x.arrived.Before(s.Changed) || m.changed.After(x.arrived) && !m.changed.Before(s.Changed)
	}
	return m.listed || s.Unlisted || s.Starred == reading.Yes
}

// stream are the items of a stream, the oldest first.
func (l libraryDesk) stream(s reading.Stream) (list []*item) {
	for _, x := range l.items {
		if x != nil && l.in(&s, x) {
			list = append(list, x)
		}
	}
	return list
}

// turn marks an item, and reports whether that changed it.
func (p *person) turn(x *item, at time.Time, to reading.Mark) bool {
	before := p.mark(x)
	m := before
	m.read = to.Read == reading.Yes || to.Read == reading.Either && m.read
	m.starred = to.Starred == reading.Yes || to.Starred == reading.Either && m.starred
	m.listed = m.listed || before.read && !m.read
	if m == before {
		return false
	}
	m.changed = archive.Second(at)
	p.marks[x.id] = m
	return true
}

func (l libraryDesk) Mark(at time.Time, ids []reading.ItemID, m reading.Mark) {
	for _, id := range ids {
		if id > 0 && int(id) <= len(l.items) && l.items[id-1] != nil {
			l.turn(l.items[id-1], at, m)
		}
	}
}

func (l libraryDesk) MarkStream(at time.Time, s reading.Stream, m reading.Mark, limit int) (more bool) {
	for _, x := range l.stream(s) {
		if l.turn(x, at, m) {
			limit--
		}
		if limit == 0 {
			return true
		}
	}
	return false
}

func (l libraryDesk) Size(_ context.Context, s reading.Stream) (int, error) {
	return len(l.stream(s)), nil
}

func (l libraryDesk) IDs(_ context.Context, s reading.Stream, p reading.Page) ([]reading.ItemID, error) {
	ids := []reading.ItemID{}
	above, below := p.Before, p.After
	if p.Oldest {
		above, below = p.After, p.Before
	}
	for _, x := range l.stream(s) {
		if x.id > above && (below == 0 || x.id < below) {
			ids = append(ids, x.id)
		}
	}
	if !p.Oldest {
		slices.Reverse(ids)
	}
	return ids[:min(len(ids), max(p.Limit, 0))], nil
}

func (l libraryDesk) Counts(context.Context) (list []reading.UnreadCount, err error) {
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

func (l libraryDesk) Find(ctx context.Context, m feed.Match, of []reading.FeedID, limit int) ([]reading.ItemID, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f := feed.Filter{Limit: math.MaxInt}
	f.Ask(m)
	found, err := l.Search(ctx, f)
	ids := []reading.ItemID{}
	for _, r := range found {
		x := l.byEntry[r.ID]
		if x != nil && l.reads(x.feed) && (len(of) == 0 || slices.Contains(of, l.numbers[x.feed])) &&
			len(ids) < limit {
			ids = append(ids, x.id)
		}
	}
	slices.Sort(ids)
	return ids, err
}

func (l libraryDesk) Items(ctx context.Context, ids []reading.ItemID) iter.Seq2[reading.Item, error] {
	return func(yield func(reading.Item, error) bool) {
		for _, id := range ids {
			if id < 1 || int(id) > len(l.items) || l.items[id-1] == nil || !l.reads(l.items[id-1].feed) {
				continue
			}
			x := l.items[id-1]
			found, err := l.Search(ctx, feed.Filter{IDs: []feed.EntryID{x.entry}})
			if err != nil {
				yield(reading.Item{}, err)
				return
			}
			r, m := &found[0], l.mark(x)
			safehtml.Entry(&r.Entry)
			if !yield(reading.Item{
				ID: id, Feed: l.numbers[x.feed], Arrived: x.arrived, Listed: m.listed, Read: m.read, Starred: m.starred,
				Changed: m.changed, EntryID: r.ID, Entry: r.Entry, Time: r.Time(), Confirmed: r.Confirmed,
			}, nil) {
				return
			}
		}
	}
}

func (l libraryDesk) Subscriptions(context.Context) (list []reading.FollowedFeed, err error) {
	for _, f := range l.LoadFeeds() {
		if !l.reads(f.URL) {
			continue
		}
		id := l.numbers[f.URL]
		unread := l.stream(reading.Stream{Feed: id, Read: reading.No})
		list = append(list, reading.FollowedFeed{Unread: len(unread),
			ID: id, URL: f.URL, Name: l.names[id], Title: safehtml.Label(f.Title), Site: safehtml.Link(f.Link),
			Since: f.Since, Errors: f.Errors, Error: safehtml.Label(f.LastError), Polled: f.LastPoll,
			Folders: l.foldersOf(id),
		})
	}
	slices.SortFunc(list, func(a, b reading.FollowedFeed) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

func (l libraryDesk) foldersOf(id reading.FeedID) (list []reading.Folder) {
	all, _ := l.Folders(context.Background())
	return slices.DeleteFunc(all, func(f reading.Folder) bool { return !l.filed[[2]int64{int64(id), int64(f.ID)}] })
}

func (l libraryDesk) Folders(context.Context) (list []reading.Folder, err error) {
	for id, name := range l.folders {
		list = append(list, reading.Folder{ID: id, Name: name})
	}
	slices.SortFunc(list, func(a, b reading.Folder) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (l libraryDesk) Arrange(list []reading.Arrangement) bool {
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
		to := l.LoadFeed(a.URL).Became // the URL of a page is that of its feed
		if a.Feed == 0 && l.followed[to] && !l.followed[a.URL] {
			id = l.numbers[to]
		}
		if id < 1 || int(id) > len(l.urls) {
			continue
		}
		if a.Name != nil {
			l.names[id] = *a.Name
		}
		if u := l.urls[id-1]; a.Listed != "" && l.LoadFeed(u).Title != a.Listed {
			l.names[id] = cmp.Or(l.names[id], a.Listed)
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
func (l libraryDesk) named(name string) reading.FolderID {
	for id, of := range l.folders {
		if of == name {
			return id
		}
	}
	return 0
}

func (l libraryDesk) AddFolder(name string) (reading.FolderID, bool) {
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

func (l libraryDesk) RenameFolder(id reading.FolderID, name string) {
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

func (l libraryDesk) RemoveFolder(id reading.FolderID) {
	delete(l.folders, id)
	maps.DeleteFunc(l.filed, func(key [2]int64, _ bool) bool { return key[1] == int64(id) })
}

func (l libraryDesk) FeedID(_ context.Context, u feed.URL) (reading.FeedID, error) {
	return l.numbers[u], nil
}

func (l libraryDesk) FeedOf(_ context.Context, id reading.FeedID) (feed.URL, error) {
	if id < 1 || int(id) > len(l.urls) {
		return "", nil
	}
	return l.urls[id-1], nil
}

func (l libraryDesk) Titles(_ context.Context, feeds []feed.URL) (map[feed.URL]reading.FeedTitle, error) {
	titles := make(map[feed.URL]reading.FeedTitle)
	for _, f := range l.LoadFeeds() {
		if slices.Contains(feeds, f.URL) {
			id := l.numbers[f.URL]
			titles[f.URL] = reading.FeedTitle{Feed: id, Text: cmp.Or(l.names[id], f.Title)}
		}
	}
	return titles, nil
}

func (l libraryDesk) Filing(_ context.Context, number int64) (name string, folders []string, err error) {
	for _, f := range l.foldersOf(reading.FeedID(number)) {
		folders = append(folders, f.Name)
	}
	return l.names[reading.FeedID(number)], folders, nil
}

func (l libraryDesk) Reads(ctx context.Context, number int64) (bool, error) {
	list, err := l.Subscriptions(ctx)
	return slices.ContainsFunc(list, func(f reading.FollowedFeed) bool { return int64(f.ID) == number }), err
}

func (l *library) KeepPassword(p reading.Password) error {
	if _, ok := l.passwords[p.Name]; ok {
		return reading.ErrTaken
	}
	if len(l.passwords) >= reading.MaxPasswords {
		return reading.ErrPasswords
	}
	if l.people[p.Person] == nil || !l.hidden[p.Person].IsZero() {
		return reading.ErrNobody
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
