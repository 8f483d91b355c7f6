//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"feedex/archive/archivetest/ondisk"
)

// What root does on a data directory before the node's first start leaves nothing that the node, which runs as whom the
// directory belongs to, could not open.
func TestWhatRootMakesIsTheNodes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away: run it as root")
	}
	const owner = 65534
	data, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.Chown(data, owner, owner); err != nil {
		t.Fatal(err)
	}
	uid := func(path string) uint32 {
		t.Helper()
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Uid
	}
	open := func() {
		t.Helper()
		k, err := OpenOffline(t.Context(), data, true, ondisk.Open)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
	open()
	for _, name := range []string{"lock", databaseName} {
		if is := uid(filepath.Join(data, name)); is != owner {
			t.Errorf("%s belongs to user %d", name, is)
		}
	}

	// But nothing that the owner of the directory has it lead to.
	if err := os.Remove(filepath.Join(data, "lock")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(data, "lock")); err != nil {
		t.Fatal(err)
	}
	open()
	if is := uid(secret); is != 0 {
		t.Errorf("the file that a link leads to belongs to user %d", is)
	}
}
