package sqlite

import (
	"fmt"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest"
)

// A block that was named once has the same entries for ever.
func TestPagesAreStableAndComplete(t *testing.T) {
	alone(t)
	archivetest.RunBlocks(t, openDatabase)
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
