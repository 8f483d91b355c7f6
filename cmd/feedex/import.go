package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"feedex/daemon"
	"feedex/opml"
)

// maxDuplicates is how many duplicates of an import are told one by one.
const maxDuplicates = 20

func newImport() *cobra.Command {
	c := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Follow every feed of an OPML file",
		Long: `Tell the running node to follow every feed of a list in OPML, as feed readers export it, from FILE or, for "-",
from standard input.

An address of a web page that names one feed becomes that feed, in its folders and under its title. Of one that names several
these are listed; it waits in 'feedex feeds' until one of them is followed. One that names none is asked for now and then,
and after a week no more.

A list may be damaged, in any encoding and written by hand. What cannot be used is told with its line and the reason,
the rest is followed, and the exit code is 1. Feeds that are followed already stay as they are, so that a repetition
follows what is missing. Whether a feed can be reached shows when it is polled: for that the command waits a minute
at most, and tells what could not be had. Interrupting it then loses nothing; 'feedex feeds' shows the same later.

An address at the node itself, as /opml?via=node of the reader address lists them, stands for the feed behind it.
Folders are kept, also of feeds that are followed already, as are the titles that the list gives to feeds; of folders
inside one another one is made, named "Outer › Inner". A feed whose URL holds a password, or looks as if it held a key, stays on
the node, as with 'feedex subscribe'; the command tells which do and why.`,
		Example: `  feedex import feeds.opml
  feedex export --data old | feedex import --data new -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("name one OPML file, or - for standard input")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"opml", "xml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	noWait := c.Flags().Bool("no-wait", false, "end before the feeds were asked for")
	withClient(c, func(c *cobra.Command, args []string, client *daemon.Client) error {
		name := args[0]
		list, err := readList(c, name)
		if name == "-" {
			name = "standard input"
		}
		if err != nil {
			return fmt.Errorf("import %s: %w", name, err)
		}
		line := newProgress(c.ErrOrStderr(), "import")
		followed, err := daemon.Follow(c.Context(), client, list.Feeds, func(done, total int) {
			line.at(int64(done), int64(total), grouped)
		})
		line.end()
		tellProblems(c.ErrOrStderr(), name, &list)
		tellDuplicates(c.ErrOrStderr(), name, followed.Duplicates)
		fmt.Fprintf(c.OutOrStdout(), "following %s more, %s\n", plural(int64(len(followed.New)), "feed", "feeds"),
			plural(int64(len(followed.Duplicates)), "duplicate", "duplicates"))
		tellKept(c.ErrOrStderr(), followed.Kept)
		if err == nil && !*noWait {
			err = tellFirstPolls(c.Context(), c.ErrOrStderr(), client, followed.New)
		}
		if n := len(list.Problems); err == nil && n > 0 {
			err = fmt.Errorf("import %s: %s not be used", name, plural(int64(n), "place could", "places could"))
		}
		return err
	})
	return c
}

// readList reads a list from a file, "-" for standard input.
func readList(c *cobra.Command, name string) (opml.List, error) {
	source := c.InOrStdin()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return opml.List{}, err
		}
		defer file.Close()
		source = file
	}
	document, err := io.ReadAll(io.LimitReader(source, opml.MaxBytes+1))
	if err != nil {
		return opml.List{}, err
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
			fmt.Fprintf(w, "%s more\n", plural(int64(len(list)-i), "duplicate", "duplicates"))
			return
		}
		reason := "is followed already"
		if d.First > 0 {
			reason = fmt.Sprintf("stands in line %d already", d.First)
		}
		fmt.Fprintf(w, "%s, line %d: %s %s\n", printable(name), d.Line, printable(string(d.URL)), reason)
	}
}
