package archivetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

func testFolders(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), news, otherNews)
	Keep(t, a, FeedRecord(news, 10), FeedRecord(otherNews, 11))
	first, second := feedID(t, a, news), feedID(t, a, otherNews)
	title := "Mine"
	arrange := func(list ...reading.Arrangement) {
		t.Helper()
		if !a.Arrange(list) {
			t.Errorf("%+v was refused", list)
		}
	}
	arrange(
		reading.Arrangement{URL: news, Name: &title, Into: []string{"B", "A"}},
		reading.Arrangement{Feed: second, Into: []string{"A"}},
		reading.Arrangement{Feed: second, Into: []string{"C"}, Out: []string{"A", "Z"}},
		reading.Arrangement{Feed: 99, Into: []string{"D"}},
		reading.Arrangement{URL: "https://unknown.example.org/", Into: []string{"D"}})
	Commit(t, a)
	wantFolders(t, a, "Mine [A B]", " [C]")
	folders := folderIDs(t, a)
	if len(folders) != 3 {
		t.Errorf("folders are %v", folders)
	}
	WantIDs(t, a, reading.Stream{Folder: folders["A"]}, 1)
	WantIDs(t, a, reading.Stream{Folder: folders["C"], Read: reading.No}, 2)
	WantIDs(t, a, reading.Stream{Folder: 99})

	a.RenameFolder(folders["C"], "D")
	a.RenameFolder(folders["A"], "D") // into the other
	a.RenameFolder(folders["B"], "B")
	a.RenameFolder(99, "E")
	Commit(t, a)
	wantFolders(t, a, "Mine [B D]", " [D]")
	if got := folderIDs(t, a); got["D"] != folders["C"] || len(got) != 2 {
		t.Errorf("folders are %v", got)
	}
	none := ""
	arrange(reading.Arrangement{Feed: first, Name: &none})
	a.RemoveFolder(folders["C"])
	a.RemoveFolder(99)
	a.KeepFeed(archive.Feed{URL: news, Title: "New title", Subscribed: true})
	Commit(t, a)
	wantFolders(t, a, " [B]", " []")
	if id, ok := a.AddFolder("A"); !ok || id <= folders["C"] { // ids are not used again
		t.Errorf("a new folder has number %d", id)
	}
	if id, ok := a.AddFolder("B"); !ok || id != folders["B"] {
		t.Errorf("the folder that is there is number %d", id)
	}
	Commit(t, a)
	wantSound(t, a)
}

// The title that a list has for a feed is that to a person who gave it none; what its publisher calls it is nobody's.
func testListed(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), news, otherNews)
	a.KeepFeed(archive.Feed{URL: otherNews, Title: "Published", Subscribed: true})
	name := "Mine"
	for _, step := range []struct{ list, of, published string }{
		{"Listed", "Listed", "Listed"}, {"Published", "Listed", ""}, {"Listed anew", "Listed", "Listed anew"},
	} {
		if !a.Arrange([]reading.Arrangement{{URL: news, Listed: step.list}, {URL: otherNews, Listed: step.list}}) {
			t.Fatal("no room")
		}
		Commit(t, a)
		wantFolders(t, a, step.of+" []", step.published+" []")
		none := ""
		a.Arrange([]reading.Arrangement{{URL: otherNews, Name: &none}})
	}
	a.Arrange([]reading.Arrangement{{URL: news, Name: &name}})
	a.Arrange([]reading.Arrangement{{URL: news, Listed: "Listed"}})
	Commit(t, a)
	wantFolders(t, a, "Mine []", " []")
	wantSound(t, a)
}

// A feed that takes the place of a page has its title and folders, but for what the owner said of the feed
// itself.
func testInherit(t *testing.T, a *desk) {
	const page, known feed.URL = "https://page.example.org/", "https://known.example.org/feed"
	name, mine := "From the page", "Its own"
	a.KeepFeed(archive.Feed{URL: page, Subscribed: true})
	a.KeepFeed(archive.Feed{URL: known, Subscribed: true})
	arrange := func(list ...reading.Arrangement) {
		if !a.Arrange(list) {
			t.Fatal("no room")
		}
	}
	arrange(reading.Arrangement{URL: page, Name: &name, Into: []string{"A", "B"}},
		reading.Arrangement{URL: known, Name: &mine, Into: []string{"B", "C"}})
	a.KeepFeed(archive.Feed{URL: page})
	a.Inherit(known, page)
	Commit(t, a)
	wantFolders(t, a, "Its own [A B C]")

	// Arrangements of the page from then on are those of the feed that is in its place.
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Page: page})
	a.KeepFeed(archive.Feed{URL: page, Became: news})
	arrange(reading.Arrangement{URL: page, Name: &name, Into: []string{"D"}})
	a.Inherit(news, "https://unknown.example.org/")
	a.Inherit("https://unknown.example.org/", news)
	Commit(t, a)
	wantFolders(t, a, "Its own [A B C]", "From the page [D]")
	a.KeepFeed(archive.Feed{URL: page, Subscribed: true, Names: `[{"url":"https://example.com/a"}]`})
	arrange(reading.Arrangement{URL: page, Into: []string{"E"}})
	Commit(t, a)
	wantFolders(t, a, " [E] to choose", "Its own [A B C]", "From the page [D]")
	wantSound(t, a)
}

// wantFolders checks title and folders of each feed, and whether it is one to choose.
func wantFolders(t *testing.T, a *desk, want ...string) {
	t.Helper()
	list, err := a.Subscriptions(t.Context())
	var got []string
	for _, f := range list {
		text := fmt.Sprint(f.Name, " ", f.FolderNames())
		if f.Choose {
			text += " to choose"
		}
		got = append(got, text)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("subscriptions are %q, %v; want %q", got, err, want)
	}
}

func folderIDs(t *testing.T, a *desk) map[string]reading.FolderID {
	t.Helper()
	list, err := a.Folders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]reading.FolderID)
	for _, f := range list {
		ids[f.Name] = f.ID
	}
	return ids
}

func testTooManyFolders(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), news)
	for i := range reading.MaxFolders {
		a.AddFolder(fmt.Sprint(i))
	}
	title := "Title"
	list := []reading.Arrangement{{URL: news, Name: &title, Into: []string{"8"}},
		{URL: news, Into: []string{"7", "one more"}}}
	if a.Arrange(list) {
		t.Error("one folder too many was made")
	}
	if _, ok := a.AddFolder("another"); ok {
		t.Error("another one was made")
	}
	Commit(t, a)
	wantFolders(t, a, " []") // nothing was done by half
	list[1].Into = []string{"7", "7", "8"}
	if !a.Arrange(list) {
		t.Error("folders that are there were refused")
	}
	Commit(t, a)
	wantFolders(t, a, "Title [7 8]")
	if n := len(folderIDs(t, a)); n != reading.MaxFolders {
		t.Errorf("%d folders", n)
	}
}
