package main

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"feedex/archive"
	"feedex/control"
	"feedex/discover"
	"feedex/node"
)

func newFeeds() *cobra.Command {
	c := &cobra.Command{
		Use:        "feeds",
		SuggestFor: []string{"list", "ls"},
		Short:      "List the feeds that the running node follows",
		Long: `List the feeds that the running node follows: how many neighbors carry each, how often and when it is
polled, how many entries came by own polls and from neighbors, and what last went wrong. Where neighbors tell
of polls, EVERY also says about how often anybody polls it. A feed marked private never leaves the node, one
marked discreet does not show that the node follows it, one with a weight is preferred when neighbors are
chosen, and one that names a policy is polled by that. Of a feed that published more between two polls than its
document lists, entries are missing until as many came from neighbors.
Of a feed that was followed lately it says how far its past is filled in (the setting backfill).
Of a web page that names several feeds it lists these: follow one, and the page is followed no more.
A feed that its publisher ended (HTTP 410) is polled no more, one that has moved is asked for at its new address,
and one that waits for the network counts no failures: nobody else could be reached either. One is left alone
longer than its interval where its publisher asks for that, for this feed or for all of its host.
On a narrow screen each feed takes two lines.`,
		Args: noArgs,
	}
	return listing(c, "no feeds yet: follow one with 'feedex subscribe URL'",
		(*control.Client).Feeds, printFeeds)
}

// printFeeds writes a table for people, in lines of a width, 0 for any.
func printFeeds(w io.Writer, list []node.FeedStatus, now time.Time, width int) error {
	t := newTable(width, 2, "FEED", "TITLE", "NEIGHBORS", "POLLED", "NEXT", "EVERY", "BY POLL", "BY NEIGHBORS", "STATE")
	for i := range list {
		f := &list[i]
		every := "-"
		if f.Interval > 0 {
			every = roughly(f.Interval)
		}
		if f.Spacing > 0 {
			every += ", anybody " + roughly(f.Spacing)
		}
		t.row(printable(string(f.URL)), shorten(plainTitle(f.Title), 30), fmt.Sprint(f.Offered),
			ago(f.LastPoll, now), in(f.NextPoll, now), every,
			fmt.Sprint(f.Polled), fmt.Sprint(f.Delivered), feedState(f))
		switch {
		case len(f.Names) > 0:
			t.note("is a web page that names " + plural(len(f.Names), "feed", "feeds") +
				"; 'feedex subscribe' with one of these follows it in its place:")
			for _, named := range discover.LendAll(f.URL, f.Names) {
				t.note(quoted(string(named.URL)) + " " + shorten(plainTitle(named.Title), 60))
			}
		case f.Ended:
			t.note(feedError(f) + "; 'feedex subscribe' tries it again")
		case f.LastError != "" && f.Errors == 0:
			t.note("not reached: " + feedError(f))
		case f.LastError != "":
			t.note(fmt.Sprintf("failed %s%s: %s", plural(f.Errors, "time", "times"), lastRead(f, now), feedError(f)))
		}
		if f.NotBefore.After(now) && f.NotBefore.After(f.LastPoll.Add(f.Interval)) {
			t.note("is left alone until " + f.NotBefore.Local().Format("2006-01-02 15:04") +
				" for its publisher's sake")
		}
		if f.Unfollowed {
			t.note("was unfollowed by a program of yours and ends within a week; 'feedex unsubscribe' ends it now")
		}
		if f.Kept != "" {
			t.note(keptNote(f))
		}
		if f.Alias != "" {
			t.note("has moved to " + printable(string(f.Alias)))
		}
		if f.Gap != nil {
			t.note(gapNote(f.Gap))
		}
		if note := pastNote(f); note != "" {
			t.note(note)
		}
	}
	return t.write(w)
}

// lastRead says since when a feed fails, if it did not from the start.
func lastRead(f *node.FeedStatus, now time.Time) string {
	if f.LastSuccess.IsZero() {
		return ""
	}
	return " since it was read " + ago(f.LastSuccess, now)
}

// feedState says in a few words how a feed is.
func feedState(f *node.FeedStatus) string {
	state := "ok"
	switch {
	case len(f.Names) > 0:
		state = "choose"
	case f.Ended:
		state = "ended"
	case f.LastError != "" && f.Errors == 0:
		state = "waiting for the network"
	case f.LastError != "":
		state = "failing"
	case f.LastSuccess.IsZero():
		state = "new"
	case f.Gap != nil:
		state = "entries missing"
	}
	if f.Policy != "" {
		state = fmt.Sprintf("%s, %s", printable(f.Policy), state)
	}
	if f.Weight > 1 {
		state = fmt.Sprintf("weight %d, %s", f.Weight, state)
	}
	if f.Sharing != archive.SharesNothing && !f.Private && !f.Discreet {
		state = f.Sharing.String() + " shared, " + state
	}
	if f.FullText {
		state = "full texts, " + state
	}
	switch {
	case f.Undecided:
		state = "private until you decide, " + state
	case f.Private:
		state = "private, " + state
	case f.Discreet:
		state = "discreet, " + state
	}
	return state
}

// keptNote says why a feed stays on the node.
func keptNote(f *node.FeedStatus) string {
	note := "stays on this node: " + printable(f.Kept)
	if f.Undecided {
		note += "; 'feedex subscribe --private=false' lets neighbors know of it, '--private' keeps it so"
	}
	return note
}

// gapNote says what a feed lacks.
func gapNote(g *archive.Gap) string {
	const layout = "2006-01-02 15:04"
	text := fmt.Sprintf("about %s from %s to %s left the document before it was polled",
		plural(g.Missing, "entry", "entries"), g.After.Local().Format(layout), g.Before.Local().Format(layout))
	if g.Filled > 0 {
		text += fmt.Sprintf("; %s of them came since", grouped(g.Filled))
	}
	return text
}

// pastNote says how far the past of a feed is filled in, "" where nothing is done about it, as before there is a
// neighbor that has the feed.
func pastNote(f *node.FeedStatus) string {
	p := f.Past
	if p == nil {
		return ""
	}
	var text string
	switch {
	case p.Stage == archive.PastPublisher:
		text = "its past is read from the publisher's archive"
	case p.Stage == archive.PastNetwork && f.Offered > 0:
		text = "neighbors are asked for its past"
	case p.Stage == archive.PastDone && p.Lack != "hops": // further away nobody is asked anyway
		text = "its past is filled in as far as neighbors told"
	default:
		return ""
	}
	if p.Filled > 0 {
		text += ": " + plural(p.Filled, "entry", "entries")
		if p.Stage != archive.PastDone {
			text += " so far"
		}
	}
	if !p.Back.IsZero() {
		text += ", back to " + dayOf(p.Back)
	}
	if p.Lack != "" {
		text += "; others may have more: " + cutWords(strings.Fields(p.Lack), backfillCuts)
	}
	if !p.Again.IsZero() {
		text += "; they are asked again after " + p.Again.Local().Format("2006-01-02 15:04")
	}
	return text
}

// feedError is a feed's last error, without the host if that is the feed's own.
func feedError(f *node.FeedStatus) string {
	text := printable(f.LastError)
	if u, err := url.Parse(string(f.URL)); err == nil {
		text = strings.TrimPrefix(text, "get "+u.Host+": ")
	}
	return text
}
