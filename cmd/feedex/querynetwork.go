package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/control"
	"feedex/feed"
	"feedex/internal/when"
	"feedex/protocol"
	"feedex/settings"
)

// checkWait refuses what no node waits for.
func (q *query) checkWait() error {
	if d := settings.Duration(q.wait); q.wait != "" && d > protocol.MaxWait {
		return settings.UsageError{Err: fmt.Errorf("--wait is %s, want at most %s",
			when.Text(d), when.Text(protocol.MaxWait))}
	}
	if q.fetch && q.hops == 0 {
		return settings.UsageError{Err: errors.New("--fetch has nobody to ask with --hops 0")}
	}
	return nil
}

// wish says whether neighbors are to be asked, nil where that is left to the node.
func (q *query) wish() *bool {
	wish := q.network || q.fetch || q.hops > 0
	if q.hops == 0 {
		wish = false // whatever else is said: a query of no hops stays here
	} else if !wish {
		return nil
	}
	return &wish
}

// askNode has a running node search, here and with others, and prints what it says as it comes.
func (q *query) askNode(c *cobra.Command, node *control.Client, wanted feed.Filter) error {
	p := queryPrinter{out: c.OutOrStdout(), notes: c.ErrOrStderr(), query: q}
	p.titles = sync.OnceValue(func() map[feed.URL]string { // once something is found: a first poll brings a title, too
		titles := make(map[feed.URL]string)
		feeds, _ := node.Feeds(c.Context()) // without titles, hosts must do
		for i := range feeds {
			titles[feeds[i].URL] = feeds[i].Title
		}
		return titles
	})
	err := node.Query(c.Context(), control.QueryRequest{
		Filter: wanted, Network: q.wish(), Hops: max(q.hops, 0), Wait: settings.Duration(q.wait),
	}, p.print)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return fmt.Errorf("search the archive: %w", err)
	}
	var fetched string
	if q.fetch && p.last.Problem == "" {
		if fetched, err = p.fetch(c.Context(), node); err != nil {
			return fmt.Errorf("download: %w", err)
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	fmt.Fprint(p.notes, fetched)
	return nil
}

// A queryPrinter prints what comes of a query.
type queryPrinter struct {
	out, notes io.Writer
	query      *query
	titles     func() map[feed.URL]string
	found      int
	entries    []any    // for JSON
	stored     []string // ids of what was downloaded
	more       bool
	unranked   bool
	last       control.QueryEnd
}

// print takes in one part.
func (p *queryPrinter) print(part control.QueryPart) error {
	switch {
	case part.End != nil:
		p.last = *part.End
	case part.Here != nil:
		p.more, p.unranked = part.Here.More, part.Here.Cut
		p.found += len(part.Here.Records)
		if !p.query.json {
			return printRecords(p.out, part.Here.Records, p.titles())
		}
		for i := range part.Here.Records {
			p.entries = append(p.entries, jsonl.NewEntry(&part.Here.Records[i]))
		}
	case !p.query.json:
		for i := range part.Found {
			if part.Found[i].Here { // beyond the limit, or in another version
				continue
			}
			p.found++
			if err := p.printRemote(&part.Found[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// printRemote writes what a neighbor told, like printRecords, and its holders.
func (p *queryPrinter) printRemote(r *control.Remote) error {
	text := r.Time().Local().Format("2006-01-02 15:04") + "  " + sourceTitle(p.titles(), r.Feed) + ": " +
		shorten(cmp.Or(plainTitle(r.Title), "(no title)"), maxTitle) + "\n"
	if link := printable(r.Link); link != "" {
		text += "    " + link + "\n"
	}
	_, err := io.WriteString(p.out, text+"    at "+holderText(r.Holders)+"\n")
	return err
}

// fetch has the node download those entries that only others have, and returns what there is to say about it.
func (p *queryPrinter) fetch(ctx context.Context, node *control.Client) (string, error) {
	var wanted []control.Remote
	for _, r := range p.last.Found {
		if !r.Here {
			wanted = append(wanted, r)
		}
	}
	if len(wanted) == 0 {
		return "nothing to download\n", nil
	}
	got, err := node.Pull(ctx, wanted)
	if err != nil {
		return "", err
	}
	p.stored = got.Stored
	text := plural(len(got.Stored), "entry", "entries") + " downloaded and stored"
	if n := len(got.Missing); n > 0 {
		text += fmt.Sprintf("; %s could not be had", grouped(n))
	}
	for _, why := range got.Refused {
		text += fmt.Sprintf("\nrefused from %s: %s", why.Holder, printable(why.Why))
	}
	return text + "\n", nil
}

// holderText names the first of an entry's holders.
func holderText(holders []protocol.NodeID) string {
	switch len(holders) {
	case 0:
		return "nobody who can be reached"
	case 1:
		return holders[0].String()
	}
	return fmt.Sprintf("%s and %d more", holders[0], len(holders)-1)
}

// end prints what can be said at the end only.
func (p *queryPrinter) end() error {
	q, end := p.query, p.last
	if end.Problem != "" && (q.network || q.fetch) {
		return fmt.Errorf("ask the network: %s", end.Problem)
	}
	if q.json {
		for _, r := range end.Found {
			if !r.Here {
				r.Here = slices.Contains(p.stored, r.ID)
				p.entries = append(p.entries, r)
			}
		}
		if err := printJSON(p.out, append([]any{}, p.entries...)); err != nil {
			return err
		}
	} else if p.found == 0 {
		fmt.Fprintln(p.notes, "nothing found")
	}
	if p.unranked {
		fmt.Fprintln(p.notes, archive.ErrCut)
	}
	if p.more && !slices.Contains(end.Cut, "limit") {
		fmt.Fprintln(p.notes, q.cutOff())
	}
	if end.Network {
		fmt.Fprintln(p.notes, q.verdict(end))
	}
	return nil
}

// verdict says whether an answer of the network is complete.
func (q *query) verdict(end control.QueryEnd) string {
	asked := fmt.Sprintf("asked %s", plural(end.Asked, "neighbor", "neighbors"))
	switch {
	case end.Problem != "":
		return "asked no neighbor: " + end.Problem
	case end.Asked == 0 && len(end.Cut) == 0:
		return "asked no neighbor: there is none"
	case len(end.Cut) == 0:
		return asked + "; complete, as far as the query may go"
	}
	return asked + "; there may be more: " + cutWords(end.Cut, map[string]string{"limit": q.cutOff(),
		"time": "some had not answered in time (--wait)", "hops": "some are further away (--hops)"})
}
