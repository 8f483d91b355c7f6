package sqlite

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// Whatever arrives and is filled in, in whatever order: a page that was named once has the same entries for ever, also
// after the oldest were purged, less those; and the latest arrivals with all pages before are everything.
func TestPagesAreStableAndComplete(t *testing.T) {
	alone(t)
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { growPages(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

func growPages(t *testing.T, rng *rand.Rand) {
	s := newStore(t)
	other := feed.URL("https://example.com/other")
	named := make(map[archive.BlockRef][]int64)
	gone := make(map[int64]bool)
	id := 0
	entries := func(u feed.URL, n int) (list []archive.Record) {
		for range n {
			id++
			list = append(list, archive.NewRecord(feed.Entry{Feed: u, ID: fmt.Sprint(id)},
				time.Unix(int64(id), 0), protocol.NodeID{}))
		}
		return list
	}
	for range 20 {
		n := 1 + rng.IntN(60)
		switch rng.IntN(7) {
		case 0, 1, 2:
			s.Keep(entries(news, n))
		case 3, 4:
			s.Fill(time.Unix(1, 0), entries(news, n))
		case 5:
			s.Fill(time.Unix(1, 0), entries(other, n/3))
			s.Keep(entries(other, n/3))
		case 6:
			s.rows(`DELETE FROM entries WHERE seq IN (SELECT seq FROM entries ORDER BY seq LIMIT ?) RETURNING seq`,
				[]any{n}, seqsOf(gone))
		}
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		checkPages(t, s, named, gone)
	}
}

// checkPages follows a feed's pages from the last to the first, and compares them with what they had before.
func checkPages(t *testing.T, s *Store, named map[archive.BlockRef][]int64, gone map[int64]bool) {
	t.Helper()
	c, err := s.Channel(t.Context(), news)
	if err != nil {
		t.Fatal(err)
	}
	if c.Number == 0 {
		return
	}
	got, err := s.Newest(t.Context(), c.Number, archive.FullBlock)
	if err != nil {
		t.Fatal(err)
	}
	last, err := s.LastBlock(t.Context(), c.Number)
	if err != nil {
		t.Fatal(err)
	}
	for ref := last; ref.Block > 0; {
		page, err := s.Block(t.Context(), c.Number, ref)
		if err != nil || len(page.Seqs) == 0 || page.BlockRef != ref || page.Prev.Block >= ref.Block {
			t.Fatalf("page %+v: %+v, %v", ref, page, err)
		}
		if _, known := named[ref]; !known {
			named[ref] = page.Seqs
		}
		got = append(got, page.Seqs...)
		if prev := page.Prev; prev.Block > 0 {
			before, err := s.Block(t.Context(), c.Number, prev)
			if err != nil || before.Next != ref {
				t.Fatalf("page %+v is followed by %+v, %v, want %+v", prev, before.Next, err, ref)
			}
		}
		ref = page.Prev
	}
	for ref, want := range named {
		page, err := s.Block(t.Context(), c.Number, ref)
		want = slices.DeleteFunc(slices.Clone(want), func(seq int64) bool { return gone[seq] })
		if err != nil || !slices.Equal(page.Seqs, want) {
			t.Fatalf("page %+v has %d, %v, and had %d", ref, page.Seqs, err, want)
		}
	}
	slices.Sort(got)
	all, err := s.listSeqs(t.Context(), `SELECT seq FROM entries WHERE feed = ? ORDER BY seq`, c.Number)
	if err != nil || !slices.Equal(slices.Compact(got), all) {
		t.Fatalf("the latest and all pages have %d, %v, want %d", got, err, all)
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
	named, gone := make(map[archive.BlockRef][]int64), make(map[int64]bool)
	if s.Fill(time.Unix(1, 0), []archive.Record{newsRecord("x", "x", time.Unix(1, 0))}); s.Commit() != nil {
		t.Fatal("not stored")
	}
	if last, err = s.LastBlock(t.Context(), 1); err != nil || last != (archive.BlockRef{Block: 3, Filled: 51}) {
		t.Errorf("the last page is %+v, %v", last, err)
	}
	checkPages(t, s, named, gone)
}

// seqsOf notes the seqs that a statement returns.
func seqsOf(into map[int64]bool) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var seq int64
		err := scan(rows, &seq)
		into[seq] = true
		return err
	}
}
