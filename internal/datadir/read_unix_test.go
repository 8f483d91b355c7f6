//go:build unix

package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What the owner of a data directory puts there in the place of a small file is neither followed, waited for nor read
// without end.
func TestOnlySmallFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(
		os.WriteFile(at("small"), []byte("text"), 0o600),
		os.WriteFile(at("large"), make([]byte, Small+1), 0o600),
		os.Symlink(at("small"), at("link")),
		os.Symlink("/dev/zero", at("endless")),
		os.Mkdir(at("directory"), 0o700),
		syscall.Mkfifo(at("pipe"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := Read(at("small"), Small); err != nil || string(text) != "text" {
		t.Errorf("read %q, %v", text, err)
	}
	if _, err := Read(at("none"), Small); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	for name, want := range map[string]string{"large": "more than", "link": "no regular file",
		"endless": "no regular file", "directory": "no regular file", "pipe": "no regular file"} {
		if _, err := Read(at(name), Small); err == nil || !strings.Contains(err.Error(), at(name)+": "+want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(at("pipe/file"), Small); err == nil {
		t.Error("a file in a pipe")
	}
}
