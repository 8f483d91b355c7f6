package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"feedex/archive/jsonl"
	"feedex/archive/sqlite"
	"feedex/feed"
	"feedex/settings"
)

func newArchiveExport() *cobra.Command {
	var only string
	c := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write all entries as lines of JSON",
		Long: `Write every entry with all that the archive knows of it, as one JSON object a line (JSON Lines), the newest
arrival first, to FILE or else to standard output. Entries that arrive meanwhile are not among them. A FILE
has its name when it is complete; one that is there already is left alone.

A line has the members of 'feedex query --json', and digest, and hidden where the entry is served to nobody
else. Later versions may add members. Settings are not exported: 'feedex archive backup' copies everything.

Entries of private feeds are written like all others: look after the file.`,
		Example: `  feedex archive export entries.jsonl
  feedex archive export --feed https://example.com/feed.xml | gzip > example.jsonl.gz`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	c.Flags().Var(settings.FeedURL.Flag(&only), "feed", "only entries of the feed at URL")
	_ = c.RegisterFlagCompletionFunc("feed", completeFeeds)
	return onArchive(c, func(c *cobra.Command, data string, args []string) error {
		r, err := readArchive(data)
		if err != nil {
			return err
		}
		defer r.Close()
		x := export{reader: r, progress: newProgress(c.ErrOrStderr(), "export")}
		if only == "" {
			x.total = total(c.Context(), r)
		} else {
			x.feed, _ = feed.ParseURL(only) // its kind has checked it
		}
		if len(args) == 0 || args[0] == "-" {
			err = x.write(c.Context(), c.OutOrStdout())
		} else {
			err = writeNew(args[0], func(w io.Writer) error { return x.write(c.Context(), w) })
		}
		x.progress.end()
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		fmt.Fprintf(c.ErrOrStderr(), "%s exported\n", counted(x.done))
		return nil
	})
}

// An export is one at work.
type export struct {
	reader      *sqlite.Reader
	feed        feed.URL // "" for all
	progress    *progress
	done, total int64
}

// write writes the lines.
func (x *export) write(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriterSize(w, 256<<10)
	var buf []byte
	for e, err := range x.reader.Export(ctx, x.feed) {
		if err != nil {
			return err
		}
		line := jsonl.NewLine(&e.Record, e.Hidden)
		if buf, err = line.Append(buf[:0]); err != nil {
			return err
		}
		if _, err := out.Write(buf); err != nil {
			return err
		}
		x.done++
		x.progress.at(x.done, x.total, counted)
	}
	return out.Flush()
}
