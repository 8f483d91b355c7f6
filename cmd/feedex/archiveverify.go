package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"feedex/archive/sqlite"
	"feedex/daemon"
	"feedex/settings"
)

func newArchiveVerify() *cobra.Command {
	var patience string
	c := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check every entry, the file and the full-text index",
		Long: `Check the archive, or FILE, which is a backup of one: the structure of the file and of its tables, that id
and digest of every entry are those of its content, and that the full-text index holds the words of every
entry and nothing else. What is wrong is printed line by line; the exit code is then 1.`,
		Example: `  feedex archive verify
  feedex archive verify /srv/backup/feedex-monday.db`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeFiles(),
	}
	patienceFlag(c, &patience)
	return onArchive(c, func(c *cobra.Command, data string, args []string) error {
		path := daemon.DatabasePath(data)
		if len(args) > 0 {
			path = args[0]
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				return hintedError{fmt.Errorf("there is no file %s", path),
					"name one that is there, or none to check the node's own archive"}
			}
		}
		line := newProgress(c.ErrOrStderr(), "verify")
		checked, problems := int64(0), int64(0)
		err := readArchiveWith(path, sqlite.Config{Patience: settings.Duration(patience)}, func(r archiveFile) error {
			all := total(c.Context(), r)
			return r.Verify(c.Context(), func(done int64) {
				checked = done
				line.at(done, all, counted)
			}, func(problem string) {
				line.end()
				problems++
				fmt.Fprintln(c.OutOrStdout(), printable(problem))
			})
		})
		line.end()
		switch {
		case err != nil:
			return err
		case problems > 0:
			return hintedError{fmt.Errorf("%s is damaged: %s", path, plural(problems, "problem", "problems")),
				"put a backup in its place, or move it away and fill a new one from 'feedex archive export'"}
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s checked, nothing is wrong\n", counted(checked))
		return err
	})
}
