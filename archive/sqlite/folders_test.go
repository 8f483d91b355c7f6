package sqlite

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

func TestFolders(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news, otherNews)
	keep(t, s, feedRecord(news, 10), feedRecord(otherNews, 11))
	first, second := feedID(t, s, news), feedID(t, s, otherNews)
	title := "Mine"
	arrange := func(list ...reading.Arrangement) {
		t.Helper()
		if !s.Arrange(list) {
			t.Errorf("%+v was refused", list)
		}
	}
	arrange(
		reading.Arrangement{URL: news, Name: &title, Into: []string{"B", "A"}},
		reading.Arrangement{Feed: second, Into: []string{"A"}},
		reading.Arrangement{Feed: second, Into: []string{"C"}, Out: []string{"A", "Z"}},
		reading.Arrangement{Feed: 99, Into: []string{"D"}},
		reading.Arrangement{URL: "https://unknown.example.org/", Into: []string{"D"}})
	commit(t, s)
	wantFolders(t, s, "Mine [A B]", " [C]")
	folders := folderIDs(t, s)
	if len(folders) != 3 {
		t.Errorf("folders are %v", folders)
	}
	wantIDs(t, s, reading.Stream{Folder: folders["A"]}, 1)
	wantIDs(t, s, reading.Stream{Folder: folders["C"], Read: reading.No}, 2)
	wantIDs(t, s, reading.Stream{Folder: 99})

	s.RenameFolder(folders["C"], "D")
	s.RenameFolder(folders["A"], "D") // into the other
	s.RenameFolder(folders["B"], "B")
	s.RenameFolder(99, "E")
	commit(t, s)
	wantFolders(t, s, "Mine [B D]", " [D]")
	if got := folderIDs(t, s); got["D"] != folders["C"] || len(got) != 2 {
		t.Errorf("folders are %v", got)
	}
	none := ""
	arrange(reading.Arrangement{Feed: first, Name: &none})
	s.RemoveFolder(folders["C"])
	s.RemoveFolder(99)
	s.KeepFeed(archive.Feed{URL: news, Title: "New title", Subscribed: true})
	commit(t, s)
	wantFolders(t, s, " [B]", " []")
	if id, ok := s.AddFolder("A"); !ok || id <= folders["C"] { // ids are not used again
		t.Errorf("a new folder has number %d", id)
	}
	if id, ok := s.AddFolder("B"); !ok || id != folders["B"] {
		t.Errorf("the folder that is there is number %d", id)
	}
	commit(t, s)
	wantSound(t, s)
}

// A feed that takes the place of a page has its title, folders and limits, but for what the owner said of the feed
// itself.
func TestInherit(t *testing.T) {
	s := newStore(t)
	const page, known feed.URL = "https://page.example.org/", "https://known.example.org/feed"
	name, mine := "From the page", "Its own"
	s.KeepFeed(archive.Feed{URL: page, Subscribed: true})
	s.KeepFeed(archive.Feed{URL: known, Subscribed: true})
	arrange := func(list ...reading.Arrangement) {
		if !s.Arrange(list) {
			t.Fatal("no room")
		}
	}
	arrange(reading.Arrangement{URL: page, Name: &name, Into: []string{"A", "B"}},
		reading.Arrangement{URL: known, Name: &mine, Into: []string{"B", "C"}})
	bytes, age, count := int64(1000), time.Hour, int64(7)
	s.SetLimits(page, &bytes, &age, &count)
	s.SetLimits(known, nil, nil, &bytes)
	s.KeepFeed(archive.Feed{URL: page})
	s.Inherit(known, page)
	commit(t, s)
	wantFolders(t, s, "Its own [A B C]")
	bounds, err := s.FeedLimits(t.Context())
	if want := (archive.Limits{Bytes: 1000, Age: time.Hour, Count: 1000}); err != nil || len(bounds) != 1 ||
		bounds[0].URL != known || bounds[0].Limits != want {
		t.Errorf("bounds are %+v, %v", bounds, err)
	}

	// What is said of the page from then on is said of the feed that is in its place.
	s.KeepFeed(archive.Feed{URL: news, Subscribed: true, Page: page})
	arrange(reading.Arrangement{URL: page, Name: &name, Into: []string{"D"}})
	s.Inherit(news, "https://unknown.example.org/")
	s.Inherit("https://unknown.example.org/", news)
	commit(t, s)
	wantFolders(t, s, "Its own [A B C]", "From the page [D]")
	s.KeepFeed(archive.Feed{URL: page, Subscribed: true})
	arrange(reading.Arrangement{URL: page, Into: []string{"E"}})
	commit(t, s)
	wantFolders(t, s, " [E]", "Its own [A B C]", "From the page [D]")
	wantSound(t, s)
}

// wantFolders checks title and folders of each feed.
func wantFolders(t *testing.T, s *Store, want ...string) {
	t.Helper()
	list, err := s.Subscriptions(t.Context())
	var got []string
	for _, f := range list {
		names := []string{}
		for _, d := range f.Folders {
			names = append(names, d.Name)
		}
		got = append(got, fmt.Sprint(f.Name, " ", names))
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("subscriptions are %q, %v; want %q", got, err, want)
	}
}

func folderIDs(t *testing.T, s *Store) map[string]reading.FolderID {
	t.Helper()
	list, err := s.Folders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]reading.FolderID)
	for _, f := range list {
		ids[f.Name] = f.ID
	}
	return ids
}

func TestTooManyFolders(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news)
	for i := range reading.MaxFolders {
		s.AddFolder(fmt.Sprint(i))
	}
	title := "Title"
	list := []reading.Arrangement{{URL: news, Name: &title, Into: []string{"8"}},
		{URL: news, Into: []string{"7", "one more"}}}
	if s.Arrange(list) {
		t.Error("one folder too many was made")
	}
	if _, ok := s.AddFolder("another"); ok {
		t.Error("another one was made")
	}
	commit(t, s)
	wantFolders(t, s, " []") // nothing was done by half
	list[1].Into = []string{"7", "7", "8"}
	if !s.Arrange(list) {
		t.Error("folders that are there were refused")
	}
	commit(t, s)
	wantFolders(t, s, "Title [7 8]")
	if n := len(folderIDs(t, s)); n != reading.MaxFolders {
		t.Errorf("%d folders", n)
	}
}

func TestPasswords(t *testing.T) {
	s := newStore(t)
	at := time.Unix(7200, 0).UTC()
	phone := reading.NewPassword("phone", "00ff", at)
	if err := s.KeepPassword(phone); err != nil {
		t.Error(err)
	}
	if err := s.KeepPassword(reading.NewPassword("phone", "11ff", at)); !errors.Is(err, reading.ErrTaken) {
		t.Errorf("a name that is taken: %v", err)
	}
	s.UsePassword("phone", at.Add(90*time.Minute))
	s.EndSessions("phone")
	s.EndSessions("nobody")
	commit(t, s)
	phone.Used, phone.Epoch = at.Add(90*time.Minute), 1
	if list, err := s.Passwords(t.Context()); err != nil || !reflect.DeepEqual(list, []reading.Password{phone}) {
		t.Errorf("Passwords = %+v, %v", list, err)
	}
	for _, c := range []struct {
		hash  reading.Hash
		fever bool
		want  reading.Password
	}{
		{reading.HashOf("00ff\n"), false, phone},
		{reading.FeverHash("D66BFEB4C79B4D5F1C8A8FE9CC7CCC9D"), true, reading.Password{}},
		{reading.FeverHash(reading.FeverKey("phone", "00ff")), true, phone},
		{reading.HashOf("00ff"), true, reading.Password{}},
		{reading.HashOf("11ff"), false, reading.Password{}},
	} {
		if got, err := s.Password(t.Context(), c.hash, c.fever); err != nil || got != c.want {
			t.Errorf("Password(%x, %v) = %+v, %v", c.hash[:2], c.fever, got, err)
		}
	}
	if !s.DropPassword("phone") || s.DropPassword("phone") {
		t.Error("a password is dropped once")
	}
	commit(t, s)
	if got, err := s.Password(t.Context(), phone.Hash, false); err != nil || got != (reading.Password{}) {
		t.Errorf("a password that was dropped: %+v, %v", got, err)
	}
	for i := range reading.MaxPasswords {
		if err := s.KeepPassword(reading.NewPassword(fmt.Sprint(i), fmt.Sprint(i), at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.KeepPassword(phone); !errors.Is(err, reading.ErrPasswords) {
		t.Errorf("one password too many: %v", err)
	}
}
