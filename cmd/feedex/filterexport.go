package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/daemon"
	"feedex/reading"
)

func newFilterExport() *cobra.Command {
	var person string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the searches that are kept to standard output",
		Long: `Write the filters of a person to standard output, one a line and in their order, each an object in JSON with the
members name, words, folder, rule, label and standing; those that are empty are left out. 'feedex filter import' reads
it.`,
		Args: noArgs,
	}
	onReader(c, func(c *cobra.Command, r archiveFile, _ []string) error {
		filters, err := filtersOf(c, r, person)
		if err != nil {
			return err
		}
		out := json.NewEncoder(c.OutOrStdout())
		out.SetEscapeHTML(false)
		for _, f := range filters {
			if err := out.Encode(f.FilterWish); err != nil {
				return err
			}
		}
		return nil
	})
	personFlag(c, &person)
	return c
}

// maxFilterLine is how long a line of a list of filters may be.
const maxFilterLine = 64 << 10

// readFilters reads a list of filters, and says in which line something is wrong.
func readFilters(in io.Reader) (list []reading.FilterWish, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxFilterLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")) // as editors write it before the first
		if len(line) == 0 {
			continue
		}
		var w reading.FilterWish
		err := json.Unmarshal(line, &w)
		if w.Label != "" && w.Rule == reading.RuleNone { // it need not be said
			w.Rule = reading.RuleLabel
		}
		if err == nil {
			w, _, err = w.Checked()
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if list = append(list, w); len(list) > reading.MaxFilters {
			return nil, fmt.Errorf("line %d: a person has %d filters at most", n, reading.MaxFilters)
		}
	}
	return list, lines.Err()
}

// namesOf are the names of a person.
func namesOf(ctx context.Context, s reading.Shelf) (n reading.Names, err error) {
	if n.Filters, err = s.Filters(ctx); err != nil {
		return n, err
	}
	if n.Folders, err = s.Folders(ctx); err != nil {
		return n, err
	}
	n.Labels, err = s.Labels(ctx)
	return n, err
}

// namesBefore are the names of a person in an archive, none where there is no archive yet.
func namesBefore(c *cobra.Command, data, person string) (id reading.PersonID, n reading.Names, err error) {
	r, err := openArchive(daemon.DatabasePath(data))
	if errors.Is(err, fs.ErrNotExist) {
		return reading.Owner, n, nil
	} else if err != nil {
		return id, n, err
	}
	defer r.Close()
	if id, err = personOf(c, r, person); err == nil {
		n, err = namesOf(c.Context(), r.Shelf(id))
	}
	return id, n, err
}

func newFilterImport() *cobra.Command {
	var person string
	var standing bool
	c := &cobra.Command{
		Use:   "import [FILE]",
		Short: "Keep the searches of an export",
		Long: `Keep the filters that 'feedex filter export' wrote, from a file or from standard input, behind those that there are.
Those that are there already are left as they are; where the list has another filter of that name the command says so.
A list with anything wrong in it is not begun with: so with a name twice, or one that a folder or a label has.

Neighbors are asked for none of them, whatever the list says, unless --standing has them asked for those of which it
says so.`,
		Example: `  feedex filter export --data old | feedex filter import --data new`,
		Args:    cobra.MaximumNArgs(1),
	}
	onArchive(c, func(c *cobra.Command, data string, args []string) error {
		in, err := openInput(c, append(args, "-")[0])
		if err != nil {
			return err
		}
		defer in.Close()
		list, err := readFilters(in)
		if err != nil {
			return fmt.Errorf("read filters: %w", err)
		}
		id, before, err := namesBefore(c, data, person)
		if err != nil {
			return err
		}
		stand := make(map[string]bool) // those that stood where the list is from, and shall not here
		for i := range list {
			if list[i].Standing && !standing {
				stand[list[i].Name], list[i].Standing = true, false
			}
		}
		add, others, err := before.Adding(id, list)
		if err != nil {
			return fmt.Errorf("no filter is added: %w", err)
		}
		return maintain(c.Context(), data, true, func(k control.Maintenance) error {
			var err error
			added, stay := int64(0), 0
			for _, w := range add {
				if _, err = k.AddFilter(c.Context(), control.FilterRequest{Person: person, FilterWish: w}); err != nil {
					err = fmt.Errorf("add filter %q: %w", w.Name, err)
					break
				}
				added++
				if stand[w.Name] {
					stay++
				}
			}
			fmt.Fprintf(c.ErrOrStderr(), "%s added\n", plural(added, "filter", "filters"))
			for _, w := range others {
				fmt.Fprintf(c.ErrOrStderr(), "there is another filter %q, which is left as it is\n", w.Name)
			}
			if stay > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "neighbors are not asked for %d of them, as they were where the list is "+
					"from; 'feedex filter standing NAME' has them asked, and told the words\n", stay)
			}
			return err
		})
	})
	c.Flags().BoolVar(&standing, "standing", false,
		"have neighbors asked for those of which the list says so: they are told the words")
	personFlag(c, &person)
	return c
}
