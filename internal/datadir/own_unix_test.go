//go:build unix

package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A directory that changes places with one of root's gets none of root's files.
func TestAnotherDirectorysFileIsNotGivenAway(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away: run it as root")
	}
	const owner = 65534
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.Mkdir(at("users"), 0o700), os.Chown(at("users"), owner, owner), os.Mkdir(at("roots"), 0o700),
		os.WriteFile(at("roots/file"), nil, 0o600), os.WriteFile(at("users/file"), nil, 0o600),
		os.Symlink("users", at("data")))
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		for to := "roots"; ; to = map[string]string{"roots": "users", "users": "roots"}[to] {
			select {
			case <-stop:
				close(stopped)
				return
			default:
				_ = os.Symlink(to, at("new"))
				_ = os.Rename(at("new"), at("data"))
			}
		}
	}()
	for range 5000 {
		Own(at("data/file"))
	}
	close(stop)
	<-stopped
	for name, want := range map[string]uint32{"roots/file": 0, "users/file": owner} {
		info, err := os.Stat(at(name))
		if err != nil {
			t.Fatal(err)
		}
		if is := info.Sys().(*syscall.Stat_t).Uid; is != want {
			t.Errorf("%s belongs to user %d, want %d", name, is, want)
		}
	}
}
