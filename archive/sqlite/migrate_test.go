package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// olderArchive makes an archive as a feedex wrote it that knew only the first migrations, and fills it
// by statements of that time.
func olderArchive(t testing.TB, known int, fill string) (path string) {
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

// An archive from before there were accounts is backed up as it is, and is converted when a node opens it, and loses
// nothing.
func TestMigrateToAccounts(t *testing.T) {
	r := newsRecord("1", "hello", time.Unix(1, 0))
	path := olderArchive(t, 1, fmt.Sprintf(`
		INSERT INTO feeds (id, url, secret) VALUES (1, '%s', 0);
		INSERT INTO entries (id, digest, feed, seen, source, guid, title, link, summary, content)
			VALUES (x'%x', x'%x', 1, 1, '', '1', 'hello', '', '', '');
		INSERT INTO peers VALUES ('192.0.2.1:7790', 0, 0, 0, 0)`, news, r.ID[:], r.Digest[:]))
	_, err := OpenReader(path, Config{})
	wantCause(t, err, errOlder, path)
	older, err := OpenReader(path, Config{Older: true})
	if err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := errors.Join(older.Backup(t.Context(), backup), older.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = OpenReader(backup, Config{})
	wantCause(t, err, errOlder, backup)

	path = backup
	s := openFile(t, path)
	if got := s.LoadAccounts(); len(got) != 0 {
		t.Errorf("LoadAccounts = %+v, want none", got)
	}
	s.KeepAccount(archive.KeptAccount{Holder: "192.0.2.1", Text: []byte("{}")})
	commit(t, s)
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

// An address in whose place a feed was followed goes on to stand for that.
func TestMigrateToBecame(t *testing.T) {
	const site, other feed.URL = "https://site.example/", "https://other.example/"
	s := openFile(t, olderArchive(t, 55, fmt.Sprintf(`
		INSERT INTO feeds (id, url, secret, kept, subscribed, page) VALUES (1, '%[1]s', 0, 1, 0, ''),
			(2, '%[2]s', 0, 1, 1, '%[1]s'), (3, '%[3]s', 0, 1, 0, '%[1]s');`, site, news, other)))
	for u, want := range map[feed.URL]feed.URL{site: news, news: "", other: ""} {
		if got := s.LoadFeed(u).Became; got != want {
			t.Errorf("%s became %q, want %q", u, got, want)
		}
	}
	if c, err := s.Channel(t.Context(), site); err != nil || c.URL != news || !c.Followed {
		t.Errorf("what is at %s is %+v, %v", site, c, err)
	}
}

// An address that an older feedex took for a public one, and is none, is a secret from then on.
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

// Where neighbors could change what own polls had shown, an older feedex may have kept what is not the publisher's. The
// next poll of every feed is to read the whole document; and what an own poll has shown of what was filled in is known
// to be the publisher's.
func TestMigrateToPolled(t *testing.T) {
	script, ids := fmt.Sprintf(`INSERT INTO feeds (id, url, secret, kept, subscribed, etag, last_modified, body)
		VALUES (1, '%s', 0, 1, 1, '"tag"', 'then', x'%x');`, news, make([]byte, 20)), []feed.EntryID(nil)
	rows := []struct {
		seq       int
		source    string
		confirmed int
		polled    string
		want      bool // Polled
	}{
		{1, "", 1, "NULL", true},
		{2, "192.0.2.7:7790", 0, "NULL", false},
		{3, "192.0.2.7:7790", 1, "NULL", false}, // by two neighbors
		{4, "192.0.2.7:7790", 1, "9", true},
		{5, "192.0.2.7:7790", 0, "0", false}, // from before there was the column
		{6, "192.0.2.7:7790", 1, "0", true},
		{-1, "", 1, "NULL", true},
		{-2, "", 0, "NULL", false}, // of an export
		{-3, "192.0.2.7:7790", 1, "NULL", true},
		{-4, "192.0.2.7:7790", 0, "NULL", false},
	}
	for i, row := range rows {
		r := newsRecord(fmt.Sprint(i), "hello", time.Unix(1, 0))
		ids = append(ids, r.ID)
		script += fmt.Sprintf(`INSERT INTO entries (seq, id, digest, feed, seen, source, guid, title, link, summary, content, confirmed, polled)
			VALUES (%d, x'%x', x'%x', 1, 1, '%s', '%d', 'hello', '', '', '', %d, %s);`,
			row.seq, r.ID[:], r.Digest[:], row.source, i, row.confirmed, row.polled)
	}
	s := openFile(t, olderArchive(t, 18, script))
	for i, v := range s.Known(ids) {
		if v.Polled != rows[i].want {
			t.Errorf("entry %d: %+v, want Polled %v", i, v, rows[i].want)
		}
	}
	if f := s.LoadFeeds(); len(f) != 1 || f[0].ETag != "" || f[0].LastModified != "" || f[0].Body != (feed.Digest{}) {
		t.Errorf("the next poll is not to read the whole document: %+v", f)
	}
}

// An archive from before there were items has them for what is followed, in the order of arrival and read but for the
// last day's.
func TestMigrateToItems(t *testing.T) {
	now := time.Now().Unix()
	insert := func(seq int, feed int, seen int64) string {
		r := feedRecord(news, seq)
		return fmt.Sprintf(`INSERT INTO entries (seq, id, digest, feed, seen, source, guid, title, link, summary, content)
			VALUES (%d, x'%x', x'%x', %d, %d, '', '%d', 'title %d', '', '', '');`, seq, r.ID[:], r.Digest[:], feed,
			seen, seq, seq)
	}
	path := olderArchive(t, 8,
		fmt.Sprintf(`INSERT INTO feeds (id, url, secret, kept, subscribed) VALUES (1, '%s', 0, 1, 1), (2, '%s', 0, `+
			`1, 0);`, news, otherNews)+
			insert(1, 1, 100)+insert(2, 2, 200)+insert(3, 1, now-2*86400)+insert(4, 1, now-3600)+insert(-1, 1, now)+
			insert(-2, 1, 50))
	s := openFile(t, path)
	wantIDs(t, s.Shelf(reading.Owner), reading.Stream{Unlisted: true}, 5, 4, 3, 2, 1)
	wantIDs(t, s.Shelf(reading.Owner), reading.Stream{}, 5, 4, 3)
	wantIDs(t, s.Shelf(reading.Owner), unread, 5)
	var titles []string
	for item, err := range s.Shelf(reading.Owner).Items(t.Context(), []reading.ItemID{1, 2, 3, 4, 5}) {
		if err != nil {
			t.Fatal(err)
		}
		titles = append(titles, item.Entry.Title)
	}
	if want := []string{"title -2", "title -1", "title 1", "title 3", "title 4"}; !slices.Equal(titles, want) {
		t.Errorf("items are %q, want %q", titles, want)
	}
	keep(t, s, feedRecord(news, 7))
	wantIDs(t, s.Shelf(reading.Owner), unread, 6, 5)
	if problems := itemProblems(t, s); len(problems) > 0 {
		t.Error(problems)
	}
}

// The pages of an archive from before there were any are those that would have been, had all that was filled in come
// first.
func TestMigrateToPages(t *testing.T) {
	fill := fmt.Sprintf(`INSERT INTO feeds (id, url, secret, kept) VALUES (1, '%s', 0, 1), (2, `+
		`'https://example.com/', 0, 0);`, news)
	for i := range 250 {
		seq := i - 49 // from -49 to 200
		if seq <= 0 {
			seq--
		}
		fill += fmt.Sprintf(`INSERT INTO entries (seq, id, digest, feed, seen, source, guid, title, link, summary, content)
			VALUES (%d, unhex(printf('%%040d', %d)), zeroblob(20), 1, 1, '', '%d', '', '', '', '');`, seq, i, i)
	}
	s := openFile(t, olderArchive(t, 9, fill))
	last, err := s.LastBlock(t.Context(), 1)
	if err != nil || last != (archive.BlockRef{Block: 2}) {
		t.Fatalf("the last page is %+v, %v", last, err)
	}
	for n, want := range map[int64][]int64{1: {50, -50}, 2: {150, 51}} {
		p, err := s.Block(t.Context(), 1, archive.BlockRef{Block: n})
		if err != nil || len(p.Seqs) != 100 || p.Seqs[0] != want[0] || p.Seqs[99] != want[1] {
			t.Errorf("page %d: %d, %v", n, p.Seqs, err)
		}
	}
	if s.Fill(time.Unix(1, 0), []archive.Record{newsRecord("x", "x", time.Unix(1, 0))}); s.Commit() != nil {
		t.Fatal("not stored")
	}
	if last, err = s.LastBlock(t.Context(), 1); err != nil || last != (archive.BlockRef{Block: 3, Filled: 51}) {
		t.Errorf("the last page is %+v, %v", last, err)
	}
	archivetest.CheckBlocks(t, s, make(map[archive.BlockRef][]int64), nil)
}

// Of what an older feedex kept nobody knows when an own poll listed it; it is not compared.
func TestMigrateToHours(t *testing.T) {
	r := newsRecord("1", "hello", time.Unix(1, 0))
	path := olderArchive(t, 11, fmt.Sprintf(`
		INSERT INTO feeds (id, url, secret, kept, subscribed) VALUES (1, '%s', 0, 1, 1);
		INSERT INTO requests VALUES (NULL, 1000, '', '%s', 1, 0, '', '', 200, '', '', 0, 0);
		INSERT INTO entries (id, digest, feed, seen, source, guid, title, link, summary, content)
			VALUES (x'%x', x'%x', 1, 1, '192.0.2.7:7790', '1', 'hello', '', '', '');`, news, news, r.ID[:],
		r.Digest[:]))
	s := openFile(t, path)
	if got := s.Known([]feed.EntryID{r.ID}); got[0].Polled {
		t.Error("an own poll has shown an entry of before")
	}
	s.MarkPolled(time.Unix(9, 0), []feed.EntryID{r.ID})
	commit(t, s)
	if got := s.Known([]feed.EntryID{r.ID}); !got[0].Polled || !got[0].Confirmed {
		t.Errorf("after an own poll it is %+v", got[0])
	}
	if got, err := s.Hours(t.Context(), time.Unix(0, 0)); err != nil || len(got) != 0 {
		t.Errorf("Hours = %+v, %v, want none", got, err)
	}
	if got := s.LoadRequests(9); len(got) != 1 || got[0].Status != 200 {
		t.Errorf("LoadRequests = %+v", got)
	}
}

// A password from before they had scopes opens what it did: everything.
func TestMigrateToScopes(t *testing.T) {
	path := olderArchive(t, 27, fmt.Sprintf(`INSERT INTO passwords (name, hash, fever, created)
		VALUES ('phone', x'%x', x'%x', 1)`, reading.HashOf("00ff"), reading.FeverHash("00ff")))
	s := openFile(t, path)
	if p, err := s.Password(t.Context(), reading.HashOf("00ff"), false); err != nil || p.Scope != reading.OwnerScope {
		t.Errorf("Password = %+v, %v", p, err)
	}
}

// Passwords from before others than the owner could have one that opens more are as they were.
func TestMigrateToOwnPasswords(t *testing.T) {
	path := olderArchive(t, 43, fmt.Sprintf(`INSERT INTO people (id, name, created) VALUES (2, 'Ann', 1);
		INSERT INTO passwords (name, person, scope, hash, fever, created, used, epoch)
			VALUES ('phone', 2, 'reader', x'%x', x'%x', 1, 7200, 3);`, reading.HashOf("00ff"),
		reading.FeverHash(reading.FeverKey("phone", "00ff"))))
	s := openFile(t, path)
	want := reading.NewPassword("phone", "00ff", 2, reading.ReaderScope, time.Unix(1, 0))
	want.Used, want.Epoch = time.Unix(7200, 0).UTC(), 3
	if p, err := s.Password(t.Context(), reading.HashOf("00ff"), false); err != nil || p != want {
		t.Errorf("Password = %+v, %v, want %+v", p, err, want)
	}
	if err := s.KeepPassword(reading.NewPassword("desk", "11ff", 2, reading.OwnerScope, time.Unix(1, 0))); err != nil {
		t.Error(err)
	}
	if err := s.Commit(); err != nil {
		t.Error(err)
	}
}

// An archive from before rights were kept has its entries under the same digests, states none for them, and counts
// their texts as before; a version that states some replaces one of before.
func TestMigrateToRights(t *testing.T) {
	own, brought := newsRecord("1", "own", time.Unix(1, 0)), newsRecord("2", "brought", time.Unix(1, 0))
	insert := func(r *archive.Record, source string) string {
		return fmt.Sprintf(`INSERT INTO entries (id, digest, feed, seen, source, guid, title, link, summary, content)
			VALUES (x'%x', x'%x', 1, 1, '%s', '%s', '%s', '', '', '');`, r.ID[:], r.Digest[:], source, r.Entry.ID,
			r.Entry.Title)
	}
	path := olderArchive(t, 25, fmt.Sprintf(`INSERT INTO feeds (id, url, secret) VALUES (1, '%s', 0);`, news)+
		insert(&own, "")+insert(&brought, "192.0.2.1:7790"))
	s := openFile(t, path)
	got := s.Known([]feed.EntryID{own.ID, brought.ID})
	if got[0].Digest != own.Digest || got[1].Digest != brought.Digest {
		t.Errorf("Known = %+v", got)
	}
	var size int
	if err := s.conn.QueryRowContext(t.Context(), `SELECT size FROM entries WHERE title = 'brought'`).
		Scan(&size); err != nil || size != len("2brought") {
		t.Errorf("what a neighbor brought has %d bytes, %v", size, err)
	}
	licensed := own.Entry
	licensed.Rights = []string{"https://creativecommons.org/licenses/by/4.0/"}
	licensed.CopiedFrom = feed.Original{URL: "https://example.net/feed"}
	s.Keep([]archive.Record{archive.NewRecord(licensed, time.Unix(2, 0), protocol.NodeID{})})
	commit(t, s)
	found, err := s.Search(t.Context(), feed.Filter{})
	if err != nil || len(found) != 2 {
		t.Fatalf("found %+v, %v", found, err)
	}
	for _, r := range found {
		want := map[feed.EntryID]feed.Entry{own.ID: licensed, brought.ID: brought.Entry}[r.ID]
		if !r.Entry.Equal(&want) {
			t.Errorf("found %+v, want %+v", r.Entry, want)
		}
	}
}

// An archive from before extras were kept has its entries under the same digests and counts their texts as before; the
// next poll adds to them.
func TestMigrateToExtras(t *testing.T) {
	brought := newsRecord("2", "brought", time.Unix(1, 0))
	path := olderArchive(t, 34, fmt.Sprintf(`INSERT INTO feeds (id, url, secret) VALUES (1, '%s', 0);
		INSERT INTO entries (id, digest, feed, seen, source, guid, title, link, summary, content)
			VALUES (x'%x', x'%x', 1, 1, '192.0.2.1:7790', '2', 'brought', '', '', '')`, news, brought.ID[:],
		brought.Digest[:]))
	s := openFile(t, path)
	if got := s.Known([]feed.EntryID{brought.ID})[0]; got.Digest != brought.Digest || got.Extras != 0 {
		t.Errorf("Known = %+v", got)
	}
	brought.Entry.Extras = feed.Extras{Duration: time.Hour, Image: "https://example.com/2.jpg"}
	s.Keep([]archive.Record{archive.NewRecord(brought.Entry, time.Unix(2, 0), protocol.NodeID{})})
	commit(t, s)
	var size int64
	if err := s.conn.QueryRowContext(t.Context(), `SELECT size FROM entries`).Scan(&size); err != nil ||
		size <= int64(len("2brought")) || size > archive.TextBytes(&brought.Entry) {
		t.Errorf("the entry has %d bytes, %v, at most %d are counted", size, err, archive.TextBytes(&brought.Entry))
	}
	found, err := s.Search(t.Context(), feed.Filter{})
	if err != nil || len(found) != 1 || !found[0].Entry.Equal(&brought.Entry) {
		t.Errorf("found %+v, %v", found, err)
	}
}

// What was indexed when words of scripts without blanks were runs of letters is indexed anew, and nothing else is.
func TestMigrateScripts(t *testing.T) {
	var fill string
	texts := []string{"日本語", "hello", "서울에서", "&#26085;&#26412;", "plain"}
	for i, title := range texts {
		r := newsRecord(title, title, time.Unix(1, 0))
		fill += fmt.Sprintf(`
			INSERT INTO entries (id, seq, digest, feed, seen, source, guid, title, link, summary, content)
				VALUES (x'%x', %d, x'%x', 1, 1, '', '%s', '%s', '', '', '');
			INSERT INTO words (rowid, feed, title, rest) VALUES (%[2]d, '1', ' %[6]s ', ' ');`,
			r.ID[:], i+1, r.Digest[:], title, title, title)
	}
	path := olderArchive(t, 26, fmt.Sprintf(`INSERT INTO feeds (id, url, secret) VALUES (1, '%s', 0);`, news)+fill+
		`UPDATE state SET indexed = 5`)
	s := openFile(t, path)
	for _, indexed := range []bool{false, true} {
		if indexed {
			if left, err := s.Index(100); err != nil || left != 0 {
				t.Fatalf("%d entries are left to be indexed, %v", left, err)
			}
			commit(t, s)
		} else if stats, err := s.Stats(t.Context()); err != nil || stats.Unindexed != 3 {
			t.Errorf("%d entries are to be indexed anew, %v; want 3", stats.Unindexed, err)
		}
		for word, want := range map[string]int{"日本": 2, "本語": 1, "서울": 1, "hello": 1, "plain": 1} {
			found, err := s.Search(t.Context(), feed.Filter{Words: []string{word}})
			if err != nil || len(found) != want {
				t.Errorf("indexed %v: %s finds %q, %v; want %d", indexed, word, titles(found), err, want)
			}
		}
	}
}

// What was indexed before there were headings is found by the words of its title, and what waits to be indexed as well.
func TestMigrateToHeadings(t *testing.T) {
	var fill string
	for i, title := range []string{"Harbor news", "A harbour", "HARBOR", "waiting harbor", "later harbor"} {
		r := newsRecord(title, "", time.Unix(1, 0))
		r.Entry.Title = title
		r.ID, r.Digest = r.Entry.EntryID(), r.Entry.Digest()
		fill += fmt.Sprintf(`
			INSERT INTO entries (id, seq, digest, feed, seen, source, guid, title, link, summary, content)
				VALUES (x'%x', %d, x'%x', 1, 1, '', '%s', '%s', '', '', '');
			INSERT INTO words (rowid, feed, title, rest) SELECT %[2]d, '1', lower('%[5]s'), '' WHERE %[2]d < 5;`,
			r.ID[:], i+1, r.Digest[:], r.Entry.ID, title)
	}
	s := openFile(t, olderArchive(t, 52, fmt.Sprintf(`INSERT INTO feeds (id, url, secret) VALUES (1, '%s', 0);`, news)+
		fill+`UPDATE state SET indexed = 4; INSERT INTO stale VALUES (4)`))
	for range 2 { // before and after all are indexed
		found, err := s.Search(t.Context(), feed.Filter{Title: []string{"harbor"}})
		if got := titles(found); err != nil || fmt.Sprint(got) != "[later harbor waiting harbor HARBOR Harbor news]" {
			t.Errorf("found %q, %v", got, err)
		}
		report := func(problem string) { t.Error(problem) }
		if err := s.Verify(t.Context(), func(int64) {}, report); err != nil {
			t.Error(err)
		}
		if _, err := s.Index(100); err != nil {
			t.Fatal(err)
		}
	}
}

// A node that is to end does not wait for a conversion, which is undone.
func TestMigrationEnds(t *testing.T) {
	fill, join := "", "feeds f1"
	for i := range 10 {
		fill += fmt.Sprintf(`INSERT INTO feeds (url, secret) VALUES ('%s', 1);`, victimFeed(i))
		join += fmt.Sprintf(", feeds g%d, feeds h%[1]d", i)
	}
	const known = 52
	path := olderArchive(t, known, fill+`CREATE TRIGGER endless AFTER UPDATE OF secret ON feeds BEGIN
		UPDATE state SET indexed = (SELECT count(*) FROM `+join+`); END;`)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if s, err := Open(ctx, path, Config{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ends with %v, %v", s, err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var version int
	if err := db.QueryRowContext(t.Context(), `PRAGMA user_version`).Scan(&version); err != nil || version != known {
		t.Errorf("it has version %d, %v", version, err)
	}
	if _, err := db.ExecContext(t.Context(), `DROP TRIGGER endless`); err != nil {
		t.Fatal(err)
	}
	openFile(t, path)
}

// An archive from before there were several people is the owner's: every mark, title, folder and password is theirs,
// and numbers are not used again.
func TestMigrateToPeople(t *testing.T) {
	fill := fmt.Sprintf(`INSERT INTO feeds (id, url, title, name, secret, kept, subscribed) VALUES
			(1, '%s', 'News', 'Mine', 0, 1, 1), (2, '%s', 'Other', '', 0, 1, 1);
		INSERT INTO folders VALUES (3, 'A'), (4, 'B'), (9, 'gone'); DELETE FROM folders WHERE id = 9;
		INSERT INTO filed VALUES (1, 3), (1, 4), (2, 4);
		INSERT INTO passwords (name, scope, hash, fever, created) VALUES ('phone', 'reader', x'%x', x'%x', 1);`,
		news, otherNews, reading.HashOf("00ff"), reading.FeverHash("00ff"))
	for n, state := range []string{ // listed, read, starred, marked
		`1, 0, 0, NULL`, `1, 1, 0, 100`, `1, 1, 1, 200`, `0, 1, 0, NULL`, `0, 1, 1, 300`, `0, 1, 0, 400`,
	} {
		r := feedRecord(news, n+1)
		fill += fmt.Sprintf(`INSERT INTO entries (seq, id, digest, feed, seen, source, guid, title, link, summary, content)
				VALUES (%[1]d, x'%[2]x', x'%[3]x', 1, %[1]d, '', '%[1]d', 'title %[1]d', '', '', '');
			INSERT INTO items (id, seq, feed, arrived, listed, read, starred, marked) VALUES (%[4]d, %[1]d, 1, %[1]d, %[5]s);`,
			n+1, r.ID[:], r.Digest[:], 2*n+1, state)
	}
	fill += `UPDATE sqlite_sequence SET seq = 99 WHERE name = 'items'`
	s := openFile(t, olderArchive(t, 29, fill))
	for _, c := range []struct {
		stream reading.Stream
		want   []reading.ItemID
	}{
		{reading.Stream{}, []reading.ItemID{5, 3, 1}},
		{unread, []reading.ItemID{1}},
		{starred, []reading.ItemID{9, 5}},
		{reading.Stream{Unlisted: true}, []reading.ItemID{11, 9, 7, 5, 3, 1}},
		{reading.Stream{Changed: time.Unix(150, 0)}, []reading.ItemID{11, 9, 5}},
		{reading.Stream{Folder: 3, Unlisted: true, Read: reading.Yes}, []reading.ItemID{11, 9, 7, 5, 3}},
	} {
		wantIDs(t, s.Shelf(reading.Owner), c.stream, c.want...)
	}
	shelf, pen := s.Shelf(reading.Owner), s.Pen(reading.Owner)
	name, folders, err := shelf.Filing(t.Context(), 1)
	if err != nil || name != "Mine" || fmt.Sprint(folders) != "[A B]" {
		t.Errorf("Filing = %q, %q, %v", name, folders, err)
	}
	if id, ok := pen.AddFolder("C"); !ok || id != 10 {
		t.Errorf("a new folder has number %d", id)
	}
	p, err := s.Password(t.Context(), reading.HashOf("00ff"), false)
	if err != nil || p.Person != reading.Owner || p.Scope != reading.ReaderScope {
		t.Errorf("Password = %+v, %v", p, err)
	}
	people, err := s.People(t.Context())
	if err != nil || !slices.Equal(people, []reading.Person{{ID: reading.Owner, Name: reading.OwnerName}}) {
		t.Errorf("people are %+v, %v", people, err)
	}
	keep(t, s, feedRecord(news, 7))
	wantIDs(t, s.Shelf(reading.Owner), unread, 100, 1)
	if problems := itemProblems(t, s); len(problems) > 0 {
		t.Error(problems)
	}
}

// BenchmarkMigrateToPeople measures how an archive with a million items, all of them news and read, is converted; with
// -short it is 10,000 items. A start waits for it once.
func BenchmarkMigrateToPeople(b *testing.B) {
	benchmarkMigration(b, 29, `''`, `
		INSERT INTO items (seq, feed, arrived, listed, read, marked) SELECT seq, feed, seen, 1, 1, seen FROM entries`)
}

// BenchmarkMigrateToExtras opens an archive of a million entries from before these had extras, half of them brought by
// a neighbor and not shown by a poll.
func BenchmarkMigrateToExtras(b *testing.B) {
	benchmarkMigration(b, 34, `iif(i % 2, '192.0.2.7:7790', '')`, ``)
}

// benchmarkMigration opens an archive of a million entries that has gone through so many migrations. Source is who
// brought the ith entry, in SQL, and more is filled in besides.
func benchmarkMigration(b *testing.B, from int, source, more string) {
	n := 1_000_000
	if testing.Short() {
		n = 10_000
	}
	fill := fmt.Sprintf(`
		INSERT INTO feeds (id, url, secret, kept, subscribed)
			WITH RECURSIVE f (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM f WHERE i < 1000)
			SELECT i, 'https://www' || i || '.example.org/feed', 0, 1, 1 FROM f;
		INSERT INTO entries (seq, id, digest, feed, seen, source, guid, title, link, summary, content)
			WITH RECURSIVE e (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM e WHERE i < %d)
			SELECT i, unhex(printf('%%040x', i)), zeroblob(20), 1 + i %% 1000, i, %s, i, 'title', '', hex(zeroblob(300)), ''
			FROM e;%s`, n, source, more)
	for range b.N {
		b.StopTimer()
		path := olderArchive(b, from, fill)
		b.StartTimer()
		s, err := Open(b.Context(), path, Config{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
