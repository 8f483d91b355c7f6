package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"feedex/archive/sqlite"
	"feedex/daemon"
	"feedex/internal/datadir"
)

func newArchiveBackup() *cobra.Command {
	var patience string
	var key bool
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the archive while the node runs",
		Long: `Copy the archive as it is at this moment to FILE, with all settings, while the node goes on working. FILE has
its name when it is complete and on the disk; one that is there already is left alone.

To restore it, stop the node and put FILE in the place of feedex.db in the data directory. Where the node was killed
a feedex.db-wal is there too, of what was there before: the node removes it when it starts on the backup. Beside a
copy that was made in another way it would be taken for the copy's own, and spoil it: remove it yourself.

With --key the node's private key is copied as well, to FILE.key, which only its owner can read: put it in the place
of node.key, and neighbors know the node again. Without it the node begins anew among them. Two nodes must not have
one key.`,
		Example: `  feedex archive backup /srv/backup/feedex-monday.db
  feedex archive verify /srv/backup/feedex-monday.db`,
		Args:              oneFile,
		ValidArgsFunction: completeFiles(),
	}
	patienceFlag(c, &patience)
	c.Flags().BoolVar(&key, "key", false, "copy the node's private key as well, to FILE.key")
	return onArchive(c, func(c *cobra.Command, data string, args []string) error {
		if _, err := os.Lstat(args[0] + ".key"); key && err == nil { // both are made, or neither
			return taken(fmt.Errorf("%s.key: %w", args[0], fs.ErrExist))
		}
		err := readArchive(daemon.DatabasePath(data), patience, func(r archiveFile) error {
			return backUp(c, r, args[0])
		})
		if err == nil && key {
			err = copyKey(data, args[0]+".key")
		}
		if err != nil {
			return taken(err)
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s, %s\n", printable(args[0]), byteSize(sizeOf(args[0])))
		return err
	})
}

// copyKey copies the node's private key.
func copyKey(data, path string) error {
	key, err := os.ReadFile(daemon.KeyPath(data))
	if err != nil {
		return fmt.Errorf("copy the node's key: %w; a node has one once it ran", err)
	}
	return datadir.Replace(path, key)
}

// backUp copies an archive, and shows how far that is.
func backUp(c *cobra.Command, r archiveFile, path string) error {
	stats, err := r.Stats(c.Context())
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- r.Backup(c.Context(), path) }()
	line := newProgress(c.ErrOrStderr(), "backup")
	defer line.end()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			line.at(sizeOf(sqlite.PartOf(path)), stats.Bytes-stats.Free, byteSize)
		case err := <-done:
			return err
		}
	}
}

// oneFile wants the name of the file to write. SQLite writes its pages in no order, which a pipe does not take.
func oneFile(_ *cobra.Command, args []string) error {
	switch {
	case len(args) != 1:
		return errors.New("name one file to write")
	case args[0] == "-":
		return errors.New("a backup cannot go to standard output: name a file and send that, or use " +
			"'feedex archive export', which has the entries alone; a file of this name is ./-")
	}
	return nil
}

// sizeOf is the size of a file, 0 where there is none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
