package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
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
			store, err := openArchive(&Config{Data: dir, Open: ondisk.Open})
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
