package archivetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// A household is an archive of two people.
type household struct {
	reading.Database
	owner, other *desk
}

func addPerson(t testing.TB, a reading.Database, name string) reading.PersonID {
	t.Helper()
	id, err := a.AddPerson(time.Unix(1, 0), name)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func newHousehold(t testing.TB, a reading.Database) *household {
	t.Helper()
	ann := addPerson(t, a, "Ann")
	Commit(t, a)
	return &household{a, deskOf(a, reading.Owner), deskOf(a, ann)}
}

// What one person marks, whoever it is, changes nothing for another.
func testMarksOfTwo(t *testing.T, a *household) {
	Follow(t, a, time.Unix(1, 0), news, otherNews)
	Keep(t, a, FeedRecord(news, 10), FeedRecord(otherNews, 11), FeedRecord(news, 12))
	a.Fill(time.Unix(20, 0), FeedRecords(news, 8, 9))
	Commit(t, a)
	untouched := func(d *desk) {
		t.Helper()
		WantIDs(t, d, all, 3, 2, 1)
		WantIDs(t, d, unread, 3, 2, 1)
		WantIDs(t, d, starred)
		WantIDs(t, d, reading.Stream{Changed: time.Unix(13, 0)})
		if n, err := d.Counts(t.Context()); err != nil || len(n) != 2 || n[0].Unread != 2 {
			t.Errorf("counts of another: %+v, %v", n, err)
		}
	}
	one, another := a.owner, a.other
	one.Mark(time.Unix(30, 0), []reading.ItemID{1, 3}, reading.Mark{Read: reading.Yes, Starred: reading.Yes})
	Commit(t, a)
	WantIDs(t, one, unread, 2)
	WantIDs(t, one, starred, 3, 1)
	untouched(another)
	one.MarkStream(time.Unix(40, 0), reading.Stream{Unlisted: true, Read: reading.Yes},
		reading.Mark{Read: reading.No}, 9)
	one.MarkStream(time.Unix(40, 0), starred, reading.Mark{Starred: reading.No}, 9)
	Commit(t, a)
	WantIDs(t, one, unread, 5, 4, 3, 2, 1)
	WantIDs(t, one, starred)
	WantIDs(t, one, reading.Stream{Changed: time.Unix(31, 0)}, 5, 4, 3, 1)
	untouched(another)
	for item, err := range another.Items(t.Context(), []reading.ItemID{1, 4}) {
		if err != nil || item.Starred || item.Read != (item.ID == 4) || item.Listed != (item.ID == 1) ||
			!item.Changed.Equal(item.Arrived) {
			t.Errorf("another has %+v, %v", item, err)
		}
	}
	one.MarkStream(time.Unix(50, 0), all, reading.Mark{Read: reading.Yes}, 9)
	one.Mark(time.Unix(50, 0), []reading.ItemID{4, 5}, reading.Mark{Read: reading.Yes})
	Commit(t, a)
	untouched(another)
	one.Mark(time.Unix(60, 0), []reading.ItemID{1, 2, 3}, reading.Mark{Read: reading.No})
	Commit(t, a)
	a.other.Mark(time.Unix(70, 0), []reading.ItemID{1, 2}, reading.Mark{Read: reading.Yes, Starred: reading.Yes})
	Commit(t, a)
	WantIDs(t, a.owner, unread, 3, 2, 1)
	WantIDs(t, a.owner, starred)
	Keep(t, a, FeedRecord(news, 80)) // is unread to both
	WantIDs(t, a.owner, unread, 6, 3, 2, 1)
	WantIDs(t, a.other, unread, 6, 3)
	wantSound(t, a.owner)
}

// Folders and titles are a person's: by no number does another reach them.
func testFoldersOfTwo(t *testing.T, a *household) {
	owner, other := a.owner, a.other
	Follow(t, a, time.Unix(1, 0), news)
	Keep(t, a, FeedRecord(news, 10))
	mine, theirs := "Mine", "Theirs"
	owner.Arrange([]reading.Arrangement{{URL: news, Name: &mine, Into: []string{"A", "B"}}})
	other.Arrange([]reading.Arrangement{{URL: news, Name: &theirs, Into: []string{"B", "C"}}})
	Commit(t, a)
	wantFolders(t, owner, "Mine [A B]")
	wantFolders(t, other, "Theirs [B C]")
	folders := folderIDs(t, owner)
	WantIDs(t, owner, reading.Stream{Folder: folders["A"]}, 1)
	WantIDs(t, other, reading.Stream{Folder: folders["A"]})
	if folders["B"] == folderIDs(t, other)["B"] {
		t.Error("two people have one folder")
	}
	other.RenameFolder(folders["A"], "Z")
	other.RenameFolder(folders["A"], "C")
	other.RemoveFolder(folders["B"])
	other.Arrange([]reading.Arrangement{{URL: news, Out: []string{"A", "B"}}})
	Commit(t, a)
	wantFolders(t, owner, "Mine [A B]")
	wantFolders(t, other, "Theirs [C]")
	id := feedID(t, other, news)
	if name, in, err := other.Filing(t.Context(), int64(id)); err != nil || fmt.Sprint(name, in) != "Theirs[C]" {
		t.Errorf("Filing = %q, %q, %v", name, in, err)
	}
	const heir feed.URL = "https://example.org/heir"
	Follow(t, a, time.Unix(1, 0), heir)
	a.Inherit(heir, news)
	Commit(t, a)
	wantFolders(t, owner, " []", "Mine [A B]")
	wantFolders(t, other, " []", "Theirs [C]")
}

// A new person finds of the latest that arrived some of each feed unread, and nothing else listed.
func testNewPerson(t *testing.T, a *household) {
	owner := a.owner
	Follow(t, a, time.Unix(1, 0), news, otherNews)
	Keep(t, a, FeedRecords(otherNews, 1, 10)...)
	Keep(t, a, FeedRecords(news, 1, 30)...)
	a.Fill(time.Unix(50, 0), FeedRecords(otherNews, 20, 25))
	owner.MarkStream(time.Unix(50, 0), all, reading.Mark{Read: reading.Yes}, 100)
	Commit(t, a)
	ben, err := a.AddPerson(time.Unix(60, 0), "Ben")
	if err != nil {
		t.Fatal(err)
	}
	Commit(t, a)
	third := deskOf(a, ben)
	var want []reading.ItemID
	for id := reading.ItemID(40); id > 20; id-- {
		want = append(want, id)
	}
	for id := reading.ItemID(10); id > 0; id-- {
		want = append(want, id)
	}
	WantIDs(t, third, unread, want...)
	WantIDs(t, third, all, want...)
	if n, err := third.Size(t.Context(), reading.Stream{Unlisted: true}); err != nil || n != 46 {
		t.Errorf("%d items, %v", n, err)
	}
	WantIDs(t, owner, unread)

	Keep(t, a, FeedRecords(news, 2000, 2000+reading.FirstLatest)...)
	cid, err := a.AddPerson(time.Unix(70, 0), "Cid")
	if err != nil {
		t.Fatal(err)
	}
	Commit(t, a)
	fourth := deskOf(a, cid)
	if n, err := fourth.Counts(t.Context()); err != nil || len(n) != 1 || n[0].Unread != archive.FirstUnread {
		t.Errorf("behind many of one feed: %+v, %v", n, err)
	}
	wantSound(t, owner)
}

// How much of what there is of a feed when somebody begins to follow it is unread to them they choose, whether its
// first poll brings it or it is there already. To all others it is as usual.
func testBacklogs(t *testing.T, a *household) {
	people, err := a.People(t.Context())
	if err != nil || len(people) != 2 {
		t.Fatalf("people: %+v, %v", people, err)
	}
	const many = archive.FirstUnread + 10
	Keep(t, a, FeedRecords(otherNews, 1, many)...)
	for i, c := range []struct {
		chosen archive.Backlog
		want   int
	}{
		{archive.UsualBacklog, archive.FirstUnread}, {archive.NoBacklog, 0}, {3, 3}, {many - 1, many - 1},
		{archive.WholeBacklog, many},
	} {
		polled := feed.URL(fmt.Sprintf("https://example.net/%d", i))
		there := feed.URL(fmt.Sprintf("https://example.org/%d", i))
		Keep(t, a, FeedRecords(there, 1, many)...)
		Keep(t, a, FeedRecords(there+"/hers", 1, many)...)
		for k, u := range []feed.URL{polled, there, polled + "/hers", there + "/hers"} {
			who, others, of := a.owner, a.other, int64(0)
			if k >= 2 {
				who, others, of = a.other, a.owner, int64(people[1].ID)
			}
			a.KeepFeed(archive.Feed{URL: u, Subscribed: true, Since: time.Unix(1, 0), Backlog: c.chosen, BacklogOf: of})
			Commit(t, a)
			if k%2 == 0 {
				Keep(t, a, FeedRecords(u, 1, many-5)...)
				Keep(t, a, FeedRecords(u, many-4, many)...)
			}
			s := reading.Stream{Feed: feedID(t, a.owner, u), Read: reading.No}
			mine, err := who.Size(t.Context(), s)
			theirs, failed := others.Size(t.Context(), s)
			if err != nil || failed != nil || mine != c.want || theirs != archive.FirstUnread {
				t.Errorf("backlog %s of %s: %d are unread to who chose, %v, and %d to another, %v", c.chosen, u, mine,
					err, theirs, failed)
			}
		}
	}
	wantSound(t, a.owner)
}

// What a person leaves out they read no more, and all others do.
func testLeaveOut(t *testing.T, a *household) {
	owner, other := a.owner, a.other
	Follow(t, a, time.Unix(1, 0), otherNews)
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, LastSuccess: time.Unix(1, 0)})
	Keep(t, a, FeedRecord(news, 1), FeedRecord(otherNews, 2), FeedRecord(news, 3))
	id := feedID(t, other, news)
	other.Mark(time.Unix(4, 0), []reading.ItemID{1}, reading.Mark{Read: reading.Yes, Starred: reading.Yes})
	other.LeaveOut(id)
	other.LeaveOut(99)
	Commit(t, a)
	Keep(t, a, FeedRecords(news, 10, 10+archive.FirstUnread)...)
	for _, s := range []reading.Stream{all, unread, {Unlisted: true}, {Changed: time.Unix(1, 0)}} {
		WantIDs(t, other, s, 2)
	}
	WantIDs(t, other, starred)
	WantIDs(t, other, reading.Stream{Feed: id})
	if n, err := other.Counts(t.Context()); err != nil || len(n) != 1 {
		t.Errorf("counts: %+v, %v", n, err)
	}
	m, err := feed.ParseMatch("title")
	if err != nil {
		t.Fatal(err)
	}
	if ids, err := other.Find(t.Context(), m, nil, 99); err != nil || len(ids) != 1 {
		t.Errorf("found %v, %v", ids, err)
	}
	for item, err := range other.Items(t.Context(), []reading.ItemID{1, 3}) {
		t.Errorf("%+v, %v of a feed that was left out", item, err)
	}
	wantFolders(t, other, " []")
	wantFolders(t, owner, " []", " []")
	wantReads(t, other, id, false)
	wantReads(t, owner, id, true)
	wantReads(t, owner, 99, false)
	if n, err := owner.Size(t.Context(), unread); err != nil || n != 4+archive.FirstUnread {
		t.Errorf("%d are unread to the owner, %v", n, err)
	}

	other.TakeIn(id, archive.UsualBacklog)
	other.TakeIn(id, archive.WholeBacklog) // which is there already
	other.TakeIn(99, 1)
	Commit(t, a)
	var want []reading.ItemID // the latest of what came, and what was unread before
	for i := reading.ItemID(4 + archive.FirstUnread); i > 4; i-- {
		want = append(want, i)
	}
	WantIDs(t, other, unread, append(want, 3, 2)...)
	WantIDs(t, other, starred, 1)
	wantReads(t, other, id, true)

	for i, b := range []archive.Backlog{archive.NoBacklog, 3} {
		before, err := other.Size(t.Context(), unread)
		other.LeaveOut(id)
		Commit(t, a)
		Keep(t, a, FeedRecords(news, 100*(i+1), 100*(i+1)+9)...)
		other.TakeIn(id, b)
		Commit(t, a)
		if n, failed := other.Size(t.Context(), unread); err != nil || failed != nil || n != before+b.Unread() {
			t.Errorf("with a backlog of %s %d are unread behind %d, %v, %v", b, n, before, err, failed)
		}
	}
	wantSound(t, owner)
}

func wantReads(t *testing.T, d *desk, id reading.FeedID, want bool) {
	t.Helper()
	if reads, err := d.Reads(t.Context(), int64(id)); err != nil || reads != want {
		t.Errorf("reads feed %d: %v, %v, want %v", id, reads, err, want)
	}
}

// With a person go their marks, a few at a time, and all that is theirs; and nothing of another's.
func testRemovePerson(t *testing.T, a *household) {
	owner, other := a.owner, a.other
	const ferries = "https://ferries.example/feed"
	Follow(t, a, time.Unix(1, 0), news)
	Follow(t, a, time.Unix(1, 0), ferries)
	Keep(t, a, FeedRecords(news, 1, 5)...)
	for _, d := range []*desk{owner, other} {
		d.Mark(time.Unix(9, 0), []reading.ItemID{2}, reading.Mark{Starred: reading.Yes})
		d.AddFolder("A")
	}
	other.LeaveOut(feedID(t, owner, news))
	Commit(t, a)
	people, err := a.People(t.Context())
	if err != nil || len(people) != 2 {
		t.Fatalf("people: %+v, %v", people, err)
	}
	ann := people[1].ID
	if got, err := a.Belongings(t.Context(), ann); err != nil || got != (reading.Belongings{Folders: 1, Starred: 1}) {
		t.Errorf("belongings, but for what is unread of a feed left out: %+v, %v", got, err)
	}
	// Whoever was hidden comes back as they were, and what arrives meanwhile comes to them, too.
	at := time.Unix(10, 0)
	isHidden := func(want ...reading.PersonID) {
		t.Helper()
		Commit(t, a)
		there, err := a.People(t.Context())
		if slices.ContainsFunc(there, func(p reading.Person) bool { return p.ID == ann }) != (len(want) == 0) {
			t.Errorf("there are %+v", there)
		}
		ids, err2 := a.HiddenPeople(t.Context(), at)
		before, err3 := a.HiddenPeople(t.Context(), at.Add(-time.Second))
		ahead, err4 := a.HiddenPeople(t.Context(), at.AddDate(-10, 0, 0)) // the clock was
		if err := errors.Join(err, err2, err3, err4); err != nil || !slices.Equal(ids, want) || len(before) != 0 ||
			!slices.Equal(ahead, want) {
			t.Errorf("hidden: %v, and before %v, %v, want %v", ids, before, err, want)
		}
	}
	a.HidePerson(at, ann)
	a.HidePerson(at, reading.Owner)
	isHidden(ann)
	Keep(t, a, FeedRecord(ferries, 1))
	if err := a.ShowPerson(reading.Person{ID: ann, Name: reading.OwnerName}); !errors.Is(err, reading.ErrPerson) {
		t.Errorf("by a name that is taken: %v", err)
	}
	if err := a.ShowPerson(people[1]); err != nil {
		t.Error(err)
	}
	if err := a.ShowPerson(reading.Person{ID: ann, Name: "another"}); !errors.Is(err, reading.ErrNobody) {
		t.Errorf("one who is not hidden: %v", err)
	}
	isHidden()
	if got, err := a.Belongings(t.Context(), ann); err != nil || got != (reading.Belongings{Folders: 1, Unread: 1,
		Starred: 1}) {
		t.Errorf("belongings of who came back: %+v, %v", got, err)
	}
	a.HidePerson(at, ann)
	steps := 1
	for a.RemovePerson(ann, 2) {
		Commit(t, a)
		steps++
	}
	a.RemovePerson(99, 2)
	a.RemovePerson(reading.Owner, 2)
	Commit(t, a)
	if steps != 4 {
		t.Errorf("removed in %d steps", steps)
	}
	if ids, err := a.HiddenPeople(t.Context(), at); err != nil || len(ids) != 0 {
		t.Errorf("still hidden: %v, %v", ids, err)
	}
	if people, err = a.People(t.Context()); err != nil || len(people) != 1 {
		t.Errorf("people: %+v, %v", people, err)
	}
	WantIDs(t, owner, starred, 2)
	WantIDs(t, owner, unread, 6, 5, 4, 3, 2, 1)
	Keep(t, a, FeedRecord(news, 6))
	if id, err := a.AddPerson(time.Unix(9, 0), "Ann"); err != nil || id <= ann {
		t.Errorf("another of that name has number %d, %v", id, err)
	}
	Commit(t, a)
	wantSound(t, owner)
}

// What somebody starred is purged for nobody, and what nobody starred for all.
func testStarsOfTwo(t *testing.T, a *household) {
	owner, other := a.owner, a.other
	Follow(t, a, time.Unix(1, 0), news)
	records := FeedRecords(news, 1, 4)
	Keep(t, a, records...)
	owner.Mark(time.Unix(9, 0), []reading.ItemID{1}, reading.Mark{Starred: reading.Yes})
	other.Mark(time.Unix(9, 0), []reading.ItemID{2}, reading.Mark{Starred: reading.Yes})
	Commit(t, a)
	if got := a.Purge(time.Unix(10, 0), archive.IDsOf(records)); fmt.Sprint(got) != "[false false true true]" {
		t.Errorf("Purge = %v", got)
	}
	Commit(t, a)
	WantIDs(t, owner, unread, 2, 1)
	WantIDs(t, other, unread, 2, 1)
	wantSound(t, owner)
}

func testPeople(t *testing.T, a reading.Database) {
	if _, err := a.AddPerson(time.Unix(1, 0), reading.OwnerName); !errors.Is(err, reading.ErrPerson) {
		t.Errorf("the owner's name: %v", err)
	}
	for i := 1; i < reading.MaxPeople; i++ {
		if _, err := a.AddPerson(time.Unix(int64(i), 0), fmt.Sprint("Ann ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.AddPerson(time.Unix(1, 0), "Zoe"); !errors.Is(err, reading.ErrPeople) {
		t.Errorf("one person too many: %v", err)
	}
	Commit(t, a)
	list, err := a.People(t.Context())
	if err != nil || len(list) != reading.MaxPeople || list[0] != (reading.Person{ID: reading.Owner, Name: "owner"}) ||
		list[2] != (reading.Person{ID: 3, Name: "Ann 2", Created: time.Unix(2, 0).UTC()}) {
		t.Errorf("people: %+v, %v", list, err)
	}
}
