package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// foreignLog returns an error if beside the file at path stands the log of another one: a backup was put in the place
// of an archive whose node had been killed. SQLite would take that log for the file's own, and spoil the file with what
// is in it. It is told by the file's header (https://sqlite.org/fileformat.html#file_format_version_numbers): Backup
// writes one that was never in WAL mode, and Open sets that mode before there is a log.
func foreignLog(path string) error {
	if !logged(path) { // first: a node that starts on the backup meanwhile makes a log once the header says so
		return nil
	}
	const at, rollback = 18, "\x01\x01"
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var mode [len(rollback)]byte
	switch _, err := file.ReadAt(mode[:], at); {
	case err == io.EOF: // nothing is in it yet
		return nil
	case err != nil:
		return err
	case string(mode[:]) != rollback:
		return nil
	}
	return fmt.Errorf("%w: %s", errForeignLog, logOf(path))
}

// errForeignLog is for a file that only a node may open, which removes the log.
var errForeignLog = errors.New("beside the backup stands the log of the archive that was here before: remove it, or " +
	"start the node, which does")

// logOf and shareOf are the files that stand beside the archive at path while it is in use.
func logOf(path string) string   { return behindLinks(path) + "-wal" }
func shareOf(path string) string { return behindLinks(path) + "-shm" }

// behindLinks is where the file is to which path leads, as SQLite has it: not on Windows, where it follows no symbolic
// links for the names of other files.
func behindLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil && runtime.GOOS != "windows" {
		return real
	}
	return path
}

// dropForeignLog removes what foreignLog warns of. Nobody may have the file open.
func dropForeignLog(path string) error {
	if err := foreignLog(path); !errors.Is(err, errForeignLog) {
		return err
	}
	for _, name := range []string{shareOf(path), logOf(path)} { // the log last: while it is there, this is not done
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
