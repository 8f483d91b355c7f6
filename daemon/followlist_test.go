package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/opml"
	"feedex/reading"
)

// filedList is a list of n feeds with titles, in five folders, behind one that is in a folder Tech.
func filedList(n int) []opml.Outline {
	list := []opml.Outline{{URL: "http://127.0.0.1:9/tech", Title: "Tech news", Folder: []string{"Tech"}, Line: 1}}
	feeds, _ := numbered(n)
	for i, f := range feeds {
		f.Line += 1
		f.Title, f.Folder = fmt.Sprint("Feed ", i), []string{fmt.Sprint("G", i%5)}
		list = append(list, f)
	}
	return list
}

// A folder that cannot be made is told, and costs its feeds neither their titles nor the others anything: of a list at
// the command line, and of one that a program or a page brings.
func TestFollowWithoutAFolder(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	if err := l.write(ctx, func(p reading.Pen) error {
		_, err := p.AddFilter(archive.Feed{}.Since, reading.FilterWish{Name: "Tech", Words: "xyz"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	list := filedList(120)
	got, err := Follow(ctx, serve(t, personal{l.host, l.library}), list, archive.UsualBacklog, func(int, int) {})
	want := []opml.Problem{{Line: 1, Name: "Tech", Reason: "the folder is not made, and its feeds are followed " +
		`without it: there is a filter named "Tech": choose another name`}}
	if err != nil || len(got.New) != len(list) || !slices.Equal(got.Problems, want) {
		t.Errorf("%d are followed, %v, problems %+v", len(got.New), err, got.Problems)
	}
	feeds, err := l.Subscriptions(ctx)
	if err != nil || len(feeds) != len(list) {
		t.Fatalf("%d are read, %v", len(feeds), err)
	}
	for _, f := range feeds {
		tech := f.URL == list[0].URL
		if tech && (f.Name != "Tech news" || len(f.Folders) > 0) ||
			!tech && (!strings.HasPrefix(f.Name, "Feed ") || len(f.Folders) != 1 || f.Folders[0].Name[0] != 'G') {
			t.Errorf("%s is followed as %q in %v", f.URL, f.Name, f.Folders)
		}
	}
	if err := l.Import(ctx, list); err != nil {
		t.Errorf("a program brings it: %v", err)
	}
	page, err := pagesLibrary{library: l.library}.Follow(ctx, list, archive.UsualBacklog)
	if err != nil || page.Added > 0 || !slices.Equal(page.Problems, want) {
		t.Errorf("a page brings it: %+v, %v", page, err)
	}
}

// Folders for which there is no room are told as well.
func TestFollowWithoutRoomForFolders(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	if err := l.write(ctx, func(p reading.Pen) error {
		for i := range reading.MaxFolders - 1 {
			p.AddFolder(fmt.Sprint("folder ", i))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	got, err := Follow(ctx, personal{l.host, l.library}, filedList(2), archive.UsualBacklog, func(int, int) {})
	if err != nil || len(got.New) != 3 || len(got.Problems) != 2 || got.Problems[1].Line != 3 ||
		!strings.HasSuffix(got.Problems[1].Reason, reading.ErrFolders.Error()) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A list titles also what is followed already, as after an import that was broken off, but for what a person titled.
func TestFollowTitlesWhatHasNone(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	list := filedList(2)
	own := "My own"
	if err := l.host.Subscribe(ctx, node.Subscribe{Feeds: []feed.URL{list[0].URL, list[1].URL}}); err != nil {
		t.Fatal(err)
	}
	if err := l.Arrange(ctx, reading.Arrangement{URL: list[0].URL, Name: &own}); err != nil {
		t.Fatal(err)
	}
	got, err := Follow(ctx, personal{l.host, l.library}, list, archive.UsualBacklog, func(int, int) {})
	if err != nil || len(got.New) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	feeds, err := l.Subscriptions(ctx)
	var names []string
	for _, f := range feeds {
		names = append(names, f.Name)
	}
	if want := []string{own, "Feed 0", "Feed 1"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("titles are %q, %v, want %q", names, err, want)
	}
}

// A committing is a database that has each called once something is durable.
type committing struct {
	reading.Database
	each func()
}

func (c committing) Commit() error {
	defer c.each()
	return c.Database.Commit()
}

// What is durably followed of a list is durably titled and filed: a process that is killed leaves no feed without.
func TestFollowedIsTitledAndFiled(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	if _, err := chore(ctx, l.host.loop, func() (bool, error) {
		l.host.store = committing{l.store, func() {
			feeds, err := l.store.Shelf(reading.Owner).Subscriptions(context.WithoutCancel(ctx))
			for _, f := range feeds {
				if f.Name == "" || len(f.Folders) != 1 {
					t.Errorf("%s is followed as %q in %v", f.URL, f.Name, f.Folders)
				}
			}
			if err != nil {
				t.Error(err)
			}
		}}
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	list := filedList(3)
	got, err := Follow(ctx, personal{l.host, l.library}, list, archive.UsualBacklog, func(int, int) {})
	if err != nil || len(got.New) != len(list) {
		t.Errorf("%+v, %v", got, err)
	}
}
