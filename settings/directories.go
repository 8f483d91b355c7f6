package settings

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"feedex/internal/shell"
)

// Data is the data directory, in the user's own place where none was chosen.
func (s *Settings) Data() (string, error) {
	path, ok := s.text("data"), true
	if path == "" {
		path, ok = defaultData(s.role)
	} else {
		path, ok = toHome(path)
	}
	if !ok {
		return "", UsageError{errors.New("find a data directory: this user has no home directory"),
			"choose one with --data"}
	}
	return path, nil
}

// defaultData is the data directory of a user who chose none. It reports false where there is no home directory.
func defaultData(role Role) (path string, ok bool) {
	name := "feedex"
	if role == Tracker {
		name = "feedex-tracker"
	}
	home := os.Getenv("HOME")
	switch dir := os.Getenv("XDG_DATA_HOME"); {
	case runtime.GOOS == "windows":
		dir = os.Getenv("LocalAppData")
		return filepath.Join(dir, name), dir != ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", name), home != ""
	case filepath.IsAbs(dir):
		return filepath.Join(dir, name), true
	}
	return filepath.Join(home, ".local", "share", name), home != ""
}

// usualConfig is where the config file is that is read where none is named, "" if there is no such place.
func usualConfig() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "feedex", "feedex.toml")
}

// WriteConfig are the commands by which somebody makes a config file where one is read that nobody names.
func WriteConfig() string { return writeConfig(usualConfig(), runtime.GOOS) }

func writeConfig(file, system string) string {
	mkdir, word := "mkdir -p ", func(path string) string {
		short := fromHome(path)
		if rest, ok := strings.CutPrefix(short, "~"); ok && shell.Quote(rest) == rest {
			return short
		}
		return shell.Quote(path)
	}
	if system == "windows" {
		mkdir, word = "mkdir ", shell.Quote // it makes the folders above as well, and cmd.exe knows no ~
	}
	file = cmp.Or(file, "feedex.toml")
	return fmt.Sprintf("  %s%s\n  feedex config > %s", mkdir, word(filepath.Dir(file)), word(file))
}

// defaultConfig is the config file that is read where none is named, "" if there is none.
func defaultConfig() string {
	path := usualConfig()
	if _, err := os.Stat(path); path == "" || os.IsNotExist(err) {
		return ""
	}
	return path
}

// toHome is the path that a person wrote with ~ for the home directory: what stands in a file, and behind --data=, no
// shell has read. It reports false where there is no home directory.
func toHome(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path, true
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return path, false
	}
	return filepath.Join(home, rest), true
}

// fromHome is a path as people write it, with ~ for the home directory.
func fromHome(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, filepath.Clean(home)+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}
