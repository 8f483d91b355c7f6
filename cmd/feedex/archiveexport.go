package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/control"
	"feedex/daemon"
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
else. Later versions may add members. What is chosen on pages and by commands is not exported: 'feedex archive
backup --key' copies that; the config file is in neither.

Entries of private feeds are written like all others: look after the file.`,
		Example: `  feedex archive export entries.jsonl
  feedex archive export --feed https://example.com/feed.xml | gzip > example.jsonl.gz`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeFiles(),
	}
	c.Flags().Var(settings.FeedURL.Flag(&only), "feed", "only entries of the feed at URL")
	_ = c.RegisterFlagCompletionFunc("feed", completeFeeds)
	return onReader(c, func(c *cobra.Command, r archiveFile, args []string) error {
		x := export{reader: r, progress: newProgress(c.ErrOrStderr(), "export")}
		if only == "" {
			x.total = total(c.Context(), r)
		} else {
			x.feed, _ = feed.ParseURL(only) // its kind has checked it
		}
		err := writeTo(c, args, func(w io.Writer) error { return x.write(c.Context(), w) })
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
	reader      archive.Contents
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
	if x.done == 0 && x.feed != "" {
		return fmt.Errorf("the archive has no entry of %s: 'feedex archive stats' lists the feeds that it has some of",
			printable(string(x.feed)))
	}
	return out.Flush()
}

// gzipMagic begins every file that was compressed as the help of the export shows it (RFC 1952 §2.3.1).
const gzipMagic = "\x1f\x8b"

// maxBadLines is how many bad lines of an import are told one by one.
const maxBadLines = 20

func newArchiveImport() *cobra.Command {
	c := &cobra.Command{
		Use:   "import [FILE...]",
		Short: "Take in entries that another archive exported",
		Long: `Take in the lines that 'feedex archive export' wrote, from FILEs or else from standard input. Where no node
runs and there is no archive, one is made.

An entry that is there already stays as it is, so that a repetition adds what is missing: an import that was
cut short, even by a crash, is finished by running it again. What is added is no news. It stands behind
everything that arrived, keeps its dates, is not offered to neighbors, and counts as unconfirmed, whatever
the other archive says, until the node has seen it itself.

A line that holds no entry, or one whose id or digest is not that of its content, is left out; its number and
the reason go to standard error, and the exit code is 1.`,
		Example: `  feedex archive import entries.jsonl
  ssh other feedex archive export | feedex archive import`,
		ValidArgsFunction: completeFiles(),
	}
	return onMaintained(c, true, func(c *cobra.Command, k control.Maintenance, args []string) error {
		in := importing{archive: k, stderr: c.ErrOrStderr(), progress: newProgress(c.ErrOrStderr(), "import")}
		return in.files(c, args)
	})
}

// files imports files, standard input where there are none, and says what came of it.
func (in *importing) files(c *cobra.Command, names []string) (err error) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if err = in.file(c, name); err != nil {
			break
		}
	}
	in.progress.end()
	if local, is := in.archive.(*daemon.OfflineArchive); is && err == nil {
		err = indexAll(c, local)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s added, %s there already\n", counted(in.added), grouped(in.read-in.added))
	if err == nil && in.bad > 0 {
		err = fmt.Errorf("%s left out", plural(in.bad, "line was", "lines were"))
	}
	return err
}

// indexAll brings what was imported into the full-text index. Where the owner interrupts it, the node does the rest.
func indexAll(c *cobra.Command, k *daemon.OfflineArchive) error {
	line := newProgress(c.ErrOrStderr(), "index")
	defer line.end()
	for first := int64(0); ; {
		left, err := k.Index()
		if err != nil || left == 0 || c.Context().Err() != nil {
			return err
		}
		first = max(first, int64(left))
		line.at(first-int64(left), first, counted)
	}
}

// importing is an import at work.
type importing struct {
	archive          control.Maintenance
	stderr           io.Writer
	progress         *progress
	read, added, bad int64
}

// file imports the lines of a file, "-" for standard input.
func (in *importing) file(c *cobra.Command, name string) error {
	source, err := openInput(c, name)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	defer source.Close()
	var size int64
	if name == "-" {
		name = "standard input"
	} else if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	text := bufio.NewReader(source)
	if head, _ := text.Peek(len(gzipMagic)); string(head) == gzipMagic {
		return hintedError{fmt.Errorf("import %s: it is compressed", name),
			"take it in with: gunzip -c FILE | feedex archive import"}
	}
	var failed error // to import what was read
	err = control.ReadImport(c.Context(), text, func(part control.ImportPart) error {
		for _, bad := range part.Bad {
			in.complain(name, bad)
		}
		if len(part.Lines) == 0 {
			return nil
		}
		var added int
		added, failed = in.archive.Import(c.Context(), part.Lines)
		in.read, in.added = in.read+int64(len(part.Lines)), in.added+int64(added)
		in.progress.at(part.Read, size, byteSize)
		return failed
	})
	if err != nil && failed == nil && c.Context().Err() == nil {
		return fmt.Errorf("import %s: %w", name, err)
	}
	return err
}

// complain tells of a line that is left out.
func (in *importing) complain(name string, bad jsonl.BadLine) {
	in.progress.end()
	switch in.bad++; {
	case in.bad <= maxBadLines:
		fmt.Fprintf(in.stderr, "%s, %s\n", printable(name), printable(bad.Error()))
	case in.bad == maxBadLines+1:
		fmt.Fprintln(in.stderr, "more lines were left out")
	}
}
