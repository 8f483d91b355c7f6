package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"feedex/archive"
	"feedex/control"
	"feedex/daemon"
	"feedex/feed"
	"feedex/reading"
	"feedex/settings"
)

func newFilter() *cobra.Command {
	c := &cobra.Command{
		Use:   "filter",
		Short: "Keep searches that catch what arrives",
		Long: `Searches that a person keeps, in the language of 'feedex query'. A filter catches what arrives and
fits, and the latest of what came before. What it caught is a feed at the reader address, /filter/NAME.atom, .rss or
.json, and a label or folder in readers that keep what is read at the node. A rule may follow from what it catches.

Filters are the person's and stay on the node: neighbors are told nothing of them, but for the words of those that the
owner has them asked for (add --standing).

All of it works while a node runs and while none does.`,
		Example: `  feedex filter test storm NOT brain
  feedex filter add Storms storm NOT brain
  feedex filter add --rule mute 'No sports' 'football OR tennis'
  feedex filter list`,
	}
	c.AddCommand(newFilterAdd(), newFilterList(), newFilterShow(), newFilterStanding(), newFilterRemove(),
		newFilterTest(), newFilterExport(), newFilterImport())
	return c
}

// personFlag has a command take a flag for whose filters are meant.
func personFlag(c *cobra.Command, person *string) {
	c.Flags().StringVar(person, "person", "",
		"whose it is, by the `name` that 'feedex person list' has; the owner's by default")
}

func newFilterAdd() *cobra.Command {
	var r control.FilterRequest
	var rule string
	c := &cobra.Command{
		Use:   "add NAME WORD...",
		Short: "Keep a search",
		Long: fmt.Sprintf(`Keep a search by a NAME of one line, which no other filter, no folder and no label of the person has. The words are
those of 'feedex query': they must occur in an entry's title, text, authors or categories, and are joined by AND, OR and
NOT. What arrives from then on and fits is caught, and of what came before the latest %d.

A rule acts once, on what arrives, for this person alone. Of several filters that catch the same entry the rule of the
first acts, in the order in which they were made, and beside it each that labels.

    mute    it is neither listed nor unread
    read    it is read
    star    it is starred
    full    its full text is fetched from its page, once an own poll has shown it: 50 a day of a feed, the owner's alone
    label   it gets the label of --label, which is made where there is none, and keeps nothing from being purged
    keep    it is purged for nobody as long as the filter is there: this goes for all that the filter has

`+standingWords,
			reading.MaxCaught),
		Example: `  feedex filter add Storms storm NOT brain
  feedex filter add --standing Walrus 'walrus OR morse'
  feedex filter add --label recipes Soups 'soup NOT primordial'
  feedex filter add --folder Work --rule star 'Our project' '"feed reader" OR feedex'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("name a filter and say what it is to catch")
			}
			return wordsArgs(args[1:])
		},
	}
	onArchive(c, func(c *cobra.Command, data string, args []string) error {
		r.Name, r.Words, r.Rule = args[0], expression(args[1:]), reading.Rule(rule)
		if rule == "" && c.Flags().Changed("label") {
			r.Rule = reading.RuleLabel
		}
		_, m, err := r.Checked()
		if err != nil {
			return settings.UsageError{Err: err}
		}
		sayPhrase(c.ErrOrStderr(), m)
		return maintain(c.Context(), data, true, func(k control.Maintenance) error {
			report, err := k.AddFilter(c.Context(), r)
			if err != nil {
				return fmt.Errorf("add filter %q: %w", r.Name, err)
			}
			if report.Everything {
				fmt.Fprintln(c.ErrOrStderr(), everything)
			}
			fmt.Fprintf(c.ErrOrStderr(), "%s of what came before fit\n", counted(report.Caught))
			if r.Standing {
				fmt.Fprintln(c.ErrOrStderr(), isTold)
			}
			return nil
		})
	})
	c.Flags().StringVar(&r.Folder, "folder", "", "the `name` of the folder that it is filed in")
	c.Flags().StringVar(&rule, "rule", "", "what follows from what it catches: mute, read, star, full, label or keep")
	completeRules(c)
	c.Flags().StringVar(&r.Label, "label", "",
		"the `name` of the label that the rule label gives, which need not be said then")
	c.Flags().BoolVar(&r.Standing, "standing", false, "have neighbors asked too: they are told its words")
	personFlag(c, &r.Person)
	return c
}

// wordsArgs refuses what cannot be searched for, and says at which column of all arguments together.
func wordsArgs(args []string) error {
	if _, err := feed.ParseMatch(expression(args)); err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	return nil
}

// sayPhrase warns of words that read as if they named a field.
func sayPhrase(w io.Writer, m feed.Match) {
	if name, term := m.Unfielded(); name != "" {
		fmt.Fprintf(w, "%s: is no field, as title:, author:, category: and feed: are: %q is looked for as a phrase\n",
			name, term)
	}
}

// everything warns of words that exclude, and ask for nothing.
const everything = "this catches everything that arrives, but for what its words exclude"

// A listedFilter is a filter as it is listed.
type listedFilter struct {
	reading.FilterWish
	Created time.Time `json:"created"`
	Caught  int       `json:"caught"`
	Acted   int       `json:"acted"`
	Latest  time.Time `json:"latest,omitzero"`
	Problem string    `json:"problem,omitempty"`
	Found   int       `json:"found,omitempty"`
	Asked   time.Time `json:"asked,omitzero"`
	Next    time.Time `json:"next,omitzero"`
	Trouble string    `json:"trouble,omitempty"`
}

func listed(f reading.CountedFilter) listedFilter {
	l := listedFilter{f.FilterWish, f.Created, f.Caught, f.Acted, f.Latest, f.Problem, f.Found, f.Asked, f.Next,
		f.Trouble}
	if !f.Standing {
		l.Next, l.Trouble = time.Time{}, "" // neighbors are asked no more
	}
	return l
}

func newFilterList() *cobra.Command {
	var person string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the searches that are kept",
		Long: `List the filters of a person, in the order of their rules: what each is to catch, how many entries it has, on how many
its rule acted, and when it caught the last of them. FOUND is how many entries of feeds that nobody here follows
neighbors had for it.`,
		Args: noArgs,
	}
	personFlag(c, &person)
	read := func(c *cobra.Command, r archiveFile) (lines []listedFilter, err error) {
		id, err := personOf(c, r, person)
		if err != nil {
			return nil, err
		}
		filters, err := r.Shelf(id).CountedFilters(c.Context())
		for _, f := range filters {
			lines = append(lines, listed(f))
		}
		return lines, err
	}
	return keptListing(c, "there are no filters", read, printFilters)
}

// filtersOf are the filters of the person of a name, the owner where it is "".
func filtersOf(c *cobra.Command, r archiveFile, person string) ([]reading.NamedFilter, error) {
	id, err := personOf(c, r, person)
	if err != nil {
		return nil, err
	}
	return r.Shelf(id).Filters(c.Context())
}

// completeFilters completes the names of the filters of the person whom a command is about, but those that a shell or
// the command would take for something else.
func completeFilters(c *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	data, err := dataDirectory(c.Flags())
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	person, _ := c.Flags().GetString("person")
	_ = readArchive(daemon.DatabasePath(data), func(r archiveFile) error { // what cannot be read has no names
		filters, err := filtersOf(c, r, person)
		for i := range filters {
			names = append(names, filters[i].Name)
		}
		return err
	})
	help := cobra.AppendActiveHelp(nil, "")[0]
	names = slices.DeleteFunc(names, func(name string) bool {
		return strings.HasPrefix(name, "-") || strings.HasPrefix(name, help)
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeRules completes what a filter may do.
func completeRules(c *cobra.Command) {
	var words []string
	for _, r := range reading.Rules() {
		words = append(words, string(r))
	}
	_ = c.RegisterFlagCompletionFunc("rule", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// personOf is the person of a name, the owner where it is "".
func personOf(c *cobra.Command, r archiveFile, name string) (reading.PersonID, error) {
	if name == "" {
		return reading.Owner, nil
	}
	people, err := r.People(c.Context())
	if err != nil {
		return 0, err
	}
	p, err := reading.Named(people, name)
	return p.ID, err
}

// printFilters writes a table for people.
func printFilters(w io.Writer, list []listedFilter) error {
	t := newTable(0, 7, "NAME", "CAUGHT", "ACTED", "FOUND", "LATEST", "RULE", "WORDS")
	for _, f := range list {
		latest := "never"
		if !f.Latest.IsZero() {
			latest = day(f.Latest)
		}
		words := printable(f.Words)
		if problem := cmp.Or(f.Problem, f.Trouble); problem != "" {
			words += " (" + problem + ")"
		}
		t.row(printable(f.Name), grouped(f.Caught), grouped(f.Acted), foundText(f), latest, printable(f.Does()), words)
	}
	return t.write(w)
}

// foundText is how many entries neighbors had for a filter, "" where they are and were never asked.
func foundText(f listedFilter) string {
	if !f.Standing && f.Found == 0 {
		return ""
	}
	return grouped(f.Found)
}

func newFilterRemove() *cobra.Command {
	var r control.FilterRemoval
	c := &cobra.Command{
		Use:   "remove NAME",
		Short: "Keep a search no more",
		Long: `Remove a filter. What it caught stays, but entries that it kept may go as any other. What its rule did to that stays
done as well, unless --take-back reverses it where nothing was marked since: as it is removed, or of one that was
removed not more than ten minutes ago. Of labels it takes those away that the filter alone gave.`,
		Example: `  feedex filter remove Storms
  feedex filter remove --take-back 'No sports'`,
		Args:              oneArg("filter"),
		ValidArgsFunction: completeFilters,
	}
	onMaintained(c, false, func(c *cobra.Command, k control.Maintenance, args []string) error {
		r.Name = args[0]
		rule, err := k.RemoveFilter(c.Context(), r)
		switch {
		case err != nil || !rule.Acts():
		case r.TakeBack:
			fmt.Fprintln(c.ErrOrStderr(), "what its rule did is taken back, where nothing was marked since")
		default:
			fmt.Fprintln(c.ErrOrStderr(), "what its rule did stays done; within ten minutes "+
				"'feedex filter remove --take-back NAME' takes it back")
		}
		return err
	})
	c.Flags().BoolVar(&r.TakeBack, "take-back", false, "take back what its rule did, where nothing was marked since")
	personFlag(c, &r.Person)
	return c
}

func newFilterTest() *cobra.Command {
	var asJSON bool
	var rule, person string
	since, limit := "30d", feed.DefaultLimit
	c := &cobra.Command{
		Use:   "test WORD...",
		Short: "Show what a search would have caught in the last month",
		Long: fmt.Sprintf(`Show which entries of the last 30 days, or since whenever is said, a filter of these words would
have caught, the newest first. Nothing is kept. A line on standard error says how many of all that is here it would
catch, up to the latest %d, and what a rule would do to those if the page Filters had it act on them: the one of
--rule, or each.`, reading.MaxCaught),
		Example: `  feedex filter test storm NOT brain
  feedex filter test --rule mute --limit 3 football`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("say what it is to catch")
			}
			return wordsArgs(args)
		},
	}
	onReader(c, func(c *cobra.Command, r archiveFile, args []string) error {
		m, err := feed.ParseMatch(expression(args))
		if err != nil {
			return settings.UsageError{Err: err}
		}
		id, err := personOf(c, r, person)
		if err != nil {
			return err
		}
		if err := checkRule(reading.Rule(rule)); err != nil {
			return err
		}
		rules := reading.Rules()
		if rule != "" {
			rules = []reading.Rule{reading.Rule(rule)}
		} else if id != reading.Owner {
			rules = slices.DeleteFunc(rules, func(r reading.Rule) bool { return r == reading.RuleFull })
		}
		if id != reading.Owner && slices.Contains(rules, reading.RuleFull) {
			return settings.UsageError{Err: reading.ErrOwnersRule}
		}
		sayPhrase(c.ErrOrStderr(), m)
		f := feed.Filter{Since: at(since, time.Now()), Limit: limit + 1}
		f.Ask(m)
		records, err := r.Search(c.Context(), f)
		if err != nil {
			return fmt.Errorf("search the archive: %w", err)
		}
		if archive.NewMatcher(f).Match(&archive.Record{Seen: time.Now()}) {
			fmt.Fprintln(c.ErrOrStderr(), everything)
		}
		if len(records) > limit {
			records = records[:limit]
			defer fmt.Fprintf(c.ErrOrStderr(), "there are more than %d; --limit shows more\n", limit)
		}
		if err := printFound(c, r, records, asJSON, "nothing would have been caught"); err != nil {
			return err
		}
		return sayRules(c, r.Shelf(id), m, rules)
	})
	c.Flags().Var(settings.Moment.Flag(&since), "since",
		"only entries of this time or later: 2025-01-31, or a span before now: 36h, 2d, 2w, 1y")
	c.Flags().Var(numberFlag(&limit, 1, maxLimit, ""), "limit", "at most n entries, up to 10000")
	c.Flags().StringVar(&rule, "rule", "", "the rule that is tried: mute, read, star, full, label or keep")
	completeRules(c)
	personFlag(c, &person)
	jsonFlag(c.Flags(), &asJSON)
	return c
}

// checkRule refuses what is no rule.
func checkRule(r reading.Rule) error {
	w := reading.FilterWish{Name: "x", Words: "x", Rule: r}
	if r == reading.RuleLabel {
		w.Label = "y"
	}
	if _, _, err := w.Checked(); err != nil {
		return settings.UsageError{Err: err}
	}
	return nil
}

// sayRules says how much of what is here a filter would catch, and what each of the rules would do to that.
func sayRules(c *cobra.Command, shelf reading.Shelf, m feed.Match, rules []reading.Rule) error {
	items, err := shelf.Find(c.Context(), m, nil, reading.MaxCaught)
	if errors.Is(err, archive.ErrSlow) {
		fmt.Fprintln(c.ErrOrStderr(), "how many of all that is here fit takes too long to count")
		return nil
	}
	if err != nil {
		return fmt.Errorf("search the archive: %w", err)
	}
	if len(items) == 0 {
		fmt.Fprintln(c.ErrOrStderr(), "it would catch nothing of what is here")
		return nil
	}
	on, err := shelf.RulesOn(c.Context(), time.Now(), items)
	if err != nil {
		return fmt.Errorf("count what rules would change: %w", err)
	}
	on[reading.RuleKeep] = len(items)
	var would []string
	for _, r := range rules {
		would = append(would, r.Would(on[r]))
	}
	what := counted(len(items))
	if len(items) == reading.MaxCaught {
		what = "the latest " + what
	}
	fmt.Fprintf(c.ErrOrStderr(), "it would catch %s of what is here; a rule that acts on them would %s\n", what,
		strings.Join(would, ", or "))
	return nil
}
