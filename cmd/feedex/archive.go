package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"feedex/archive/sqlite"
	"feedex/control"
	"feedex/daemon"
	"feedex/reading"
	"feedex/settings"
)

func newArchive() *cobra.Command {
	c := &cobra.Command{
		Use:        "archive",
		SuggestFor: []string{"backup", "restore"},
		Short:      "Count, check, copy and tidy up the archive",
		Long: `What the node keeps, as a whole: counted, checked, written out and taken in, copied, tidied up. All of it
works while a node runs on the archive and while none does.`,
		Example: `  feedex archive stats
  feedex archive backup /srv/backup/feedex-monday.db
  feedex archive export --data old | feedex archive import --data new`,
	}
	c.AddCommand(newArchiveStats(), newArchiveVerify(), newArchiveExport(), newArchiveImport(), newArchiveBackup(),
		newArchiveVacuum())
	return c
}

// onArchive is a command on a data directory.
func onArchive(c *cobra.Command, do func(c *cobra.Command, data string, args []string) error) *cobra.Command {
	settings.Bind(c.Flags(), settings.Client)
	c.Annotations = map[string]string{helpEnd: clientSettings}
	c.RunE = func(c *cobra.Command, args []string) error {
		data, err := dataDirectory(c.Flags())
		if err != nil {
			return err
		}
		return do(c, data, args)
	}
	return c
}

// patienceFlag has a command take a flag for how long it may work on the whole file.
func patienceFlag(c *cobra.Command, patience *string) {
	c.Flags().Var(settings.Span.Flag(patience), "patience",
		"give up where the disk takes longer, and as long again for each 60 MiB (default 1m)")
}

// An archiveFile is an archive as commands read it, whether or not a node runs on it.
type archiveFile interface {
	reading.View
	// Verify checks all there is, tells how far it is, and reports what is wrong.
	Verify(ctx context.Context, progress func(entries int64), report func(problem string)) error
	// Backup writes the archive to a new file, which has its name when it is complete. The error wraps fs.ErrExist
	// where there is one of that name.
	Backup(ctx context.Context, path string) error
	Close() error
}

// openArchive opens an archive for reading. The error wraps fs.ErrNotExist where there is none.
func openArchive(path string) (archiveFile, error) { return openArchiveWith(path, sqlite.Config{}) }

func openArchiveWith(path string, c sqlite.Config) (archiveFile, error) {
	r, err := sqlite.OpenReader(path, c)
	if err != nil {
		return nil, err // and not a Reader that is nil, which is an archiveFile
	}
	return r, nil
}

// noArchive is the error of a command that wants an archive where there is none.
func noArchive(path string) error {
	return hintedError{fmt.Errorf("there is no archive %s", path),
		"name the directory of one with --data; 'feedex node' makes one"}
}

// openFile opens a file that an argument names.
func openFile(name string) (*os.File, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hintedError{err, "name a file that is there, or - for standard input"}
	}
	return file, err
}

// openInput opens a file that an argument names, or standard input for "-", which is read for as long as the command is
// not interrupted.
func openInput(c *cobra.Command, name string) (io.ReadCloser, error) {
	if name != "-" {
		return openFile(name)
	}
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, c.InOrStdin())
		w.CloseWithError(err)
	}()
	context.AfterFunc(c.Context(), func() { w.CloseWithError(context.Cause(c.Context())) })
	return r, nil
}

// readArchive has do read an archive.
func readArchive(path string, do func(archiveFile) error) error {
	return readArchiveWith(path, sqlite.Config{}, do)
}

func readArchiveWith(path string, c sqlite.Config, do func(archiveFile) error) error {
	r, err := openArchiveWith(path, c)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noArchive(path)
	case err != nil:
		return err
	}
	defer r.Close()
	return do(r)
}

// onReader is a command that reads the archive of a data directory.
func onReader(c *cobra.Command, do func(c *cobra.Command, r archiveFile, args []string) error) *cobra.Command {
	return onArchive(c, func(c *cobra.Command, data string, args []string) error {
		return readArchive(daemon.DatabasePath(data), func(r archiveFile) error { return do(c, r, args) })
	})
}

// completeFiles completes the names of files, those that end so where that is said.
func completeFiles(endings ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if len(endings) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// openDatabase is how nodes open their archives: a daemon.OpenDatabase.
func openDatabase(ctx context.Context, path string) (reading.Database, error) {
	return openDatabaseWith(ctx, path, sqlite.Config{})
}

func openDatabaseWith(ctx context.Context, path string, c sqlite.Config) (reading.Database, error) {
	s, err := sqlite.Open(ctx, path, c)
	if err != nil {
		return nil, err // and not a Store that is nil, which is a Database
	}
	return s, nil
}

// onMaintained is a command that changes the archive of a data directory. Where create is false there must be one.
func onMaintained(c *cobra.Command, create bool,
	do func(c *cobra.Command, k control.Maintenance, args []string) error) *cobra.Command {
	return onArchive(c, func(c *cobra.Command, data string, args []string) error {
		return maintain(c.Context(), data, create, func(k control.Maintenance) error { return do(c, k, args) })
	})
}

// maintain has do change the archive of a data directory by what may: the node that runs on it, or else this process,
// by a daemon.OfflineArchive. Where create is false there must be an archive.
func maintain(ctx context.Context, data string, create bool, do func(control.Maintenance) error) error {
	return maintainWith(ctx, data, create, "", do)
}

// maintainWith is maintain with the patience for work on the whole file, "" for the default.
func maintainWith(ctx context.Context, data string, create bool, patience string,
	do func(control.Maintenance) error) error {
	client, err := control.Dial(data)
	if err == nil {
		defer client.Close()
		return do(client)
	}
	if !errors.Is(err, control.ErrNotRunning) {
		return advised(err, data)
	}
	k, err := daemon.OpenOffline(ctx, data, create, func(ctx context.Context, path string) (reading.Database, error) {
		return openDatabaseWith(ctx, path, sqlite.Config{WriterCache: 64 << 20, Patience: settings.Duration(patience)})
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noArchive(daemon.DatabasePath(data))
	case err != nil:
		return err
	}
	return errors.Join(do(k), k.Close())
}

// counted is how many entries there are, as progress is written.
func counted[T int | int64](n T) string { return plural(n, "entry", "entries") }

// total is how many entries the archive holds, 0 where that cannot be told.
func total(ctx context.Context, r archiveFile) int64 {
	stats, err := r.Stats(ctx)
	if err != nil {
		return 0 // only the progress wants it
	}
	return stats.Entries
}
