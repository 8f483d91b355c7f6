package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// Entries are found the moment they are committed, by searches that run beside the loop.
func TestSearchBesideLoop(t *testing.T) {
	s := newStore(t)
	r, err := OpenReader(s.path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const n = 200
	committed := make(chan int, n)
	done := make(chan error, 2)
	search := func(r *Reader) {
		for i := range committed {
			found, err := r.Search(t.Context(), feed.Filter{Words: []string{word(uint64(i))}})
			if err == nil && len(found) != 1 {
				err = errors.New("not found: " + word(uint64(i)))
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}
	go search(s.Reader)
	go search(r)
	for i := range n {
		keep(t, s, newsRecord(word(uint64(i)), word(uint64(i)), time.Unix(int64(i), 0)))
		committed <- i
		if i%7 == 0 {
			if _, err := s.Index(5); err != nil {
				t.Error(err)
			}
		}
	}
	close(committed)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A ranking that has no time finds as much as one that has, and says that it was cut.
func TestRankingIsCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	s := openFile(t, path)
	s.Keep(newCorpus().records(200))
	commit(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Config{RankTime: 1}) // a nanosecond
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f := feed.Filter{Words: []string{word(0)}, Limit: 20}
	newest, err := s.Search(t.Context(), f)
	if err != nil || len(newest) != 20 {
		t.Fatalf("found %d, %v", len(newest), err)
	}
	f.Relevance = true
	found, err := s.Search(t.Context(), f)
	if !errors.Is(err, archive.ErrCut) || len(found) != 20 {
		t.Fatalf("by relevance found %d, %v; want 20 and ErrCut", len(found), err)
	}
	for i := range found {
		if found[i].Seq != newest[i].Seq {
			t.Errorf("entry %d has seq %d, want %d: what is not ranked stands as it came", i, found[i].Seq,
				newest[i].Seq)
		}
	}
}

// The context leaves time to read the words that a search ranks with; one without any time fails.
func TestRankingWithoutTime(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	defer s.Close()
	s.Keep(newCorpus().records(5))
	commit(t, s)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if found, err := s.Search(ctx, feed.Filter{Relevance: true}); !errors.Is(err, context.DeadlineExceeded) ||
		found != nil {
		t.Errorf("found %v, %v", found, err)
	}
}

// A search that takes too long for its asker ends with the asker's reason.
func TestSearchEndsWithItsReason(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	defer s.Close()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 0, archive.ErrSlow)
	defer cancel()
	if _, err := s.Search(ctx, feed.Filter{}); !errors.Is(err, archive.ErrSlow) {
		t.Errorf("Search: %v", err)
	}
}
