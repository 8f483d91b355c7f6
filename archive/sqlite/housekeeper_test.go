package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

func openHousekeeper(t *testing.T, s *Store) *Housekeeper {
	t.Helper()
	u, err := s.housekeeper()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// laze has each entry of the index that is brought up to date take a second more.
func laze(t *testing.T, u *Housekeeper) {
	t.Helper()
	if _, err := u.conn.ExecContext(t.Context(),
		`CREATE TEMP TRIGGER lazy BEFORE UPDATE ON main.state BEGIN SELECT slow(1) FROM feeds; END`); err != nil {
		t.Fatal(err)
	}
}

// A step that is under way is undone where the loop has something to write and has waited for a while, and what the
// loop writes is there. In peace the step comes to its end.
func TestHousekeepingGivesWay(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Store) {
		u := openHousekeeper(t, s)
		defer u.Close()
		for i := range 30 { // half a minute for a step
			s.KeepFeed(archive.Feed{URL: victimFeed(i)})
		}
		keep(t, s, newCorpus().records(5)...)
		laze(t, u)

		var err error
		var working sync.WaitGroup
		working.Go(func() { _, err = u.Index(t.Context()) })
		synctest.Wait() // the step has the turn
		if u.Contended() {
			t.Error("nobody waits yet")
		}
		took(t, 0, func() { s.Known([]feed.EntryID{{1}}) }) // reading waits for nobody
		took(t, time.Second, func() {                       // until SQLite looks up
			s.KeepDID(protocol.DID{1})
			if err := s.Commit(); err != nil {
				t.Error(err)
			}
		})
		working.Wait()
		if err != archive.ErrGaveWay || !u.Contended() {
			t.Errorf("the step ended with %v, want %v; contended: %v", err, archive.ErrGaveWay, u.Contended())
		}
		if st, err := s.Stats(t.Context()); err != nil || st.Unindexed != 5 || !s.HasDID(protocol.DID{1}) {
			t.Errorf("after that %d entries are not indexed, %v, and the did is there: %v", st.Unindexed, err,
				s.HasDID(protocol.DID{1}))
		}
		took(t, 35*time.Second, func() {
			if more, err := u.Index(t.Context()); err != nil || more {
				t.Errorf("in peace: %v, %v", more, err)
			}
		})
		if st, err := s.Stats(t.Context()); err != nil || st.Unindexed != 0 {
			t.Errorf("%d entries are not indexed, %v", st.Unindexed, err)
		}
	})
}

// Steps that are short enough come to their end however often the loop writes; and one that was undone has longer the
// next time, up to a bound.
func TestHousekeepingComesToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := newWriteLock()
		for _, c := range []struct {
			takes, grace time.Duration
			stopped      bool
			waits        time.Duration
		}{
			{5 * time.Millisecond, shortestGrace, false, 5 * time.Millisecond},
			{20 * time.Millisecond, shortestGrace, true, shortestGrace},
			{20 * time.Millisecond, longestGrace, false, 20 * time.Millisecond},
			{time.Hour, longestGrace, true, longestGrace},
		} {
			ctx, stop := context.WithCancel(t.Context())
			if !turn.lend(ctx, c.grace, stop) {
				t.Fatal("there is no turn")
			}
			var working sync.WaitGroup
			working.Go(func() {
				select {
				case <-time.After(c.takes):
				case <-ctx.Done():
				}
				turn.end()
			})
			begun := time.Now()
			turn.begin()
			if waited := time.Since(begun); waited != c.waits || (ctx.Err() != nil) != c.stopped {
				t.Errorf("a step of %v: the loop waited %v, want %v; stopped: %v", c.takes, waited, c.waits,
					ctx.Err() != nil)
			}
			turn.end()
			stop()
			working.Wait()
		}
		turn.begin()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if turn.lend(ctx, 0, func() {}) {
			t.Error("the turn was lent twice")
		}
	})
	for ended, want := range []time.Duration{shortestGrace, 2 * shortestGrace, 4 * shortestGrace, longestGrace,
		longestGrace, 5: longestGrace} {
		if got := graceAfter(ended); got != want {
			t.Errorf("after %d steps that were undone: %v, want %v", ended, got, want)
		}
	}
}

// Whatever is brought into the index, a step takes no more than so much text of it, and an entry.
func TestIndexInSteps(t *testing.T) {
	alone(t)
	s := newStore(t)
	u := openHousekeeper(t, s)
	defer u.Close()
	r := rand.New(rand.NewPCG(1, 2))
	var want int64
	add := func(count, bytes int) {
		var list []archive.Record
		for range count {
			e := feed.Entry{Feed: exampleURL, ID: fmt.Sprint(r.Uint64()), Summary: words(r, bytes, 'a', 26, 3),
				Content: words(r, bytes, 'a', 26, 3)}
			list = append(list, archive.NewRecord(e, time.Unix(1, 0), aNeighbor))
		}
		keep(t, s, list...)
		want += int64(count)
	}
	add(3, 1<<20)
	add(200, 10)
	add(30, 2000)
	add(2, 1<<20)
	steps, done := 0, int64(0)
	for more := true; more; steps++ {
		var err error
		if more, err = u.Index(t.Context()); err != nil {
			t.Fatal(err)
		}
		var indexed, bytes, largest int64
		if err := s.conn.QueryRowContext(t.Context(), `SELECT indexed FROM state`).Scan(&indexed); err != nil {
			t.Fatal(err)
		}
		for seq := done + 1; seq <= indexed; seq++ {
			found, err := s.Search(t.Context(), feed.Filter{Limit: int(want)})
			if err != nil {
				t.Fatal(err)
			}
			title, rest := archive.Fold(&found[int64(len(found))-seq].Entry)
			largest = int64(len(title) + len(rest))
			bytes += largest
		}
		if bytes-largest > indexBytes || largest > archive.MaxFoldedBytes+1000 || indexed == done {
			t.Errorf("a step took %d entries of %d bytes, the last of %d", indexed-done, bytes, largest)
		}
		done = indexed
		for more := true; more; {
			if more, err = u.Tidy(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if done != want || steps < 6 {
		t.Errorf("%d of %d entries in %d steps", done, want, steps)
	}
	wantWhole(t, s)
	var segments int
	if err := s.conn.QueryRowContext(t.Context(),
		`SELECT count(DISTINCT segid) FROM words_idx`).Scan(&segments); err != nil || segments > 12 {
		t.Errorf("the index has %d parts, %v", segments, err)
	}
}

// Writes of the loop and those beside it do not disturb each other.
func TestHousekeepingBesideTheLoop(t *testing.T) {
	s := newStore(t)
	s.KeepFeed(archive.Feed{URL: victimFeed(0), Subscribed: true})
	commit(t, s)
	u := openHousekeeper(t, s)
	ctx, stop := context.WithCancel(t.Context())
	steps := map[string]int{}
	var working sync.WaitGroup
	working.Go(func() {
		defer u.Close()
		at := time.Unix(1_000_000, 0)
		for n := 0; ctx.Err() == nil; n++ {
			step := func(name string, err error) {
				switch {
				case err == nil:
					steps[name]++
				case err != archive.ErrGaveWay && ctx.Err() == nil:
					t.Errorf("%s: %v", name, err)
				}
			}
			_, err := u.Index(ctx)
			step("index", err)
			_, err = u.Tidy(ctx)
			step("tidy", err)
			if n%3 == 0 {
				ids, err := s.OverLimit(ctx, at, archive.Retention{All: archive.Limits{Count: 50}})
				if err == nil {
					_, err = u.Purge(ctx, at, ids[:min(5, len(ids))])
				}
				step("purge", err)
				_, err = u.Reclaim(ctx, 8)
				step("reclaim", err)
				_, _, err = u.ForgetPurged(ctx, at.AddDate(1, 0, 0), feed.EntryID{})
				step("forget", err)
				s.lock.log.Add(logBytes)
				step("log", u.Log(ctx))
			}
			if n%30 == 0 {
				step("shorten", u.Shorten(ctx))
			}
		}
	})
	batches := 150
	if raced {
		batches = 15
	}
	for n := range batches {
		records, did := batch(n)
		s.Keep(records)
		s.KeepDID(did)
		commit(t, s)
		if !s.HasDID(did) {
			t.Fatalf("the did of batch %d is lost", n)
		}
	}
	stop()
	working.Wait()
	wantWhole(t, s)
	for _, name := range []string{"index", "tidy", "purge", "reclaim", "log"} {
		if steps[name] == 0 && !raced {
			t.Errorf("no step of %q came to its end: %v", name, steps)
		}
	}
	records, _ := batch(batches - 1)
	if v := s.Known([]feed.EntryID{records[0].ID})[0]; !v.Kept() {
		t.Errorf("the last entry is %+v", v)
	}
}

// The log is brought into the file beside the loop, and then begins anew; a reader that is at work only delays that.
func TestLogStaysShort(t *testing.T) {
	alone(t)
	s := newStore(t)
	u := openHousekeeper(t, s)
	defer u.Close()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40 { // twenty times what the log may hold
		e := feed.Entry{Feed: exampleURL, ID: fmt.Sprint(i), Content: words(r, 1<<20, 'a', 26, 3)}
		keep(t, s, archive.NewRecord(e, time.Unix(1, 0), aNeighbor))
		if err := u.Log(t.Context()); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(logOf(s.path)); err != nil || info.Size() > logBytes+4<<20 {
			t.Fatalf("after %d entries the log has %d bytes, %v", i+1, info.Size(), err)
		}
	}
	if err := u.Shorten(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(logOf(s.path)); err != nil || info.Size() != 0 {
		t.Errorf("the log has %d bytes, %v", info.Size(), err)
	}
}

// Of a feed of which everything was purged nothing stays, unless the owner said something of it; and it may come again.
func TestForgetFeeds(t *testing.T) {
	s := newStore(t)
	u := openHousekeeper(t, s)
	defer u.Close()
	follow(t, s, time.Unix(1, 0), news)
	var records []archive.Record
	for i := range 1200 {
		e := feed.Entry{Feed: feed.URL(fmt.Sprintf("https://%d.example.org/", i)), ID: "1"}
		records = append(records, archive.NewRecord(e, time.Unix(1, 0), aNeighbor))
	}
	keep(t, s, records...)
	name := "mine"
	s.Pen(reading.Owner).Arrange([]reading.Arrangement{{URL: records[7].Entry.Feed, Name: &name}})
	commit(t, s)
	if n, err := u.Purge(t.Context(), time.Unix(2, 0), archive.IDsOf(records[:1000])); n != 1000 || err != nil {
		t.Fatalf("%d purged, %v", n, err)
	}
	steps := 0
	for last, more := int64(0), true; more; steps++ {
		var err error
		if last, more, err = u.ForgetFeeds(t.Context(), last); err != nil {
			t.Fatal(err)
		}
	}
	var feeds int
	if s.row(`SELECT count(*) FROM feeds`, nil, &feeds); feeds != 202 || steps != 3 {
		t.Errorf("%d feeds are left after %d steps; want 200 with entries, one that is followed and one with a name",
			feeds, steps)
	}
	again := archive.NewRecord(feed.Entry{Feed: records[3].Entry.Feed, ID: "2"}, time.Unix(3, 0), aNeighbor)
	keep(t, s, again)
	wantWhole(t, s)
	if got := left(t, s, again.Entry.Feed); len(got) != 1 {
		t.Errorf("%d entries are there of a feed that came again", len(got))
	}
}

// The Housekeeper does not wait for another connection that has the file.
func TestHousekeepingOfALockedFile(t *testing.T) {
	s := newStore(t)
	u := openHousekeeper(t, s)
	defer u.Close()
	other := openFile(t, s.path)
	other.KeepDID(protocol.DID{1})
	begun := time.Now()
	_, err := u.Index(t.Context())
	wantCause(t, err, ErrLocked, s.path)
	if d := time.Since(begun); d > 9*time.Second { // the Store waits for ten
		t.Errorf("it took %v", d)
	}
	commit(t, other)
	if _, err := u.Index(t.Context()); err != nil {
		t.Errorf("after that: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := u.Index(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a step that nobody wants: %v", err)
	}
}

func TestVacuum(t *testing.T) {
	s := mixedArchive(t)
	want := exported(t, s.Reader, "")
	execSQL(t, s, `CREATE TABLE ballast (x); INSERT INTO ballast VALUES (zeroblob(4000000)); DROP TABLE ballast`)
	before, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if before.Free < 3_900_000 {
		t.Errorf("%d bytes are free", before.Free)
	}
	s.Keep(newCorpus().records(1))
	if err := s.Vacuum(t.Context()); err == nil {
		t.Error("vacuum within a transaction")
	}
	commit(t, s)
	if err := s.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := s.Stats(t.Context())
	if err != nil || after.Bytes > before.Bytes-3_900_000 || after.Free != 0 {
		t.Errorf("%+v after %+v, %v", after, before, err)
	}
	if got := exported(t, s.Reader, ""); len(got) != len(want) {
		t.Errorf("%d entries after %d", len(got), len(want))
	}
	if problems := verified(t, s.Reader); len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
	var store int
	if err := s.conn.QueryRowContext(t.Context(), `PRAGMA temp_store`).Scan(&store); err != nil || store != 2 {
		t.Errorf("temp_store is %d, %v", store, err)
	}
}

// A file is made so that it can be shortened in steps, between which others write; one of an older feedex is once it
// was rewritten.
func TestReclaim(t *testing.T) {
	s := mixedArchive(t)
	want := exported(t, s.Reader, "")
	ballast := func() {
		t.Helper()
		execSQL(t, s, `CREATE TABLE ballast (x); INSERT INTO ballast VALUES (zeroblob(4000000)); CREATE TABLE behind (x);
			INSERT INTO behind VALUES (zeroblob(400000)); DROP TABLE ballast`)
	}
	stats := func() archive.Stats {
		t.Helper()
		st, err := s.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	ballast()
	before := stats()
	if !before.InSteps || before.Free < 3_900_000 {
		t.Fatalf("a new archive: %+v", before)
	}
	keep(t, s, newCorpus().records(1)...)
	reclaim := func(max int) (int, error) {
		u, err := s.housekeeper()
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		return u.Reclaim(t.Context(), max)
	}
	for last, steps := int(before.Free)/4096, 0; ; steps++ {
		left, err := reclaim(100)
		if err != nil || left > max(0, last-90) {
			t.Fatalf("step %d: %d pages remain after %d, %v", steps, left, last, err)
		}
		if last = left; left == 0 {
			break
		}
	}
	if err := s.Shorten(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := stats(); after.Free != 0 || after.Bytes > before.Bytes-3_900_000 {
		t.Errorf("%+v after %+v", after, before)
	}

	execSQL(t, s, `DROP TABLE behind`)
	mustVacuumTo(t, s, 0) // as it was made before
	ballast()
	if _, err := reclaim(1); !errors.Is(err, archive.ErrRewrite) || stats().InSteps {
		t.Errorf("a file that was not made for it: %v, %+v", err, stats())
	}
	mustVacuumTo(t, s, incremental)
	if _, err := reclaim(1); err != nil || !stats().InSteps {
		t.Errorf("after it was rewritten: %v, %+v", err, stats())
	}
	if got := exported(t, s.Reader, ""); len(got) != len(want) {
		t.Errorf("%d entries after %d", len(got), len(want))
	}
	if problems := verified(t, s.Reader); len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
}

// mustVacuumTo rewrites the file to have the auto_vacuum.
func mustVacuumTo(t *testing.T, s *Store, mode int) {
	t.Helper()
	execSQL(t, s, fmt.Sprintf(`PRAGMA auto_vacuum(%d)`, mode))
	if err := s.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
}
