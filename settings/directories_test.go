package settings

import (
	"path/filepath"
	"testing"

	"feedex/internal/shell"
)

// Who copies the commands that make a config file gets it in the home directory, also by cmd.exe, which knows no ~.
func TestWriteConfig(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	file := filepath.Join(home, "feedex", "feedex.toml")
	for system, want := range map[string]string{
		"linux":   "  mkdir -p ~/feedex\n  feedex config > ~/feedex/feedex.toml",
		"windows": "  mkdir " + shell.Quote(filepath.Dir(file)) + "\n  feedex config > " + shell.Quote(file),
	} {
		if got := filepath.ToSlash(writeConfig(file, system)); got != filepath.ToSlash(want) {
			t.Errorf("%s:\n%s\nwant\n%s", system, got, want)
		}
	}
}
