package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/opml"
	"feedex/polling"
	"feedex/protocol"
	"feedex/reading"
)

// A testLibrary is that of a host of which only the loop runs, with an archive on disk.
type testLibrary struct {
	*library
	t     *testing.T
	store reading.Database
	path  string
	end   func()
}

// openLibrary opens the library in the file at path until the test ends.
func openLibrary(t *testing.T, path string) *testLibrary {
	t.Helper()
	store := ondisk.MustOpen(t, path)
	c := Config{Node: node.Config{AllowLocal: true, Policy: polling.Fixed{Every: time.Hour}}}
	c.Node.Secret = make([]byte, 32)
	keeping, err := store.Housekeeper()
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(c.withDefaults(), store, keeping, peers(friendly), unreachable{})
	if err := h.revive(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { h.loop(ctx) })
	end := sync.OnceFunc(func() {
		cancel()
		running.Wait()
		h.workers.Wait()
		if err := errors.Join(keeping.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return &testLibrary{&library{store, h}, t, store, path, end}
}

func newLibrary(t *testing.T) *testLibrary {
	return openLibrary(t, filepath.Join(t.TempDir(), "feedex.db"))
}

// reopen is the library of the same archive after the end of this one.
func (l *testLibrary) reopen() *testLibrary {
	l.end()
	return openLibrary(l.t, l.path)
}

// arrive has n entries of a feed arrive.
func (l *testLibrary) arrive(u feed.URL, n int) {
	l.t.Helper()
	_, err := chore(l.t.Context(), l.host, func() (bool, error) {
		for i := range n {
			e := feed.Entry{Feed: u, ID: fmt.Sprint(i), Title: fmt.Sprint("title ", i)}
			l.store.Keep([]archive.Record{archive.NewRecord(e, time.Unix(int64(i), 0), protocol.NodeID{})})
		}
		return true, l.store.Commit()
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *testLibrary) wantSize(what string, s reading.Stream, want int) {
	l.t.Helper()
	if n, err := l.Size(l.t.Context(), s); err != nil || n != want {
		l.t.Errorf("%s: %d items, %v; want %d", what, n, err, want)
	}
}

var (
	unread  = reading.Stream{Read: reading.No}
	starred = reading.Stream{Starred: reading.Yes}
)

// What a program says is there when it has its answer, and after a restart.
func TestLibrary(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	id, err := l.Subscribe(ctx, exampleFeed)
	if err != nil || id == 0 {
		t.Fatalf("Subscribe = %d, %v", id, err)
	}
	if again, err := l.Subscribe(ctx, exampleFeed); again != id || err != nil {
		t.Errorf("Subscribe again = %d, %v", again, err)
	}
	const n = 2*markStep + 10
	l.arrive(exampleFeed, n)
	l.wantSize("unread", unread, n)
	title := " My\n title "
	for what, err := range map[string]error{
		"Mark": l.Mark(ctx, []reading.ItemID{1, 2, 3, 1 << 40}, reading.Mark{Starred: reading.Yes}),
		"MarkStream": l.MarkStream(ctx, reading.Stream{}.Before(time.Unix(n-11, 0)),
			reading.Mark{Read: reading.Yes}),
		"Arrange":         l.Arrange(ctx, reading.Arrangement{Feed: id, Name: &title, Into: []string{" A \n b"}}),
		"Arrange nothing": l.Arrange(ctx),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	folder, err := l.AddFolder(ctx, "A b")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.RenameFolder(ctx, folder, "C"); err != nil {
		t.Fatal(err)
	}
	secret, err := l.host.AddPassword(ctx, "phone")
	if err != nil || len(secret) != 2*reading.SecretBytes {
		t.Fatalf("password %q, %v", secret, err)
	}

	l = l.reopen()
	l.wantSize("starred", starred, 3)
	l.wantSize("unread", unread, 10)
	list, err := l.Subscriptions(ctx)
	if err != nil || len(list) != 1 || list[0].Name != "My title" ||
		!slices.Equal(list[0].Folders, []reading.Folder{{ID: folder, Name: "C"}}) {
		t.Errorf("Subscriptions = %+v, %v", list, err)
	}
	for _, c := range []struct {
		password, fever, want string
	}{{secret, reading.FeverKey("phone", secret), "phone"}, {"", "", ""}, {"x", "x", ""}} {
		user, err1 := l.User(ctx, c.password)
		fever, err2 := l.FeverUser(ctx, c.fever)
		if user != c.want || fever != c.want || err1 != nil || err2 != nil {
			t.Errorf("%q lets in %q and %q, %v, %v", c.password, user, fever, err1, err2)
		}
	}
	if known, err := l.Passwords(ctx); err != nil || len(known) != 1 || known[0].Used.Before(known[0].Created) {
		t.Errorf("passwords are %+v, %v", known, err)
	}
	if err := errors.Join(l.RemoveFolder(ctx, folder), l.Unsubscribe(ctx, id), l.Unsubscribe(ctx, 99),
		l.host.RemovePassword(ctx, "phone")); err != nil {
		t.Error(err)
	}
	l.wantSize("after nothing is followed", reading.Stream{}, 0)
	if user, err := l.User(ctx, secret); user != "" || err != nil {
		t.Errorf("the password that was removed lets in %q, %v", user, err)
	}
}

// A list is followed as it is titled and filed; once the publisher has named a feed so, that is no title of the
// owner's.
func TestLibraryImport(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	list := []opml.Feed{
		{URL: exampleFeed, Title: "Its own", Folder: []string{"A", " "}},
		{URL: "http://example.com/other", Title: "Another", Folder: []string{"A", "B"}},
		{URL: exampleFeed, Folder: []string{"C"}},
		{URL: "http://example.com/third"},
	}
	if err := l.Import(ctx, list); err != nil {
		t.Fatal(err)
	}
	list[1].Title, list[1].Folder = "changed", []string{"D"}
	if err := l.Import(ctx, list[1:2]); err != nil {
		t.Fatal(err)
	}
	_, err := chore(ctx, l.host, func() (bool, error) {
		l.store.KeepFeed(archive.Feed{URL: exampleFeed, Title: "Its own", Subscribed: true})
		return true, l.store.Commit()
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	subscriptions, err := l.Subscriptions(ctx)
	for _, s := range subscriptions {
		var names []string
		for _, f := range s.Folders {
			names = append(names, f.Name)
		}
		got = append(got, fmt.Sprintf("%s %q %q", s.URL, s.Name, names))
	}
	want := []string{
		`http://example.com/feed "" ["A" "C"]`, `http://example.com/other "Another" ["A › B" "D"]`,
		`http://example.com/third "" []`,
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("subscriptions are %q, %v; want %q", got, err, want)
	}
}

// What cannot be is refused with a reason, and nothing of it is done.
func TestLibraryRefuses(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	id, err := l.Subscribe(ctx, exampleFeed)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Arrange(ctx, reading.Arrangement{Feed: id, Into: []string{"A", " \n"}}); !errors.Is(err,
		reading.ErrName) {
		t.Errorf("a folder without a name: %v", err)
	}
	if _, err := l.AddFolder(ctx, ""); !errors.Is(err, reading.ErrName) {
		t.Errorf("a folder without a name: %v", err)
	}
	if folders, err := l.Folders(ctx); err != nil || len(folders) > 0 {
		t.Errorf("folders are %v, %v", folders, err)
	}
	var many []string
	for i := range reading.MaxFolders + 1 {
		many = append(many, fmt.Sprint(i))
	}
	if err := l.Arrange(ctx, reading.Arrangement{Feed: id, Into: many}); !errors.Is(err, reading.ErrFolders) {
		t.Errorf("too many folders: %v", err)
	}
	for _, name := range []string{"", "a b", "a:b", "ä", "a/b"} {
		if _, err := l.host.AddPassword(ctx, name); !errors.Is(err, reading.ErrName) {
			t.Errorf("a password named %q: %v", name, err)
		}
	}
	if err := l.host.RemovePassword(ctx, "phone"); !errors.Is(err, control.ErrNoPassword) {
		t.Errorf("a password that there is not: %v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := l.Mark(gone, []reading.ItemID{1}, reading.Mark{Read: reading.Yes}); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that went away: %v", err)
	}
	if folder, err := l.AddFolder(ctx, "A"); err != nil || folder == 0 {
		t.Errorf("afterwards: %d, %v", folder, err)
	}
}
