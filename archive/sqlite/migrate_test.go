package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// olderArchive makes an archive as a feedex wrote it that knew only the first migrations, and fills it
// by statements of that time.
func olderArchive(t *testing.T, known int, fill string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "archive.db")
	scripts, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	stamp := fmt.Sprintf("PRAGMA journal_mode = WAL; PRAGMA application_id = %d; PRAGMA user_version = %d",
		applicationID, known)
	for _, script := range append(scripts[:known:known], fill, stamp) {
		if _, err := db.ExecContext(t.Context(), script); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// An archive from before there were accounts is converted when a node opens it, and loses nothing.
func TestMigrateToAccounts(t *testing.T) {
	r := newsRecord("1", "hello", time.Unix(1, 0))
	path := olderArchive(t, 1, fmt.Sprintf(`
		INSERT INTO feeds (id, url, secret) VALUES (1, '%s', 0);
		INSERT INTO entries (id, digest, feed, seen, source, guid, title, link, summary, content)
			VALUES (x'%x', x'%x', 1, 1, '', '1', 'hello', '', '', '');
		INSERT INTO peers VALUES ('192.0.2.1:7790', 0, 0, 0, 0)`, news, r.ID[:], r.Digest[:]))
	_, err := OpenReader(path, Config{})
	wantCause(t, err, errOlder, path)

	s := openFile(t, path)
	if got := s.LoadAccounts(); len(got) != 0 {
		t.Errorf("LoadAccounts = %+v, want none", got)
	}
	s.KeepAccount(archive.Account{Holder: "192.0.2.1", Text: []byte("{}")})
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = openFile(t, path) // has nothing left to convert
	if got := s.LoadAccounts(); len(got) != 1 || got[0].Holder != "192.0.2.1" || string(got[0].Text) != "{}" {
		t.Errorf("LoadAccounts = %+v, want the one that was kept", got)
	}
	if got := s.LoadPeers(); len(got) != 1 {
		t.Errorf("LoadPeers = %+v, want the one of before", got)
	}
	if got := s.Known([]feed.EntryID{r.ID}); got[0].Digest != r.Digest {
		t.Errorf("Known = %v, want %v", got, r.Digest)
	}
	if err := s.Commit(); err != nil {
		t.Error(err)
	}
	reader, err := OpenReader(path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if found, err := reader.Search(t.Context(), feed.Filter{Words: []string{"hello"}}); err != nil || len(found) != 1 {
		t.Errorf("found %q, %v", titles(found), err)
	}
}

// An archive from before there were marks of what is confirmed keeps its entries: own ones are confirmed,
// of the others nobody knows. Dates of the future count no more.
func TestMigrateToConfirmed(t *testing.T) {
	own, brought := newsRecord("1", "own", time.Unix(1, 0)), newsRecord("2", "brought", time.Unix(1, 0))
	insert := func(r *archive.Record, source string) string {
		return fmt.Sprintf(`INSERT INTO entries (id, digest, feed, published, seen, source, guid, title, link, summary, content)
			VALUES (x'%x', x'%x', 1, 1000000000, 1, '%s', '%s', '%s', '', '', '');`, r.ID[:], r.Digest[:], source,
			r.Entry.ID, r.Entry.Title)
	}
	path := olderArchive(t, 2, fmt.Sprintf(`INSERT INTO feeds (id, url, secret) VALUES (1, '%s', 0);`, news)+
		insert(&own, "")+insert(&brought, "192.0.2.1:7790"))
	s := openFile(t, path)
	got := s.Known([]feed.EntryID{own.ID, brought.ID})
	if !got[0].Confirmed || got[1].Confirmed || got[1].Digest != brought.Digest {
		t.Errorf("Known = %+v", got)
	}
	found, err := s.Search(t.Context(), feed.Filter{Until: time.Unix(2, 0)})
	if err != nil || len(found) != 2 || !found[1].Confirmed || found[0].Confirmed ||
		found[0].Entry.Published.Unix() != 1000000000 {
		t.Errorf("found %+v, %v", found, err)
	}
}

// An archive from before there were weights, discretion and cover keeps its feeds, and hides no entry.
func TestMigrateToInterest(t *testing.T) {
	r := newsRecord("1", "hello", time.Unix(1, 0))
	path := olderArchive(t, 3, fmt.Sprintf(`
		INSERT INTO feeds (id, url, secret, kept, subscribed) VALUES (1, '%s', 0, 1, 1);
		INSERT INTO entries (id, digest, feed, seen, source, guid, title, link, summary, content)
			VALUES (x'%x', x'%x', 1, 1, '', '1', 'hello', '', '', '');`, news, r.ID[:], r.Digest[:]))
	s := openFile(t, path)
	want := archive.Feed{URL: news, Subscribed: true}
	if got := s.LoadFeeds(); len(got) != 1 || got[0] != want {
		t.Errorf("LoadFeeds = %+v, want %+v", got, want)
	}
	if found, err := s.Search(t.Context(), feed.Filter{Shareable: true}); err != nil || len(found) != 1 {
		t.Errorf("found %q, %v", titles(found), err)
	}
}

// What an older feedex took for a public address, and is none, is a secret from then on.
func TestMigrateSecrets(t *testing.T) {
	const calendar = "https://calendar.example.com/ical/private-7d3f1c9a5b2e8d4f6a0c1b3e5d7f9a2c/basic.ics"
	path := olderArchive(t, 18, fmt.Sprintf(`INSERT INTO feeds (id, url, secret) VALUES (1, '%s', 0), (2, '%s', 0)`,
		news, calendar))
	s := openFile(t, path)
	for u, want := range map[feed.URL]bool{news: false, calendar: true} {
		var got bool
		if err := s.conn.QueryRowContext(t.Context(), `SELECT secret FROM feeds WHERE url = ?`,
			string(u)).Scan(&got); err != nil || got != want {
			t.Errorf("%s is a secret: %v, %v; want %v", u, got, err, want)
		}
	}
}
