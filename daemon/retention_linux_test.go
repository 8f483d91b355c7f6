package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/internal/logtest"
	"feedex/node"
	"feedex/reading"
)

// fill writes to a disk until not a byte more goes onto it.
func fillDisk(t *testing.T, dir string) {
	t.Helper()
	ballast, err := os.OpenFile(filepath.Join(dir, "ballast"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer ballast.Close()
	for err == nil {
		_, err = ballast.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// A disk is full to the last byte, and nothing can be stored. Its owner sets a limit, with or without starting the node
// anew, which then cannot even make the files that SQLite has beside an archive in use: and there is room again.
func TestAFullDiskIsFreedByRetention(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	for _, restart := range []bool{false, true} {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
			t.Fatalf("%s: a disk of its own cannot be had: %v", errNoNamespace, err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		reserveIn(dir, ReserveBytes).take()
		l := openLibrary(t, DatabasePath(dir))
		ctx := t.Context()
		if _, err := l.Subscribe(ctx, exampleFeed); err != nil {
			t.Fatal(err)
		}
		var full error
		for n := 0; full == nil; n += 50 {
			full = l.host.write(ctx, func(d reading.Database) error { d.Keep(longRecords(n, n+50)); return nil })
		}
		if !errors.Is(full, archive.ErrFull) {
			t.Fatalf("err = %v", full)
		}
		if restart {
			l.end()
			fillDisk(t, dir)
			store, err := openArchive(t.Context(), &Config{Data: dir, Open: ondisk.Open})
			if err != nil {
				t.Fatalf("the archive cannot be opened: %v", err)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			l = openLibrary(t, DatabasePath(dir))
		} else {
			fillDisk(t, dir)
		}
		held := l.entries()
		n, err := l.retainer(archive.Retention{All: archive.Limits{Count: 100}}).pass(ctx)
		if err != nil || l.entries() != 100 {
			t.Fatalf("restart %v: %d of %d entries were purged, %v, and %d are left", restart, n, held,
				err, l.entries())
		}
		if err := l.host.write(ctx,
			func(reading.Database) error { l.host.store.Keep(longRecords(100_000, 100_200)); return nil }); err != nil {
			t.Errorf("restart %v: there is still no room: %v", restart, err)
		}
		t.Logf("restart %v: %d of %d entries were purged", restart, n, held)
	}
}

// A disk that is full has room for a row here and there, and that is no room for entries: the node rests until somebody
// frees some, and says so all the while.
func TestAFullDiskStaysFullForRows(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	dir, ctx := t.TempDir(), t.Context()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Fatalf("%s: a disk of its own cannot be had: %v", errNoNamespace, err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	l := openLibrary(t, DatabasePath(dir))
	if _, err := l.Subscribe(ctx, exampleFeed); err != nil {
		t.Fatal(err)
	}
	log, said := logtest.Overhear()
	if _, err := look(ctx, l.host.loop, func(*node.Node) (bool, error) {
		l.host.config.Log, l.host.config.revival = log, time.Millisecond
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	const full, again = "the node rests; nothing was acknowledged", "the node goes on"
	fillDisk(t, dir)
	for n := 0; said.Count()[full] == 0; n += 200 {
		_ = l.host.write(ctx, func(d reading.Database) error { d.Keep(longRecords(n, n+200)); return nil })
	}
	for range 5 {
		select {
		case m := <-said.Messages:
			if m != full {
				t.Fatalf("on a full disk it is said: %s", m)
			}
		case <-ctx.Done():
		}
	}
	if err := os.Truncate(filepath.Join(dir, "ballast"), 0); err != nil {
		t.Fatal(err)
	}
	said.Wait(t, again)
}
