package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"feedex/archive/sqlite"
	"feedex/daemon"
	"feedex/reading"
)

func newArchive() *cobra.Command {
	c := &cobra.Command{
		Use:   "archive",
		Short: "Count, check, copy and tidy up the archive",
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
	s := defaultSettings()
	bindClient(c.Flags(), &s)
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

// patienceFlag has a command take a flag for how long it works on the whole file and gets nowhere.
func patienceFlag(c *cobra.Command, patience *span) {
	c.Flags().Var(patience, "patience",
		"give up where the disk gets nowhere for so long, and as long again for each 60 MiB (default 1m)")
}

// readArchive opens the archive of a data directory for reading, whether or not a node runs on it.
func readArchive(data string) (*sqlite.Reader, error) {
	return readArchiveFile(daemon.DatabasePath(data), "")
}

func readArchiveFile(path string, patience span) (*sqlite.Reader, error) {
	r, err := sqlite.OpenReader(path, sqlite.Config{Patience: duration(patience)})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no archive %s", path)
	}
	return r, err
}

// openDatabase is how nodes open their archives: a daemon.OpenDatabase.
func openDatabase(path string) (reading.Database, error) {
	return openDatabaseWith(path, sqlite.Config{})
}

func openDatabaseWith(path string, c sqlite.Config) (reading.Database, error) {
	s, err := sqlite.Open(path, c)
	if err != nil {
		return nil, err // and not a Store that is nil, which is a Database
	}
	return s, nil
}

// openMaintenance finds what may change the archive of a data directory: the node that runs on it, or else this
// process. Where create is false there must be an archive. Patience is for work on the whole file, "" for the default.
func openMaintenance(data string, create bool, patience span) (_ daemon.Maintenance, local *daemon.OfflineArchive,
	closing func() error, err error) {
	client, err := daemon.Dial(data)
	if err == nil {
		return client, nil, func() error { client.Close(); return nil }, nil
	}
	if !errors.Is(err, daemon.ErrNotRunning) {
		return nil, nil, nil, advised(err, data)
	}
	k, err := daemon.OpenOffline(data, create, func(path string) (reading.Database, error) {
		return openDatabaseWith(path, sqlite.Config{WriterCache: 64 << 20, Patience: duration(patience)})
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil, fmt.Errorf("there is no archive %s", daemon.DatabasePath(data))
	case err != nil:
		return nil, nil, nil, err
	}
	return k, k, k.Close, nil
}

// counted is how many entries there are, as progress is written.
func counted(n int64) string { return plural(n, "entry", "entries") }

// total is how many entries the archive holds, 0 where that cannot be told.
func total(ctx context.Context, r *sqlite.Reader) int64 {
	stats, err := r.Stats(ctx)
	if err != nil {
		return 0 // only the progress wants it
	}
	return stats.Entries
}
