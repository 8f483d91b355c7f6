package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"feedex/archive"
	"feedex/archive/sqlite"
	"feedex/control"
	"feedex/daemon"
)

func newArchiveVacuum() *cobra.Command {
	var patience string
	c := &cobra.Command{
		Use:   "vacuum",
		Short: "Give back the room on disk that holds nothing",
		Long: `Give back to the disk what is free in the archive's file: 'feedex archive stats' shows how much that is. A
running node does so in small steps and goes on working meanwhile.

Where no node runs the file is rewritten, so that what belongs together is side by side again; the disk must have
room for a second and a third copy meanwhile. So it is, once, with a file that an older feedex made: a running node
then does nothing else until that is done, up to a minute for a gigabyte, while neighbors and commands wait. The
command says so before it begins; to choose the time, stop the node first.

A disk that is slow does not keep the command for ever: see --patience, which holds where no node runs.`,
		Args: noArgs,
	}
	patienceFlag(c, &patience)
	return onArchive(c, func(c *cobra.Command, data string, _ []string) error {
		var before int64
		err := maintainWith(c.Context(), data, false, patience, func(k control.Maintenance) error {
			before = archiveSize(data)
			if _, local := k.(*daemon.OfflineArchive); !local && !inSteps(c, data) {
				fmt.Fprintf(c.ErrOrStderr(), "an older feedex made the file: it is rewritten once, and the node does "+
					"nothing else for about %s\n",
					roughly(max(time.Second, time.Duration(before/rewritten)*time.Second)))
			}
			return k.Vacuum(c.Context())
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s, before %s\n", byteSize(archiveSize(data)), byteSize(before))
		return err
	})
}

// rewritten is about how many bytes of an archive are rewritten in a second.
const rewritten = 24 << 20

// inSteps reports whether the room that is free in the archive can be given back in steps.
func inSteps(c *cobra.Command, data string) bool {
	var stats archive.Stats
	err := readArchive(daemon.DatabasePath(data), func(r archiveFile) (err error) {
		stats, err = r.Stats(c.Context())
		return err
	})
	return err != nil || stats.InSteps // the attempt will say what is wrong
}

// archiveSize is how much room the archive of a data directory takes, with the log beside it.
func archiveSize(data string) int64 {
	path := daemon.DatabasePath(data)
	return sqlite.SizeOf(path) + sqlite.SizeOf(path+"-wal")
}
