package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"feedex/opml"
	"feedex/reading"
)

func newExport() *cobra.Command {
	c := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write the feeds that the node follows as OPML",
		Long: `Write the feeds that the node follows as a list in OPML 2.0, which feed readers and 'feedex import' take, to FILE or
else to standard output: in their folders, and with the titles that they were given. A FILE has its name when it is complete; one that is there already is left alone. It works
while the node runs and while it does not.

All feeds are in the list, private ones and those whose URL holds a password or a key too: look after the file. The list
at /opml of the reader address leaves out the latter, because other users of the machine can read it. To copy the
entries as well there is 'feedex archive backup'.`,
		Example: "  feedex export feeds.opml",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"opml", "xml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	return onArchive(c, func(c *cobra.Command, data string, args []string) error {
		r, err := readArchive(data)
		if err != nil {
			return err
		}
		defer r.Close()
		feeds, err := r.Subscriptions(c.Context())
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		list := reading.ListOf(feeds)
		write := func(w io.Writer) error { return opml.Write(w, list, time.Now()) }
		if len(args) == 0 || args[0] == "-" {
			err = write(c.OutOrStdout())
		} else {
			err = writeNew(args[0], write)
		}
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		fmt.Fprintf(c.ErrOrStderr(), "%s exported\n", plural(int64(len(feeds)), "feed", "feeds"))
		return nil
	})
}
