package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"feedex/backfill"
	"feedex/control"
	"feedex/feed"
	"feedex/settings"
)

// A spanFlags holds the values of the flags of feedex backfill.
type spanFlags struct {
	since, until           string
	noNetwork, noPublisher bool
	json                   bool
}

func newBackfill() *cobra.Command {
	var b spanFlags
	c := &cobra.Command{
		Use:   "backfill URL",
		Short: "Fill in what a feed published before it was followed",
		Long: `Have the running node fill in the past of a feed: from the documents of the publisher's own archive, where the feed
leads to one (RFC 5005), and from what neighbors, and those beyond them, have kept of it.

What comes is no news: it stands behind what arrived, with the time at which it was published. Each entry from the
network is checked against what those who listed it said of it, and stays unconfirmed until the publisher shows it.

Neighbors that do not answer in time are asked again, twice at most and with longer waits. Where none answers at all the
backfill is not done: it says so, --json has "unanswered": true, and the exit code is 1. So it is where nobody else is
asked and nothing can be read at the URL.

At the end it says what is still missing: entries that others listed and that nobody gave, and those that came
out between two polls. Stopped, or killed, it goes on from where it was when it is called again: what is here is
not downloaded again, only the publisher's documents are read once more.

It asks one thing at a time and leaves some seconds between, so years of a feed may take some minutes. It reads 500
documents of the publisher at most, of any size: by itself (the setting backfill) the node reads no more than about 200
MB of text there. Asking shows neighbors that somebody looks for the feed; the setting query.network = "never" forbids
it. Of private feeds nobody but the publisher is asked.`,
		Example: `  feedex backfill https://example.com/feed.xml
  feedex backfill https://example.com/feed.xml --since 2y --no-publisher`,
		Args: cobra.MatchAll(oneArg("feed"), eachArg(feed.ParseURL)),
	}
	f := c.Flags()
	f.Var(settings.Moment.Flag(&b.since), "since",
		"only entries of this time or later: 2025-01-31, 2025-01-31T15:04:05Z, or a span before now: 36h, 2d, 2w, 1y")
	f.Var(settings.Moment.Flag(&b.until), "until", "only entries before this time")
	f.BoolVar(&b.noNetwork, "no-network", false, "ask the publisher alone")
	f.BoolVar(&b.noPublisher, "no-publisher", false, "ask the network alone")
	jsonFlag(f, &b.json)
	withClient(c, b.run)
	c.MarkFlagsMutuallyExclusive("no-network", "no-publisher")
	c.ValidArgsFunction = completeFeeds
	return c
}

// run fills in and reports.
func (b *spanFlags) run(c *cobra.Command, args []string, client *control.Client) error {
	u, err := feed.ParseURL(args[0])
	if err != nil {
		return err
	}
	now := time.Now()
	if err := checkRange(b.since, b.until, now); err != nil {
		return err
	}
	wanted := backfill.Span{Feed: u, Publisher: !b.noPublisher, Network: !b.noNetwork,
		Since: at(b.since, now), Until: at(b.until, now)}
	p := newProgress(c.ErrOrStderr(), "backfill")
	got, err := wanted.Run(c.Context(), client, func(r backfill.Report) {
		from := wanted.Until
		if from.IsZero() {
			from = now
		}
		p.span(from, r.Back, wanted.Since, plural(r.Publisher+r.Network, "entry", "entries")+", back to "+dayOf(r.Back))
	})
	p.end()
	if err != nil {
		return fmt.Errorf("backfill: %w; what came so far is stored (%s)", err,
			plural(got.Publisher+got.Network, "entry", "entries"))
	}
	if b.json {
		err = printJSON(c.OutOrStdout(), got)
	} else {
		err = b.report(c.OutOrStdout(), &got)
	}
	switch {
	case err != nil:
	case got.Unanswered:
		return hintedError{fmt.Errorf("backfill: not done: %s", got.Problem),
			"call it again when neighbors have time ('feedex neighbors'), or with --no-network"}
	case got.PublisherProblem != "" && got.Pages == 0 && (b.noNetwork || got.Problem != ""):
		return fmt.Errorf("backfill: not done: %s", printable(got.PublisherProblem))
	}
	return err
}

// dayOf is a day as people write it.
func dayOf(t time.Time) string {
	if t.IsZero() {
		return "now"
	}
	return t.Local().Format("2006-01-02")
}

// report writes what came, and which gaps are left.
func (b *spanFlags) report(w io.Writer, r *backfill.Report) error {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	if !b.noPublisher {
		line("%s from the publisher, in %s", plural(r.Publisher, "entry", "entries"),
			plural(r.Pages, "document", "documents"))
		if r.PublisherProblem != "" {
			line("  not read to the end: %s", printable(r.PublisherProblem))
		}
	}
	switch {
	case b.noNetwork:
	case r.Problem != "" && r.Network == 0:
		line("nothing from the network: %s", r.Problem)
	case r.Problem != "":
		line("%s from the network, back to %s; then %s", plural(r.Network, "entry", "entries"),
			dayOf(r.Back), r.Problem)
	default:
		line("%s from the network", plural(r.Network, "entry", "entries"))
		if r.Again > 0 {
			line("  asked again %s, because some had not answered in time", plural(r.Again, "time", "times"))
		}
		if len(r.Cut) > 0 {
			line("  others may have more: %s", cutWords(r.Cut, backfillCuts))
		}
	}
	for _, why := range r.Refused {
		line("  refused from %s: %s", why.Holder, printable(why.Why))
	}
	if n := len(r.Missing); n > 0 {
		first, last := r.Missing[0].Time(), r.Missing[0].Time()
		for i := range r.Missing {
			if t := r.Missing[i].Time(); t.Before(first) {
				first = t
			} else if t.After(last) {
				last = t
			}
		}
		line("still missing: %s that others listed and nobody gave, from %s to %s",
			plural(n, "entry", "entries"), dayOf(first), dayOf(last))
	}
	if r.Gap != nil {
		line("still missing: %s", gapNote(r.Gap))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// backfillCuts are why a backfill is not all there is, where it is not for what cutWords says.
var backfillCuts = map[string]string{
	"time": "some had not answered in time", "hops": "some are further away",
	"limit": "there is more than so many queries can list",
}

// cutWords are the reasons for which an answer is not all there is, in the words of the command for some.
func cutWords(cut []string, own map[string]string) string {
	var why []string
	for _, reason := range cut {
		words := "some refused or could not be reached"
		if reason == "budget" {
			words = "there were more to ask than one query may"
		}
		why = append(why, cmp.Or(own[reason], words))
	}
	return strings.Join(why, ", ")
}
