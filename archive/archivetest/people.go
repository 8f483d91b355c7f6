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

func newHousehold(t testing.TB, a reading.Database) *household {
	t.Helper()
	ann, err := a.AddPerson(time.Unix(1, 0), "Ann")
	if err != nil {
		t.Fatal(err)
	}
	commit(t, a)
	return &household{a, deskOf(a, reading.Owner), deskOf(a, ann)}
}

// What one person marks, whoever it is, changes nothing for another.
func testMarksOfTwo(t *testing.T, a *household) {
	follow(t, a, time.Unix(1, 0), news, otherNews)
	keep(t, a, feedRecord(news, 10), feedRecord(otherNews, 11), feedRecord(news, 12))
	a.Fill(time.Unix(20, 0), feedRecords(news, 8, 9))
	commit(t, a)
	untouched := func(d *desk) {
		t.Helper()
		wantIDs(t, d, all, 3, 2, 1)
		wantIDs(t, d, unread, 3, 2, 1)
		wantIDs(t, d, starred)
		wantIDs(t, d, reading.Stream{Changed: time.Unix(13, 0)})
		if n, err := d.Counts(t.Context()); err != nil || len(n) != 2 || n[0].Unread != 2 {
			t.Errorf("counts of another: %+v, %v", n, err)
		}
	}
	one, another := a.owner, a.other
	one.Mark(time.Unix(30, 0), []reading.ItemID{1, 3}, reading.Mark{Read: reading.Yes, Starred: reading.Yes})
	commit(t, a)
	wantIDs(t, one, unread, 2)
	wantIDs(t, one, starred, 3, 1)
	untouched(another)
	one.MarkStream(time.Unix(40, 0), reading.Stream{Unlisted: true, Read: reading.Yes},
		reading.Mark{Read: reading.No}, 9)
	one.MarkStream(time.Unix(40, 0), starred, reading.Mark{Starred: reading.No}, 9)
	commit(t, a)
	wantIDs(t, one, unread, 5, 4, 3, 2, 1)
	wantIDs(t, one, starred)
	wantIDs(t, one, reading.Stream{Changed: time.Unix(31, 0)}, 5, 4, 3, 1)
	untouched(another)
	for item, err := range another.Items(t.Context(), []reading.ItemID{1, 4}) {
		if err != nil || item.Starred || item.Read != (item.ID == 4) || item.Listed != (item.ID == 1) ||
			!item.Changed.Equal(item.Arrived) {
			t.Errorf("another has %+v, %v", item, err)
		}
	}
	one.MarkStream(time.Unix(50, 0), all, reading.Mark{Read: reading.Yes}, 9)
	one.Mark(time.Unix(50, 0), []reading.ItemID{4, 5}, reading.Mark{Read: reading.Yes})
	commit(t, a)
	untouched(another)
	one.Mark(time.Unix(60, 0), []reading.ItemID{1, 2, 3}, reading.Mark{Read: reading.No})
	commit(t, a)
	a.other.Mark(time.Unix(70, 0), []reading.ItemID{1, 2}, reading.Mark{Read: reading.Yes, Starred: reading.Yes})
	commit(t, a)
	wantIDs(t, a.owner, unread, 3, 2, 1)
	wantIDs(t, a.owner, starred)
	keep(t, a, feedRecord(news, 80)) // is unread to both
	wantIDs(t, a.owner, unread, 6, 3, 2, 1)
	wantIDs(t, a.other, unread, 6, 3)
	wantSound(t, a.owner)
}

// Folders and titles are a person's: by no number does another reach them.
func testFoldersOfTwo(t *testing.T, a *household) {
	owner, other := a.owner, a.other
	follow(t, a, time.Unix(1, 0), news)
	keep(t, a, feedRecord(news, 10))
	mine, theirs := "Mine", "Theirs"
	owner.Arrange([]reading.Arrangement{{URL: news, Name: &mine, Into: []string{"A", "B"}}})
	other.Arrange([]reading.Arrangement{{URL: news, Name: &theirs, Into: []string{"B", "C"}}})
	commit(t, a)
	wantFolders(t, owner, "Mine [A B]")
	wantFolders(t, other, "Theirs [B C]")
	folders := folderIDs(t, owner)
	wantIDs(t, owner, reading.Stream{Folder: folders["A"]}, 1)
	wantIDs(t, other, reading.Stream{Folder: folders["A"]})
	if folders["B"] == folderIDs(t, other)["B"] {
		t.Error("two people have one folder")
	}
	other.RenameFolder(folders["A"], "Z")
	other.RenameFolder(folders["A"], "C")
	other.RemoveFolder(folders["B"])
	other.Arrange([]reading.Arrangement{{URL: news, Out: []string{"A", "B"}}})
	commit(t, a)
	wantFolders(t, owner, "Mine [A B]")
	wantFolders(t, other, "Theirs [C]")
	id := feedID(t, other, news)
	if name, in, err := other.Filing(t.Context(), int64(id)); err != nil || fmt.Sprint(name, in) != "Theirs[C]" {
		t.Errorf("Filing = %q, %q, %v", name, in, err)
	}
	const heir feed.URL = "https://example.org/heir"
	follow(t, a, time.Unix(1, 0), heir)
	a.Inherit(heir, news)
	commit(t, a)
	wantFolders(t, owner, " []", "Mine [A B]")
	wantFolders(t, other, " []", "Theirs [C]")
}

// A new person finds of the latest that arrived some of each feed unread, and nothing else listed.
func testNewPerson(t *testing.T, a *household) {
	owner := a.owner
	follow(t, a, time.Unix(1, 0), news, otherNews)
	keep(t, a, feedRecords(otherNews, 1, 10)...)
	keep(t, a, feedRecords(news, 1, 30)...)
	a.Fill(time.Unix(50, 0), feedRecords(otherNews, 20, 25))
	owner.MarkStream(time.Unix(50, 0), all, reading.Mark{Read: reading.Yes}, 100)
	commit(t, a)
	ben, err := a.AddPerson(time.Unix(60, 0), "Ben")
	if err != nil {
		t.Fatal(err)
	}
	commit(t, a)
	third := deskOf(a, ben)
	var want []reading.ItemID
	for id := reading.ItemID(40); id > 20; id-- {
		want = append(want, id)
	}
	for id := reading.ItemID(10); id > 0; id-- {
		want = append(want, id)
	}
	wantIDs(t, third, unread, want...)
	wantIDs(t, third, all, want...)
	if n, err := third.Size(t.Context(), reading.Stream{Unlisted: true}); err != nil || n != 46 {
		t.Errorf("%d items, %v", n, err)
	}
	wantIDs(t, owner, unread)

	keep(t, a, feedRecords(news, 2000, 2000+reading.FirstLatest)...)
	cid, err := a.AddPerson(time.Unix(70, 0), "Cid")
	if err != nil {
		t.Fatal(err)
	}
	commit(t, a)
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
	keep(t, a, feedRecords(otherNews, 1, many)...)
	for i, c := range []struct {
		chosen archive.Backlog
		want   int
	}{
		{archive.UsualBacklog, archive.FirstUnread}, {archive.NoBacklog, 0}, {3, 3}, {many - 1, many - 1},
		{archive.WholeBacklog, many},
	} {
		polled := feed.URL(fmt.Sprintf("https://example.net/%d", i))
		there := feed.URL(fmt.Sprintf("https://example.org/%d", i))
		keep(t, a, feedRecords(there, 1, many)...)
		keep(t, a, feedRecords(there+"/hers", 1, many)...)
		for k, u := range []feed.URL{polled, there, polled + "/hers", there + "/hers"} {
			who, others, of := a.owner, a.other, int64(0)
			if k >= 2 {
				who, others, of = a.other, a.owner, int64(people[1].ID)
			}
			a.KeepFeed(archive.Feed{URL: u, Subscribed: true, Since: time.Unix(1, 0), Backlog: c.chosen, BacklogOf: of})
			commit(t, a)
			if k%2 == 0 {
				keep(t, a, feedRecords(u, 1, many-5)...)
				keep(t, a, feedRecords(u, many-4, many)...)
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
	follow(t, a, time.Unix(1, 0), otherNews)
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, LastSuccess: time.Unix(1, 0)})
	keep(t, a, feedRecord(news, 1), feedRecord(otherNews, 2), feedRecord(news, 3))
	id := feedID(t, other, news)
	other.Mark(time.Unix(4, 0), []reading.ItemID{1}, reading.Mark{Read: reading.Yes, Starred: reading.Yes})
	other.LeaveOut(id)
	other.LeaveOut(99)
	commit(t, a)
	keep(t, a, feedRecords(news, 10, 10+archive.FirstUnread)...)
	for _, s := range []reading.Stream{all, unread, {Unlisted: true}, {Changed: time.Unix(1, 0)}} {
		wantIDs(t, other, s, 2)
	}
	wantIDs(t, other, starred)
	wantIDs(t, other, reading.Stream{Feed: id})
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
	commit(t, a)
	var want []reading.ItemID // the latest of what came, and what was unread before
	for i := reading.ItemID(4 + archive.FirstUnread); i > 4; i-- {
		want = append(want, i)
	}
	wantIDs(t, other, unread, append(want, 3, 2)...)
	wantIDs(t, other, starred, 1)
	wantReads(t, other, id, true)

	for i, b := range []archive.Backlog{archive.NoBacklog, 3} {
		before, err := other.Size(t.Context(), unread)
		other.LeaveOut(id)
		commit(t, a)
		keep(t, a, feedRecords(news, 100*(i+1), 100*(i+1)+9)...)
		other.TakeIn(id, b)
		commit(t, a)
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
	follow(t, a, time.Unix(1, 0), news)
	follow(t, a, time.Unix(1, 0), ferries)
	keep(t, a, feedRecords(news, 1, 5)...)
	for _, d := range []*desk{owner, other} {
		d.Mark(time.Unix(9, 0), []reading.ItemID{2}, reading.Mark{Starred: reading.Yes})
		d.AddFolder("A")
	}
	other.LeaveOut(feedID(t, owner, news))
	commit(t, a)
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
		commit(t, a)
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
	keep(t, a, feedRecord(ferries, 1))
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
		commit(t, a)
		steps++
	}
	a.RemovePerson(99, 2)
	a.RemovePerson(reading.Owner, 2)
	commit(t, a)
	if steps != 4 {
		t.Errorf("removed in %d steps", steps)
	}
	if ids, err := a.HiddenPeople(t.Context(), at); err != nil || len(ids) != 0 {
		t.Errorf("still hidden: %v, %v", ids, err)
	}
	if people, err = a.People(t.Context()); err != nil || len(people) != 1 {
		t.Errorf("people: %+v, %v", people, err)
	}
	wantIDs(t, owner, starred, 2)
	wantIDs(t, owner, unread, 6, 5, 4, 3, 2, 1)
	keep(t, a, feedRecord(news, 6))
	if id, err := a.AddPerson(time.Unix(9, 0), "Ann"); err != nil || id <= ann {
		t.Errorf("another of that name has number %d, %v", id, err)
	}
	commit(t, a)
	wantSound(t, owner)
}

// What somebody starred is purged for nobody, and what nobody starred for all.
func testStarsOfTwo(t *testing.T, a *household) {
	owner, other := a.owner, a.other
	follow(t, a, time.Unix(1, 0), news)
	records := feedRecords(news, 1, 4)
	keep(t, a, records...)
	owner.Mark(time.Unix(9, 0), []reading.ItemID{1}, reading.Mark{Starred: reading.Yes})
	other.Mark(time.Unix(9, 0), []reading.ItemID{2}, reading.Mark{Starred: reading.Yes})
	commit(t, a)
	if got := a.Purge(time.Unix(10, 0), archive.IDsOf(records)); fmt.Sprint(got) != "[false false true true]" {
		t.Errorf("Purge = %v", got)
	}
	commit(t, a)
	wantIDs(t, owner, unread, 2, 1)
	wantIDs(t, other, unread, 2, 1)
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
	commit(t, a)
	list, err := a.People(t.Context())
	if err != nil || len(list) != reading.MaxPeople || list[0] != (reading.Person{ID: reading.Owner, Name: "owner"}) ||
		list[2] != (reading.Person{ID: 3, Name: "Ann 2", Created: time.Unix(2, 0).UTC()}) {
		t.Errorf("people: %+v, %v", list, err)
	}
}
