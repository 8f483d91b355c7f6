package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"feedex/archive/sqlite"
	"feedex/daemon"
	"feedex/internal/datadir"
	"feedex/settings"
)

func newArchiveBackup() *cobra.Command {
	var patience string
	var key bool
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the archive while the node runs",
		Long: `Copy the archive as it is at this moment to FILE, while the node goes on working: entries, feeds and folders,
people, passwords, filters and all else that is chosen on pages and by commands, but for what --key copies. The config
file is not copied. FILE has its name when it is complete and on the disk; one that is there already is left alone.

An archive that an older feedex wrote is copied as it is: do so before the node of a newer one begins, which converts
it, because nothing leads back.

To restore it, stop the node and put FILE in the place of feedex.db in the data directory. What you put there must
belong to the user whom the node runs as, as the directory does: chown -R USER DIR/. Where the node was killed a
feedex.db-wal is there too, which has the latest of what was there before: the node makes it a feedex.db-wal.old when it
starts on the backup. Where you moved that feedex.db away, as to OTHER.db, it belongs beside it as OTHER.db-wal; else
remove it. Beside a copy that was made in another way it would be taken for the copy's own, and spoil it: move it away
yourself. The numbers by which readers know entries go on far behind those of the backup, as the archive has given out
others since; those of other copies go on where they ended.

With --key the node's private key is copied as well, to FILE.key, and what else makes the node the one it is: to
FILE.sources the trackers and neighbors that were named while it ran, to FILE.dht the answer about the DHT, and to
FILE.saving.json and the like the services that entries are saved to. Only their owner can read them. Put FILE.key in
the place of node.key, and neighbors know the node again; the others go beside it, named sources, dht and saving.json.
Without the key the node begins anew among neighbors. Two nodes must not have one key.`,
		Example: `  feedex archive backup /srv/backup/feedex-monday.db
  feedex archive verify /srv/backup/feedex-monday.db`,
		Args:              oneFile,
		ValidArgsFunction: completeFiles(),
	}
	patienceFlag(c, &patience)
	c.Flags().BoolVar(&key, "key", false,
		"copy the node's private key as well, to FILE.key, and the other files that are its own")
	return onArchive(c, func(c *cobra.Command, data string, args []string) error {
		// Nothing leads back from what a node converts: who wants a copy first has it by the newer program, too.
		opening := sqlite.Config{Patience: settings.Duration(patience), Older: true}
		err := readArchiveWith(daemon.DatabasePath(data), opening, func(r archiveFile) error {
			var own map[string][]byte
			if key {
				var err error
				if own, err = ownFiles(data, args[0]); err != nil {
					return err
				}
			}
			if err := backUp(c, r, args[0]); err != nil {
				return err
			}
			return addFiles(args[0], own)
		})
		if err != nil {
			return taken(err)
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s, %s\n", printable(args[0]), byteSize(sqlite.SizeOf(args[0])))
		return err
	})
}

// ownFiles are the texts of the files that make the node the one it is, by where beside the backup they go. It is an
// error if there is a file already.
func ownFiles(data, backup string) (map[string][]byte, error) {
	texts, err := daemon.OwnFiles(data)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; a node has one once it ran", err)
	}
	if err != nil {
		return nil, fmt.Errorf("copy the node's key: %w", err)
	}
	own := make(map[string][]byte)
	for name, text := range texts {
		own[backup+"."+strings.TrimPrefix(name, "node.")] = text
	}
	for _, beside := range slices.Sorted(maps.Keys(own)) {
		if _, err := os.Lstat(beside); err == nil {
			return nil, fmt.Errorf("%s: %w", beside, fs.ErrExist)
		}
	}
	return own, nil
}

// addFiles makes files beside a backup that was just made: all of them, or none and no backup either.
func addFiles(backup string, files map[string][]byte) error {
	made := []string{backup}
	for path, text := range files {
		if err := datadir.Create(path, text); err != nil {
			for _, path := range made {
				os.Remove(path)
			}
			return err
		}
		made = append(made, path)
	}
	return nil
}

// backUp copies an archive, and shows how far that is.
func backUp(c *cobra.Command, r archiveFile, path string) error {
	stats, _ := r.Stats(c.Context()) // nothing, where an older feedex wrote it
	done := make(chan error, 1)
	go func() { done <- r.Backup(c.Context(), path) }()
	line := newProgress(c.ErrOrStderr(), "backup")
	defer line.end()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			line.at(sqlite.SizeOf(sqlite.PartOf(path)), stats.Bytes-stats.Free, byteSize)
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
