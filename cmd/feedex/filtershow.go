package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/reader"
	"feedex/reading"
	"feedex/safehtml"
)

// A shownFilter is a filter with what it caught last, and what its rule did to that.
type shownFilter struct {
	listedFilter
	Feed    string       `json:"feed"` // its path at the reader address
	Entries []shownCatch `json:"entries"`
}

// A shownCatch is an entry that a filter caught.
type shownCatch struct {
	jsonl.Entry
	Did    reading.Rule `json:"did,omitempty"`
	record archive.Record
}

func newFilterShow() *cobra.Command {
	var asJSON bool
	var person string
	limit := 10
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a search that is kept, and what it caught last",
		Long: `Show a filter: its words, where its feed is, how much it caught, and the latest of that with what its rule did to
each.`,
		Example:           "  feedex filter show Storms",
		Args:              oneArg("filter"),
		ValidArgsFunction: completeFilters,
	}
	onReader(c, func(c *cobra.Command, r archiveFile, args []string) error {
		id, err := personOf(c, r, person)
		if err != nil {
			return err
		}
		shelf := r.Shelf(id)
		named, err := filtersOf(c, r, person)
		if err != nil {
			return err
		}
		f, err := reading.FilterNamed(named, args[0])
		if err != nil {
			return err
		}
		all, err := shelf.CountedFilters(c.Context())
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(x reading.CountedFilter) bool { return x.ID == f.ID })
		if i < 0 {
			return reading.ErrNoFilter // it was removed just now
		}
		shown := shownFilter{listed(all[i]), reader.FilterPath(f.Name, "atom"), nil}
		if shown.Entries, err = catches(c, r, shelf, f.ID, limit); err != nil {
			return err
		}
		if asJSON {
			return printJSON(c.OutOrStdout(), shown)
		}
		return printFilter(c.OutOrStdout(), &shown)
	})
	c.Flags().Var(numberFlag(&limit, 1, maxLimit, ""), "limit", "at most n entries, up to 10000")
	jsonFlag(c.Flags(), &asJSON)
	personFlag(c, &person)
	return c
}

// catches are the latest entries that a filter caught.
func catches(c *cobra.Command, r archiveFile, shelf reading.Shelf, id reading.FilterID,
	limit int) ([]shownCatch, error) {
	items, err := shelf.CaughtBy(c.Context(), id, 0, true, limit)
	if err != nil {
		return nil, err
	}
	seqs, did := make([]int64, len(items)), make(map[int64]reading.Rule, len(items))
	for i := range items {
		seqs[i], did[items[i].Seq] = items[i].Seq, items[i].Did
	}
	list := []shownCatch{}
	for record, err := range r.Records(c.Context(), seqs) {
		if err != nil {
			return nil, err
		}
		list = append(list, shownCatch{jsonl.NewEntry(&record), did[record.Seq], record})
	}
	return list, nil
}

// askedText is when neighbors last answered for a filter, and are asked again.
func askedText(asked, next time.Time, trouble string) string {
	const layout = "2006-01-02 15:04"
	again := "again from " + next.Local().Format(layout)
	switch {
	case !asked.IsZero():
		return "the last time " + asked.Local().Format(layout) + ", and " + again
	case trouble != "":
		return "and nobody has answered yet; they are asked " + again
	}
	return "and are asked within minutes while a node runs"
}

// printFilter writes a filter for people.
func printFilter(out io.Writer, f *shownFilter) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, text string) { fmt.Fprintf(w, "%s\t%s\n", name, printable(text)) }
	line("name", f.Name)
	line("words", f.Words)
	if f.Problem != "" {
		line("problem", "it catches nothing: "+f.Problem)
	}
	if f.Folder != "" {
		line("folder", f.Folder)
	}
	line("kept", "since "+day(f.Created))
	line("caught", counted(f.Caught))
	if f.Rule != reading.RuleNone {
		rule := f.Does()
		if f.Rule != reading.RuleKeep {
			rule += ", which has acted on " + counted(f.Acted)
		}
		line("rule", rule)
	}
	if f.Standing {
		line("standing", "neighbors are told its words, "+askedText(f.Asked, f.Next, f.Trouble))
	}
	if f.Trouble != "" {
		line("trouble", f.Trouble)
	}
	if f.Found > 0 {
		line("found", counted(f.Found)+" of feeds that nobody here follows")
	}
	line("feed", f.Feed+" at the reader address, http://127.0.0.1:7791 by default")
	if err := w.Flush(); err != nil {
		return err
	}
	safe := safehtml.New()
	for i := range f.Entries {
		e := &f.Entries[i]
		text := e.Seen.Local().Format("2006-01-02 15:04") + "  " +
			shorten(cmp.Or(plainTitle(e.Title), safe.Opener(&e.record.Entry), "(no title)"), maxTitle)
		if e.Did != reading.RuleNone {
			text += " (" + string(e.Did) + ")"
		}
		if _, err := fmt.Fprintln(out, text); err != nil {
			return err
		}
	}
	return nil
}
