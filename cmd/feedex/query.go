package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/control"
	"feedex/daemon"
	"feedex/feed"
	"feedex/internal/when"
	"feedex/protocol"
	"feedex/safehtml"
	"feedex/settings"
)

// maxLimit is the most entries that a query may ask for.
const maxLimit = 10_000

// maxTitle is the most characters of a title that people are shown.
const maxTitle = 200

// A query holds the values of the flags of feedex query.
type query struct {
	feed         string
	title        []string
	since, until string
	limit        int
	relevance    bool
	json         bool
	network      bool
	fetch        bool
	hops         int // -1 where it was not given
	wait         string
}

func newQuery() *cobra.Command {
	q := query{limit: feed.DefaultLimit, hops: -1}
	c := &cobra.Command{
		Use:        "query [WORD...]",
		SuggestFor: []string{"search", "find"},
		Short:      "Search the archive",
		Long: `Search everything the node ever saw, the newest arrival first; the time in front is that of publication. Each
WORD must occur in an entry's title, text, authors or categories, whatever its case and accents. Without a WORD every
entry fits.

    emission*           every word that begins so
    "climate change"    words that follow one another
    storm OR flood      one of them, or both
    flood NOT insurance the one without the other; also 'flood -insurance', in quotes
    (storm OR flood) AND (coast OR river)
    title:storm*        in the title; also author:"jane doe", category:weather, feed:example.com

AND, OR and NOT are written in capitals; NOT binds strongest, OR weakest, and what stands side by side
is joined by AND. A shell takes quotes and parentheses for itself: put the whole in single quotes. An
argument of several words without any of these signs is a phrase.

A running node is asked; where none runs the archive is read itself.

'feedex filter add NAME WORD...' keeps a search, so that it catches what arrives from then on.

An entry of which there is one neighbor's word, and that no own poll has shown yet, is marked "unconfirmed".

With --relevance what fits best comes first: what holds the words in its title, often, or in a short text. Of
everything that fits, the newest thousand are looked at, and a thousand with the words in their titles. If
even that takes too long, a line on standard error says so.

What is beyond --limit is left out; a line on standard error says so.

--network asks the neighbors of the running node as well, and theirs on their behalf. What is here is printed at
once, what others have as they tell of it, with who has it; of that at most 200. A line on standard error says whether
that is complete. Such a query shows neighbors what you look for, though not that it is you who began: the node's
setting query.network says whether it is made only with --network (ask), always, or never. Nobody is asked about
feeds that are private.

--fetch downloads what only others have, from those who have it, and stores it as entries of the past: checked
against what was told of it, and unconfirmed until a poll shows it. A line on standard error says what came and what
did not. It asks the network even where --network is not said.

--json prints a list of objects with the members id, seq, feed, guid, title, link, authors, published, updated,
seen, source, confirmed, summary, content, categories and enclosures (url, type, length). What only others have
follows at the end, with the members id, digest, feed, title, link, published, updated, seen, holders, told, which
counts the neighbors that told of it, and here where --fetch has stored it. Times are RFC 3339 in UTC. What the
publisher did not say is left out; later versions may add members.`,
		Example: `  feedex query election --since 2d
  feedex query '"climate change" (emission* OR carbon) NOT market' --until 2025-01-01 --limit 10
  feedex query --feed https://example.com/feed.xml --title release --json
  feedex query 'walrus OR narwhal' --until 2020-01-01 --network --hops 3 --wait 10s --fetch`,
		Args: searchArgs,
	}
	f := c.Flags()
	f.Var(settings.TypedURL.Flag(&q.feed), "feed", "only entries of the feed at URL")
	f.Var(settings.Words.ListFlag(&q.title), "title", "only entries with words in the title (repeatable)")
	f.Var(settings.Moment.Flag(&q.since), "since",
		"only entries of this time or later: 2025-01-31, 2025-01-31T15:04:05Z, or a span before now: 36h, 2d, 2w, 1y")
	f.Var(settings.Moment.Flag(&q.until), "until", "only entries before this time")
	f.BoolVar(&q.relevance, "relevance", false, "what fits best first, in place of the newest")
	f.Var(numberFlag(&q.limit, 1, maxLimit, ""), "limit", "at most n entries, up to 10000")
	f.BoolVar(&q.network, "network", false, "ask neighbors too, and those beyond them")
	f.BoolVar(&q.fetch, "fetch", false, "download and store what only others have")
	usual := strconv.Itoa(protocol.DefaultQueryHops)
	f.Var(numberFlag(&q.hops, 0, protocol.MaxQueryHops, usual), "hops", "how far to ask, up to 5; 0 asks nobody")
	f.Var(settings.Span.Flag(&q.wait), "wait", "how long to wait for the network, up to 1m (default 4s)")
	jsonFlag(f, &q.json)
	settings.Bind(f, settings.Client)
	c.Annotations = map[string]string{helpEnd: clientSettings}
	_ = c.RegisterFlagCompletionFunc("feed", completeFeeds)
	c.RunE = func(c *cobra.Command, args []string) error {
		data, err := dataDirectory(c.Flags())
		if err != nil {
			return err
		}
		return q.run(c, data, args)
	}
	return c
}

// searchArgs refuses what cannot be searched for, and says at which column of all arguments together.
func searchArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := feed.ParseMatch(expression(args)); err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}

// expression joins the arguments. One of several words had quotes that the shell took: they were meant as
// such, unless there is more to the argument than words.
func expression(args []string) string {
	parts := slices.Clone(args)
	for i, arg := range args {
		fields := strings.Fields(arg)
		operator := func(f string) bool {
			return f == "AND" || f == "OR" || f == "NOT" || feed.Excludes(f)
		}
		if len(fields) > 1 && !strings.ContainsAny(arg, `"()`) && !slices.ContainsFunc(fields, operator) {
			_, term := feed.CutField(arg)
			parts[i] = strings.TrimSuffix(arg, term) + `"` + term + `"`
		}
	}
	return strings.Join(parts, " ")
}

// run searches and prints.
func (q *query) run(c *cobra.Command, data string, args []string) error {
	if err := q.checkWait(); err != nil {
		return err
	}
	now := time.Now()
	if err := checkRange(q.since, q.until, now); err != nil {
		return err
	}
	wanted := q.filter(args, now)
	client, err := control.Dial(data)
	switch {
	case err == nil:
		defer client.Close()
		if wanted.Feed, err = q.typedFeed(c.Context(), client); err != nil {
			return err
		}
		return q.askNode(c, client, wanted)
	case !errors.Is(err, control.ErrNotRunning):
		return advised(err, data)
	}
	r, err := openArchive(daemon.DatabasePath(data))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return advised(fmt.Errorf("there is no archive in %s and %w there", data, control.ErrNotRunning), data)
	case err != nil:
		return fmt.Errorf("open archive: %w", err)
	}
	defer r.Close()
	if wish := q.wish(); wish != nil && *wish {
		return hintedError{fmt.Errorf("ask the network: %w on %s", control.ErrNotRunning, data),
			"start one with: feedex node"}
	}
	wanted.Limit++ // to see whether there are more
	records, err := r.Search(c.Context(), wanted)
	if tries, _ := feed.ParseTyped(q.feed); len(tries) > 1 && len(records) == 0 && err == nil {
		wanted.Feed = tries[1]
		records, err = r.Search(c.Context(), wanted)
	}
	if errors.Is(err, archive.ErrCut) {
		defer fmt.Fprintln(c.ErrOrStderr(), archive.ErrCut)
	} else if err != nil {
		return fmt.Errorf("search the archive: %w", err)
	}
	if len(records) > q.limit {
		records = records[:q.limit]
		defer fmt.Fprintln(c.ErrOrStderr(), q.cutOff())
	}
	return printFound(c, r, records, q.json, "nothing found")
}

// printFound writes the records that a search found, as JSON or for people, who are told where there are none.
func printFound(c *cobra.Command, r archiveFile, records []archive.Record, asJSON bool, none string) error {
	if asJSON {
		return printJSON(c.OutOrStdout(), jsonl.Entries(records))
	}
	if len(records) == 0 {
		fmt.Fprintln(c.ErrOrStderr(), none)
		return nil
	}
	titles := make(map[feed.URL]string)
	feeds, _ := r.Feeds(c.Context()) // without titles, hosts must do
	for i := range feeds {
		titles[feeds[i].URL] = feeds[i].Title
	}
	return printRecords(c.OutOrStdout(), records, titles)
}

// cutOff says that there is more than the limit lets through, and what to do about it.
func (q *query) cutOff() string {
	if q.limit < maxLimit {
		return fmt.Sprintf("more than %d match; raise --limit", q.limit)
	}
	return fmt.Sprintf("more than %d match; narrow the search", q.limit)
}

// typedFeed is the feed that is meant, "" for none. While the node rests and tells nothing of what it follows, or where
// it follows nothing by that address, it is what the archive has something of.
func (q *query) typedFeed(ctx context.Context, client *control.Client) (feed.URL, error) {
	tries, _ := feed.ParseTyped(q.feed) // its kind has checked it
	if len(tries) == 0 {
		return "", nil
	}
	if find, err := daemon.Finder(ctx, client); err == nil { // else the search says what is wrong, if it is
		f, u, err := find(q.feed)
		if err != nil || f != nil {
			return u, err
		}
		tries[0] = u
	}
	for _, u := range tries[1:] {
		if here, err := client.Search(ctx, feed.Filter{Feed: tries[0], Limit: 1}); err != nil || len(here) > 0 {
			return tries[0], err
		}
		tries[0] = u
	}
	return tries[0], nil
}

// filter is the query as the archive understands it.
func (q *query) filter(args []string, now time.Time) feed.Filter {
	f := feed.Filter{Title: q.title, Limit: q.limit, Relevance: q.relevance}
	if len(args) > 0 {
		m, _ := feed.ParseMatch(expression(args)) // searchArgs has checked it
		f.Ask(m)
	}
	if tries, _ := feed.ParseTyped(q.feed); q.feed != "" { // its kind has checked it
		f.Feed = tries[0]
	}
	f.Since, f.Until = at(q.since, now), at(q.until, now)
	return f
}

// at is the moment that t names, seen from now; the zero time where none was set.
func at(t string, now time.Time) time.Time {
	m, _ := when.Moment(t, now) // its kind has checked it
	return m
}

// checkRange refuses a range of time that has nothing in it.
func checkRange(since, until string, now time.Time) error {
	if since == "" || until == "" || at(since, now).Before(at(until, now)) {
		return nil
	}
	return settings.UsageError{Err: fmt.Errorf("--until %s is not after --since %s, so there is nothing between",
		until, since)}
}

// printRecords writes records for people, two lines each: when, where and what; then the link.
func printRecords(w io.Writer, records []archive.Record, titles map[feed.URL]string) error {
	safe := safehtml.New()
	for i := range records {
		r := &records[i]
		source := sourceTitle(titles, r.Entry.Feed)
		if !r.Confirmed {
			source += " (unconfirmed)"
		}
		_, err := fmt.Fprintf(w, "%s  %s: %s\n", r.Time().Local().Format("2006-01-02 15:04"), source,
			shorten(cmp.Or(plainTitle(r.Entry.Title), safe.Opener(&r.Entry), "(no title)"), maxTitle))
		if link := printable(r.Entry.Link); link != "" && err == nil {
			_, err = fmt.Fprintf(w, "    %s\n", link)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sourceTitle is the title by which people know a feed.
func sourceTitle(titles map[feed.URL]string, u feed.URL) string {
	return shorten(cmp.Or(plainTitle(titles[u]), printable(u.Host())), 40)
}
