package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/daemon"
	"feedex/discover"
	"feedex/feed"
	"feedex/node"
	"feedex/opml"
	"feedex/reading"
)

// maxDuplicates is how many duplicates of an import are told one by one.
const maxDuplicates = 20

func newImport() *cobra.Command {
	c := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Follow every feed of an OPML file",
		Long: `Tell the running node to follow every feed of a list in OPML, as feed readers export it, from FILE or, for "-",
from standard input.

An address of a web page that names one feed becomes that feed, in its folders and under its title; so does one that
has moved to another for good. Of one that
names several these are listed; it waits in 'feedex feeds' until one of them is followed. One that names none is
asked for now and then, and after a week no more.

A list may be damaged, in any encoding and written by hand. What cannot be used is told with its line and the reason,
the rest is followed, and the exit code is 1. A repetition follows what is missing. Whether a feed can be reached
shows when it is polled: for that the command waits a minute at most, and tells what could not be had. Interrupting it
then loses nothing; 'feedex feeds' shows the same later.

An address at the node itself, as /opml?via=node of the reader address lists them, stands for the feed behind it.
Folders are kept, and the titles that the list gives to feeds: also of feeds that are followed already, which else stay
as they are, in their other folders too, and with the titles that you gave them. Of folders inside one another one is
made, named "Outer › Inner"; of one that has the name of a filter or a label none is. A feed whose URL holds a
password, or looks as if it held a key, stays on the node, as with 'feedex subscribe'; the command tells which do and
why.`,
		Example: `  feedex import feeds.opml
  feedex export --data old | feedex import --data new -`,
		Args:              oneArg("OPML file, or - for standard input"),
		ValidArgsFunction: completeFiles("opml", "xml"),
	}
	unread := backlogFlag(c)
	noWait := c.Flags().Bool("no-wait", false, "end before the feeds were asked for")
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		name := args[0]
		list, err := readList(c, name)
		if name == "-" {
			name = "standard input"
		}
		if err != nil {
			return fmt.Errorf("import %s: %w", name, err)
		}
		line := newProgress(c.ErrOrStderr(), "import")
		followed, err := daemon.Follow(c.Context(), client, list.Feeds, *unread, func(done, total int) {
			line.at(int64(done), int64(total), grouped)
		})
		line.end()
		list.Problems = append(list.Problems, followed.Problems...)
		tellProblems(c.ErrOrStderr(), name, &list)
		tellDuplicates(c.ErrOrStderr(), name, followed.Duplicates)
		fmt.Fprintf(c.OutOrStdout(), "following %s more, %s\n", plural(len(followed.New), "feed", "feeds"),
			plural(len(followed.Duplicates), "duplicate", "duplicates"))
		tellKept(c, followed.Kept, stays)
		if err == nil && !*noWait {
			err = tellFirstPolls(c, client, followed.New)
		}
		if n := len(list.Problems); err == nil && n > 0 {
			err = fmt.Errorf("import %s: %s not be used", name, plural(n, "place could", "places could"))
		}
		return err
	})
	return c
}

// readList reads a list from a file, "-" for standard input.
func readList(c *cobra.Command, name string) (opml.List, error) {
	source, err := openInput(c, name)
	if err != nil {
		return opml.List{}, err
	}
	defer source.Close()
	document, err := io.ReadAll(io.LimitReader(source, opml.MaxBytes+1))
	if err != nil {
		return opml.List{}, err
	}
	if bytes.HasPrefix(document, []byte(gzipMagic)) {
		return opml.List{}, hintedError{errors.New("it is compressed"),
			"take it in with: gunzip -c FILE | feedex import -"}
	}
	return opml.Read(document)
}

// tellProblems tells what of a list could not be used, and why.
func tellProblems(w io.Writer, name string, list *opml.List) {
	for _, p := range list.Problems {
		fmt.Fprintf(w, "%s, %s\n", printable(name), printable(p.String()))
	}
}

// tellDuplicates tells which feeds of a list brought nothing new.
func tellDuplicates(w io.Writer, name string, list []daemon.Duplicate) {
	for i, d := range list {
		if i == maxDuplicates {
			fmt.Fprintf(w, "%s more\n", plural(len(list)-i, "duplicate", "duplicates"))
			return
		}
		fmt.Fprintf(w, "%s, line %d: %s %s\n", printable(name), d.Line, printable(string(d.URL)), d.Reason())
	}
}

const (
	// firstPollsTime is how long to wait for them: a node begins with most of its feeds within a minute.
	firstPollsTime = time.Minute
	// lastLookTime is how long to wait for what came of them.
	lastLookTime = 5 * time.Second
	// maxUnreachable is how many feeds that failed are told one by one.
	maxUnreachable = 20
)

// tellFirstPolls waits until the node has polled each of the feeds once, firstPollsTime at most, and tells which of
// them it did not get and why. The node goes on by itself however that ends.
func tellFirstPolls(c *cobra.Command, client *control.Client, list []feed.URL) error {
	if len(list) == 0 {
		return nil
	}
	ctx, w := c.Context(), c.ErrOrStderr()
	line := newProgress(w, "first polls")
	polling, cancel := context.WithTimeout(ctx, firstPollsTime)
	defer cancel()
	waiting := len(list)
	err := client.FirstPolls(polling, list, func(n int) error {
		waiting = n
		line.at(int64(len(list)-waiting), int64(len(list)), grouped)
		return nil
	})
	line.end()
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		fmt.Fprintln(w, "the running node is of an older version and does not tell of first polls, see 'feedex feeds'")
		return nil
	case err != nil && polling.Err() == nil:
		return err
	}
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLookTime)
	defer cancel()
	known, err := client.Feeds(looking)
	if err != nil {
		return err
	}
	tellUnreachable(c, tellPages(w, known, list), waiting)
	return context.Cause(ctx)
}

// tellPages tells which addresses of a list led to other feeds, web pages by naming them and others by having moved
// there, which are followed in their place. It returns those that could not be had.
func tellPages(w io.Writer, known []node.FeedStatus, list []feed.URL) (failed []*node.FeedStatus) {
	status := make(map[feed.URL]*node.FeedStatus, len(known))
	for i := range known {
		status[known[i].Page] = &known[i]
	}
	for i := range known {
		status[known[i].URL] = &known[i]
	}
	pages := 0
	for _, u := range list {
		f := status[u]
		if f == nil {
			continue // a page, and what it names was followed already
		}
		if f.LastError != "" {
			failed = append(failed, f)
		}
		if f.URL == u {
			continue
		}
		switch pages++; {
		case pages <= maxUnreachable:
			fmt.Fprintf(w, "%s leads to %s, which is followed\n", printable(string(u)),
				printable(string(f.URL)))
		case pages == maxUnreachable+1:
			fmt.Fprintln(w, "more addresses led to other feeds, see 'feedex feeds'")
		}
	}
	return failed
}

// tellUnreachable tells which feeds could not be had.
func tellUnreachable(c *cobra.Command, failed []*node.FeedStatus, waiting int) {
	w := c.ErrOrStderr()
	for i, f := range failed {
		if i == maxUnreachable {
			fmt.Fprintf(w, "%s more could not be had, see 'feedex feeds'\n", plural(len(failed)-i, "feed", "feeds"))
			break
		}
		if len(f.Names) > 0 {
			fmt.Fprintln(w, toChoose(c, string(f.URL), discover.LendAll(f.URL, f.Names)))
			continue
		}
		fmt.Fprintf(w, "%s could not be had: %s\n", printable(string(f.URL)), feedError(f))
	}
	if waiting > 0 {
		fmt.Fprintf(w, "%s yet to be asked for, see 'feedex feeds'\n", plural(waiting, "feed is", "feeds are"))
	}
}

func newExport() *cobra.Command {
	c := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write the feeds that the node follows as OPML",
		Long: `Write the feeds that the node follows as a list in OPML 2.0, which feed readers and 'feedex import'
take, to FILE or else to standard output: in their folders, and with the titles that they were given. A FILE has its
name when it is complete; one that is there already is left alone. It works while the node runs and while it does
not.

All feeds are in the list, private ones and those whose URL holds a password or a key too: look after the file. The list
at /opml of the reader address leaves out the latter, because other users of the machine can read it. To copy the
entries as well there is 'feedex archive backup'.`,
		Example:           "  feedex export feeds.opml",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeFiles("opml", "xml"),
	}
	return onReader(c, func(c *cobra.Command, r archiveFile, args []string) error {
		feeds, err := r.Shelf(reading.Owner).Subscriptions(c.Context())
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		list := reading.ListOf(feeds)
		err = writeTo(c, args, func(w io.Writer) error { return opml.Write(w, list, time.Now()) })
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		fmt.Fprintf(c.ErrOrStderr(), "%s exported\n", plural(len(feeds), "feed", "feeds"))
		return nil
	})
}
