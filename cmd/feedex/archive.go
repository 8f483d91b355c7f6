package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"feedex/archive"
	"feedex/archive/sqlite"
	"feedex/control"
	"feedex/daemon"
	"feedex/internal/when"
	"feedex/reading"
	"feedex/settings"
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

// openArchive opens an archive for reading. Patience is for work on the whole file, "" for the default. The error wraps
// fs.ErrNotExist where there is none.
func openArchive(path, patience string) (archiveFile, error) {
	r, err := sqlite.OpenReader(path, sqlite.Config{Patience: settings.Duration(patience)})
	if err != nil {
		return nil, err // and not a Reader that is nil, which is an archiveFile
	}
	return r, nil
}

// readArchive has do read an archive.
func readArchive(path, patience string, do func(archiveFile) error) error {
	r, err := openArchive(path, patience)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no archive %s", path)
	case err != nil:
		return err
	}
	defer r.Close()
	return do(r)
}

// onReader is a command that reads the archive of a data directory.
func onReader(c *cobra.Command, do func(c *cobra.Command, r archiveFile, args []string) error) *cobra.Command {
	return onArchive(c, func(c *cobra.Command, data string, args []string) error {
		return readArchive(daemon.DatabasePath(data), "", func(r archiveFile) error { return do(c, r, args) })
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

// maintain has do change the archive of a data directory by what may: the node that runs on it, or else this process,
// which then has it as local. Where create is false there must be an archive. Patience is for work on the whole file,
// "" for the default.
func maintain(data string, create bool, patience string,
	do func(k control.Maintenance, local *daemon.OfflineArchive) error) error {
	client, err := control.Dial(data)
	if err == nil {
		defer client.Close()
		return do(client, nil)
	}
	if !errors.Is(err, control.ErrNotRunning) {
		return advised(err, data)
	}
	k, err := daemon.OpenOffline(data, create, func(path string) (reading.Database, error) {
		return openDatabaseWith(path, sqlite.Config{WriterCache: 64 << 20, Patience: settings.Duration(patience)})
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no archive %s", daemon.DatabasePath(data))
	case err != nil:
		return err
	}
	return errors.Join(do(k, k), k.Close())
}

// counted is how many entries there are, as progress is written.
func counted(n int64) string { return plural(n, "entry", "entries") }

// total is how many entries the archive holds, 0 where that cannot be told.
func total(ctx context.Context, r archiveFile) int64 {
	stats, err := r.Stats(ctx)
	if err != nil {
		return 0 // only the progress wants it
	}
	return stats.Entries
}

// archiveStats is what feedex archive stats --json prints.
type archiveStats struct {
	File string `json:"file"`
	archive.Stats
	ByFeed []archive.FeedStats `json:"by_feed"`
}

func newArchiveStats() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "stats",
		Short: "Count what the archive holds, feed by feed",
		Long: `Count what the archive holds, and of each feed how many entries there are, how large their texts are and
from when to when. Unconfirmed is an entry of which there is one neighbor's or an export's word, filled in one
that came from another archive, hidden one that is served to nobody else.

--json prints an object with the members file, entries, feeds, unindexed, bytes, free and by_feed, a list of
objects with url, title, subscribed, entries, bytes, unconfirmed, filled, hidden, oldest and newest, and where less
is kept of the feed than of others keep_bytes, keep_age (seconds) and keep_count. The table has a column KEEPS
where that is so of any feed.`,
		Args: noArgs,
	}
	jsonFlag(c.Flags(), &asJSON)
	return onArchive(c, func(c *cobra.Command, data string, _ []string) error {
		st := archiveStats{File: daemon.DatabasePath(data)}
		err := readArchive(st.File, "", func(r archiveFile) (err error) {
			if st.Stats, err = r.Stats(c.Context()); err == nil {
				st.ByFeed, err = r.FeedStats(c.Context())
			}
			return err
		})
		switch {
		case err != nil:
			return err
		case asJSON:
			return printJSON(c.OutOrStdout(), st)
		}
		return printStats(c.OutOrStdout(), &st, widthOf(c.OutOrStdout()))
	})
}

// printStats writes them for people.
func printStats(out io.Writer, st *archiveStats, width int) error {
	var sum archive.FeedStats
	for i := range st.ByFeed {
		f := &st.ByFeed[i]
		sum.Unconfirmed, sum.Filled, sum.Hidden = sum.Unconfirmed+f.Unconfirmed, sum.Filled+f.Filled,
			sum.Hidden+f.Hidden
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "archive\t%s\n", printable(st.File))
	fmt.Fprintf(w, "entries\t%s of %s; %s unconfirmed, %s filled in, %s hidden\n", grouped(st.Entries),
		plural(st.Feeds, "feed", "feeds"),
		grouped(sum.Unconfirmed), grouped(sum.Filled), grouped(sum.Hidden))
	fmt.Fprintf(w, "on disk\t%s, of which %s hold nothing\n", byteSize(st.Bytes), byteSize(st.Free))
	if st.Unindexed > 0 {
		fmt.Fprintf(w, "index\tlacks %s, which searches find all the same, but more slowly\n", counted(st.Unindexed))
	}
	if err := w.Flush(); err != nil || len(st.ByFeed) == 0 {
		return err
	}
	fmt.Fprintln(out)
	heading := []string{"FEED", "TITLE", "ENTRIES", "SIZE", "UNCONFIRMED", "FILLED IN", "HIDDEN", "OLDEST", "NEWEST"}
	bounded := slices.ContainsFunc(st.ByFeed, func(f archive.FeedStats) bool { return keeps(&f) != "" })
	if bounded {
		heading = append(heading, "KEEPS")
	}
	t := newTable(width, 2, heading...)
	for i := range st.ByFeed {
		f := &st.ByFeed[i]
		title := shorten(plainTitle(f.Title), 30)
		if f.Apart {
			title = "(as others know it)"
		}
		cells := []string{printable(string(f.URL)), title, grouped(f.Entries), byteSize(f.Bytes),
			grouped(f.Unconfirmed), grouped(f.Filled), grouped(f.Hidden), day(f.Oldest), day(f.Newest)}
		if bounded {
			cells = append(cells, cmp.Or(keeps(f), "-"))
		}
		t.row(cells...)
	}
	return t.write(out)
}

// keeps is what is kept of a feed at most, "" where it has no limit of its own.
func keeps(f *archive.FeedStats) string {
	var bounds []string
	if f.KeepBytes > 0 {
		bounds = append(bounds, byteSize(f.KeepBytes))
	}
	if f.KeepAge > 0 {
		bounds = append(bounds, when.Text(time.Duration(f.KeepAge)*time.Second))
	}
	if f.KeepCount > 0 {
		bounds = append(bounds, counted(f.KeepCount))
	}
	return strings.Join(bounds, ", ")
}

// day is the day of t, "-" for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateOnly)
}

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
		}
		line := newProgress(c.ErrOrStderr(), "verify")
		checked, problems := int64(0), int64(0)
		err := readArchive(path, patience, func(r archiveFile) error {
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

func newArchiveBackup() *cobra.Command {
	var patience string
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the archive while the node runs",
		Long: `Copy the archive as it is at this moment to FILE, with all settings, while the node goes on working. FILE has
its name when it is complete and on the disk; one that is there already is left alone.

To restore it, stop the node and put FILE in the place of feedex.db in the data directory. Where the node was killed a
feedex.db-wal is there too, of what was there before: the node removes it when it starts on the backup. Beside a copy that
was made in another way it would be taken for the copy's own, and spoil it: remove it yourself.`,
		Example: `  feedex archive backup /srv/backup/feedex-monday.db
  feedex archive verify /srv/backup/feedex-monday.db`,
		Args:              oneFile,
		ValidArgsFunction: completeFiles(),
	}
	patienceFlag(c, &patience)
	return onArchive(c, func(c *cobra.Command, data string, args []string) error {
		err := readArchive(daemon.DatabasePath(data), patience, func(r archiveFile) error {
			return backUp(c, r, args[0])
		})
		if err != nil {
			return taken(err)
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s, %s\n", printable(args[0]), byteSize(sizeOf(args[0])))
		return err
	})
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

// oneFile wants the name of the file to write.
func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name one file to write")
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

func newArchiveVacuum() *cobra.Command {
	var patience string
	c := &cobra.Command{
		Use:   "vacuum",
		Short: "Give back the room on disk that holds nothing",
		Long: `Give back to the disk what is free in the archive's file: 'feedex archive stats' shows how much that is. A
running node does so in small steps and goes on working meanwhile.

Where no node runs the file is rewritten, so that what belongs together is side by side again; the disk must have room for a
second and a third copy meanwhile. So it is, once, with a file that an older feedex made: a running node then does nothing
else until that is done, up to a minute for a gigabyte, while neighbors and commands wait. The command says so before it
begins; to choose the time, stop the node first.

A disk that is slow does not keep the command for ever: see --patience, which holds where no node runs.`,
		Args: noArgs,
	}
	patienceFlag(c, &patience)
	return onArchive(c, func(c *cobra.Command, data string, _ []string) error {
		var before int64
		err := maintain(data, false, patience, func(k control.Maintenance, local *daemon.OfflineArchive) error {
			before = archiveSize(data)
			if local == nil && !inSteps(c, data) {
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
	err := readArchive(daemon.DatabasePath(data), "", func(r archiveFile) (err error) {
		stats, err = r.Stats(c.Context())
		return err
	})
	return err != nil || stats.InSteps // the attempt will say what is wrong
}

// archiveSize is how much room the archive of a data directory takes, with the log beside it.
func archiveSize(data string) int64 {
	path := daemon.DatabasePath(data)
	return sizeOf(path) + sizeOf(path+"-wal")
}

// writeTo writes to the file that the first argument names, standard output where it is "-" or there is none.
func writeTo(c *cobra.Command, args []string, write func(io.Writer) error) error {
	if len(args) == 0 || args[0] == "-" {
		return write(c.OutOrStdout())
	}
	return writeNew(args[0], write)
}

// writeNew writes a new file, for its owner alone, which has its name when it is complete. One that is there already is
// left alone.
func writeNew(path string, write func(io.Writer) error) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return taken(fmt.Errorf("%s: %w", path, fs.ErrExist))
	}
	part := path + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		os.Remove(part)
	}
	return err
}

// taken says what to do where an error is that a file is there already.
func taken(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w; choose another name, or remove it first", err)
	}
	return err
}
