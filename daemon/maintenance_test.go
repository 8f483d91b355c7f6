package daemon

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"feedex/archive/archivetest"
	"feedex/archive/archivetest/ondisk"
	"feedex/feed"
	"feedex/internal/datadir"
	"feedex/node"
)

// Imported entries are stored, but no news: nobody hears of them. They stay hidden where they were.
func TestImportIsNoNews(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		notes := 0
		l.config.Observe = func(time.Time, node.Note) { notes++ }
		lines := archivetest.PastLines(exampleFeed, 900)
		for want := len(lines); want >= 0; want -= len(lines) { // the second time nothing is new
			if added, err := l.Import(t.Context(), lines); err != nil || added != want {
				t.Errorf("Import = %d, %v; want %d", added, err, want)
			}
		}
		l.pass(time.Minute)
		if steps, _ := l.disk.indexed(); len(steps) == 0 {
			t.Error("nobody thought of the index")
		}
		l.inspect(func(h *host) {
			if notes > 0 {
				t.Errorf("%d notes about what is no news", notes)
			}
			all, err1 := h.store.Search(context.Background(), feed.Filter{Limit: 1000})
			shown, err2 := h.store.Search(context.Background(), feed.Filter{Limit: 1000, Shareable: true})
			if hidden := (len(lines) + 2) / 3; err1 != nil || err2 != nil || len(all) != len(lines) ||
				len(shown) != len(all)-hidden {
				t.Errorf("%d entries of which %d are shown, want %d but %d: %v, %v", len(all), len(shown), len(lines),
					hidden, err1, err2)
			}
			if all[0].Confirmed || all[0].Seq != -1 || all[0].Seen.Unix() != 1000 {
				t.Errorf("the first is %+v", all[0])
			}
		})
	})
}

// An import that cannot be stored says so. The node, which has no part in it, goes on.
func TestImportOnAFullDisk(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		full := errors.New("disk is full")
		l.pass(time.Millisecond) // what a node does first is over
		l.disk.set(diskState{commit: full})
		lines := archivetest.PastLines(exampleFeed, 3)
		if added, err := l.Import(t.Context(), lines); !errors.Is(err, full) || added != 0 {
			t.Errorf("Import = %d, %v", added, err)
		}
		l.disk.set(diskState{})
		if fault := l.knock(); fault != nil {
			t.Errorf("a call afterwards: %v", fault)
		}
		if added, err := l.Import(t.Context(), lines); err != nil || added != 3 {
			t.Errorf("Import again = %d, %v", added, err)
		}
	})
}

// While somebody keeps the file, no node and nobody else does.
func TestOfflineArchive(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if _, err := OpenOffline(t.Context(), data, false, ondisk.Open); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without an archive: %v", err)
	}
	k, err := OpenOffline(t.Context(), data, true, ondisk.Open)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenOffline(t.Context(), data, true, ondisk.Open); !errors.Is(err, datadir.ErrInUse) {
		t.Errorf("a second process: %v", err)
	}
	if added, err := k.Import(t.Context(), archivetest.PastLines(exampleFeed, 5)); err != nil || added != 5 {
		t.Errorf("Import = %d, %v", added, err)
	}
	if left, err := k.Index(); err != nil || left != 0 {
		t.Errorf("Index = %d, %v", left, err)
	}
	if err := errors.Join(k.Vacuum(t.Context()), k.Close()); err != nil {
		t.Error(err)
	}
	again, err := OpenOffline(t.Context(), data, false, ondisk.Open)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// A slowDisk takes some minutes to rewrite its file.
type slowDisk struct{ *disk }

func (slowDisk) Vacuum(context.Context) error {
	<-time.After(10 * time.Minute)
	return nil
}

// The loop turns at least once a minute, also while the archive's file is rewritten, but not while it hangs.
func TestTheLoopTurnsUnlessItHangs(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		var last time.Time
		var longest time.Duration
		l.inspect(func(h *host) {
			last = time.Now()
			h.config.Turned = func() { longest, last = max(longest, time.Since(last)), time.Now() }
			h.store = slowDisk{l.disk}
		})
		l.pass(10 * time.Minute)
		l.inspect(func(*host) {
			if longest > longestNap {
				t.Errorf("an idle loop turned after %v, want %v at most", longest, longestNap)
			}
		})
		rewrite := func() (int, error) { return 0, l.rewrite(t.Context()) }
		if _, err := chore(t.Context(), l.host.loop, rewrite); err != nil {
			t.Error(err)
		}
		l.inspect(func(*host) {
			if longest > longestNap {
				t.Errorf("it turned after %v while the file was rewritten, want %v at most", longest, longestNap)
			}
			<-time.After(10 * time.Minute)
		})
		l.inspect(func(*host) {
			if longest < 10*time.Minute {
				t.Errorf("it turned after %v while it hung", longest)
			}
		})
	})
}
