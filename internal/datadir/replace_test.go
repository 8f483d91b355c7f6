package datadir

import (
	"os"
	"path/filepath"
	"testing"
)

// What a process that was killed left unfinished is gone once the file is replaced.
func TestNothingUnfinishedIsLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, before := range []string{"", "unfinished", "again"} {
		if before != "" {
			if err := os.WriteFile(path+".new", []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := Replace(path, []byte("text")); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		files, _ := filepath.Glob(path + "*")
		if string(text) != "text" || err != nil || len(files) != 1 {
			t.Errorf("it is %q, %v, of %q", text, err, files)
		}
	}
}
