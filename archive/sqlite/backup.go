package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"feedex/internal/rename"
)

// partSuffix ends the name of a backup that is not complete.
const partSuffix = ".part"

// process tells this process from others that write to a folder: in containers all may have the same number.
var process = rand.Uint64()

// PartOf is the file in which a backup by this process to path grows before it has its name.
func PartOf(path string) string { return fmt.Sprintf("%s.%d%s", path, process, partSuffix) }

// Backup writes the archive, as it is when Backup begins, to a new file at path, where Open takes it as it is.
// A node may go on writing meanwhile. The file appears at path when it is whole and on the disk; what a Backup
// that was killed left beside it is thrown away by the next, and so is what is there of one that still runs, which
// fails then. It is an error that wraps fs.ErrExist if there is a file at path, and ErrStalled where it takes too long.
func (r *Reader) Backup(ctx context.Context, path string) error {
	ctx, cancel := throughout(ctx, r.path, r.patience)
	defer cancel()
	return wrap("back up to", path, ended(ctx, r.backup(ctx, path)))
}

func (r *Reader) backup(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return os.ErrExist
	}
	if err := dropParts(path); err != nil {
		return err
	}
	part := PartOf(path)
	// The archive holds URLs that are secrets. SQLite fills a file that is there and empty.
	file, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = r.copyTo(ctx, part); err == nil {
		err = file.Sync()
	}
	if !isAt(file, part) {
		err = errOvertaken // whatever came of that
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = rename.To(part, path)
	}
	if err != nil {
		os.Remove(part)
		return err
	}
	return syncFolder(path)
}

// copyTo fills a file.
func (r *Reader) copyTo(ctx context.Context, path string) error {
	conn, err := r.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// The data that is read goes to another file and does not change ours.
	if _, err := conn.ExecContext(ctx, `PRAGMA query_only(0)`); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, `VACUUM INTO ?`, path)
	_, again := conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA query_only(1)`)
	return errors.Join(err, again)
}

// errOvertaken is for a backup whose file another one threw away.
var errOvertaken = errors.New("another backup to the same file began meanwhile: let one end before the next begins")

// isAt reports whether a file that is open is the one at a path.
func isAt(file *os.File, path string) bool {
	is, err := file.Stat()
	at, missing := os.Lstat(path)
	return err == nil && missing == nil && os.SameFile(is, at)
}

// dropParts removes what earlier backups to path left that did not end, with the journals of SQLite.
func dropParts(path string) error {
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, f := range files {
		of, ok := strings.CutPrefix(f.Name(), filepath.Base(path)+".")
		of, isPart := strings.CutSuffix(strings.TrimSuffix(of, "-journal"), partSuffix)
		if !ok || !isPart || strings.Trim(of, "0123456789") != "" {
			continue
		}
		err := os.Remove(filepath.Join(filepath.Dir(path), f.Name()))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// syncFolder has the folder of a file remember its name. Windows sees to that itself.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// foreignLog returns an error if beside the file at path stands the log of another one: a backup was put in the place
// of an archive whose node had been killed. SQLite would take that log for the file's own, and spoil the file with what
// is in it.
func foreignLog(path string) error {
	if !logged(path) { // first: a node that starts on the backup meanwhile makes a log once the header says so
		return nil
	}
	if is, err := isBackup(path); err != nil || !is {
		return err
	}
	return fmt.Errorf("%w: %s", errForeignLog, logOf(path))
}

// isBackup reports whether the file at path is one that Backup wrote and no Store had open since. It is told by the
// file's header (https://sqlite.org/fileformat.html#file_format_version_numbers): Backup writes one that was never in
// WAL mode, and Open sets that mode before there is a log.
func isBackup(path string) (bool, error) {
	const at, rollback = 18, "\x01\x01"
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	var mode [len(rollback)]byte
	_, err = file.ReadAt(mode[:], at)
	if err == io.EOF { // nothing is in it yet
		return false, nil
	}
	return string(mode[:]) == rollback, err
}

// renumber has a backup that a node begins on give out no number that the archive gave out after it was made: readers
// know what had them. The file is in WAL mode only after that, so that a crash in between has it done again. It is one
// short transaction, and the schema is brought up to date afterwards: a node that is killed meanwhile leaves a journal,
// which would spoil another backup that is put in place then.
//
// All numbers jump by a million, and by ten for each second since the last entry of the backup came, which is more than
// any node takes in: so one backup that is put in place twice does not give out the same numbers twice either. A jump
// takes half of the room up to 2^30 at most, whatever the clock says, since readers hold numbers in 31 bits, and those
// of filters in 30 (syncapi.FolderOf).
func renumber(ctx context.Context, path string, cfg Config) (err error) {
	if is, err := isBackup(path); err != nil || !is {
		return err
	}
	w, err := openWriter(ctx, path, roleHousekeeper, cfg, newWriteLock())
	defer func() { err = errors.Join(err, w.close()) }()
	if err != nil {
		return err
	}
	ctx, cancel := throughout(ctx, path, cfg.Patience)
	defer cancel()
	scripts, err := migrations()
	if err != nil {
		return err
	}
	if v, err := version(ctx, w.conn, len(scripts)); err != nil || v == 0 { // it may be another program's, or nothing
		return ended(ctx, err)
	}
	// A table that was empty always has no row yet, nor have feeds, and tables that are yet to be made, where an older
	// program wrote the backup.
	_, err = w.conn.ExecContext(ctx, `
		BEGIN IMMEDIATE;
		INSERT INTO sqlite_sequence SELECT 'feeds', coalesce(max(id), 0) FROM feeds
			HAVING 'feeds' NOT IN (SELECT name FROM sqlite_sequence);
		INSERT INTO sqlite_sequence SELECT value, 0 FROM json_each('["entries", "items", "folders", "icons", "people",
			"filters", "receivers", "messages", "declined", "labels"]')
			WHERE value NOT IN (SELECT name FROM sqlite_sequence);
		UPDATE sqlite_sequence SET seq = seq + max(0, min((1 << 30) - seq >> 1, (1 << 20) + 10 * max(0, coalesce(
			unixepoch() - (SELECT seen FROM entries WHERE seq > 0 ORDER BY seq DESC LIMIT 1), 0))));
		COMMIT`)
	return ended(ctx, err)
}

// errForeignLog is for a file that only a node may open, which sets the log aside.
var errForeignLog = errors.New("beside the backup stands the log of the archive that was here before: move it away, " +
	"or start the node, which does")

// shareOf is the file that stands beside the archive at path, with its log, while it is in use.
func shareOf(path string) string { return behindLinks(path) + "-shm" }

// behindLinks is where the file is to which path leads, as SQLite has it: not on Windows, where it follows no symbolic
// links for the names of other files.
func behindLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil && runtime.GOOS != "windows" {
		return real
	}
	return path
}

// asideSuffix ends the name of a log that was set aside.
const asideSuffix = ".old"

// setForeignLogAside moves away what foreignLog warns of, in place of what was moved there before. Where the archive
// that it belongs to was moved and not overwritten, the latest commits of that are in it alone. Nobody may have the
// file open.
func setForeignLogAside(path string) error {
	if err := foreignLog(path); !errors.Is(err, errForeignLog) {
		return err
	}
	if err := os.Remove(shareOf(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Rename(logOf(path), logOf(path)+asideSuffix) // last: while it is there, this is not done
}
