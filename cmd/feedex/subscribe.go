package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"feedex/control"
	"feedex/discover"
	"feedex/feed"
	"feedex/internal/shell"
	"feedex/neighbors"
	"feedex/node"
	"feedex/polling"
	"feedex/reading"
	"feedex/settings"
)

func newSubscribe() *cobra.Command {
	c := &cobra.Command{
		Use:        "subscribe URL...",
		SuggestFor: []string{"add", "follow"},
		Short:      "Follow feeds, or the feeds of sites",
		Long: `Tell the running node to follow feeds: it polls them, keeps their entries and exchanges them with
its neighbors. A URL may be that of a web page: the feed that the page names is then followed in its place. Where it
names several, the command lists them with what to type for each; where it names none, or nothing can be read at the
URL, nothing is followed, unless --anyway says so. The command waits for that up to half a minute; interrupting it
then loses nothing, and neither does a restart of the node. Of a page that names one thing in several formats the
first is taken, and never its comments if there is anything else. No addresses are guessed, but https:// in front,
and then http://. What has moved for good, and was not read here before, is followed where it is: others who follow it
know it by that. A URL at the node's own reader address stands for the feed behind it.

A feed whose URL holds a password, or whose host is on a private address, stays on the node and its name is told to
nobody. So does one that is followed with --private, and one whose publisher asks for that. One whose URL looks as
if it held a key stays there until you say what it is, and the command tells by what it looks so: with
--private=false neighbors may know of it, with --private it stays for good.

The weight of a feed counts when neighbors are chosen: one that offers a feed of weight 5 is worth as
much as one that offers five of weight 1.

Neighbors see which feeds a node follows. With a feed that is followed discreetly the node says and does what it
would if it did not follow it: it polls the feed for you, and passes on only what neighbors bring of it. That
costs: neighbors bring it only while others near want it, and a node that follows nothing else has none. It does
not help against neighbors who knew before, nor against the publisher.

What you star and label stays on this node. With --share stars neighbors who follow the feed learn that you read it
yourself, and those who share their stars of it the latest 32 entries that you starred, also of before, but none that a
filter starred; and you learn theirs: pages say how many of your neighbors starred an entry. With --share labels they
hear as well which labels you gave the latest of its entries that have some, 32 labels in all and of at most 64 bytes
each. Nothing of it is told of feeds that stay on the node or are followed discreetly, or with --share nothing.

What a feed published within the last year is filled in by and by, from its publisher's archive and from
neighbors; the setting backfill says how far back. 'feedex backfill' does it at once.

With --poll a feed is polled by a policy of its own: "auto:15m" by policy auto with a target delay of 15
minutes, "1h" every hour, "feedex", "fix-learned", "moving-average" or "post-rate", or "default" for that of
the node. 'feedex config' says what they do; what it sets holds for each policy, wherever it is used.

Everything is kept for ever, unless --keep-age, --keep-count or --keep-bytes set a bound for the feeds, or settings in
[retention] one for all feeds together; "all" takes a feed's bound away. What goes beyond is purged within minutes, the
oldest arrival first, what was filled in before all: never what is starred, nor the latest entry. Neither polls nor
neighbors bring it back; 'feedex archive import' does.

With --full-text the page of each entry that the feed publishes from now on is asked for, once, and the article there is
shown in place of what the feed says of it: for feeds that give no more than openings. It stays on this node, for those
who read there. Pages that need an account, or a browser that runs programs, give no more than the feed.

With --pictures the node's pages always show the pictures of entries to its owner; with --pictures=false they ask each
time. Other people choose that for themselves, on the page of the feed.

A feed that is followed already keeps its weight, its discretion, its privacy, what is shared of it, its
pictures and full texts, its policy and its bounds, unless a flag says otherwise. It does so even if it was followed
no more for a while. One that its publisher had ended is polled again.

Of what there is of a feed when you begin to follow it the latest 20 entries are unread to you, or as many as --unread
says. What comes later is unread.`,
		Example: `  feedex subscribe https://example.com/feed.xml
  feedex subscribe https://blog.example.com/
  feedex subscribe --weight 5 https://example.com/feed.xml https://example.org/blog/atom.xml
  feedex subscribe --discreet https://example.net/feed.xml
  feedex subscribe --private https://members.example.com/feed.xml
  feedex subscribe --poll auto:15m https://example.com/feed.xml
  feedex subscribe --full-text https://news.example.com/feed.xml
  feedex subscribe --pictures https://comics.example.com/feed.xml
  feedex subscribe --unread 0 https://example.com/feed.xml
  feedex subscribe --keep-age 90d --keep-count 1000 https://example.com/feed.xml`,
		Args: cobra.MatchAll(someArgs, eachArg(feed.ParseTyped)),
	}
	var wish node.Subscribe
	var shown reading.Arrangement
	var keep control.RetentionChange
	f := c.Flags()
	f.Var(numberFlag(&wish.Weight, 1, neighbors.MaxWeight, ""), "weight",
		"how much the feeds matter, 1 to 100 (default 1)")
	choiceFlag(f, &wish.Discreet, "discreet", "do not let neighbors see that this node follows the feeds")
	choiceFlag(f, &wish.Private, "private",
		"keep the feeds and their entries on this node; =false lets neighbors know of them")
	f.Var(sharingFlag(&wish.Sharing), "share",
		"what neighbors who share theirs hear of the entries of the feeds: nothing, stars, or labels too")
	f.Var(policyFlag(&wish.Policy), "poll", "by which policy to poll the feeds (default: that of the node)")
	choiceFlag(f, &shown.FullText, "full-text",
		"fetch the full text of what the feeds publish from their pages; =false no more")
	choiceFlag(f, &shown.Pictures, "pictures",
		"show the pictures of entries on the node's pages without asking; =false asks each time")
	keepFlags(f, &keep)
	unread := backlogFlag(c)
	anyway := f.Bool("anyway", false, "follow also what could not be read, and ask for it again later")
	noWait := f.Bool("no-wait", false, "end before the feeds were asked for")
	_ = c.RegisterFlagCompletionFunc("share", cobra.FixedCompletions([]string{"nothing", "stars", "labels"},
		cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("poll", cobra.FixedCompletions(append(polling.Names(), nodesOwn),
		cobra.ShellCompDirectiveNoFileComp))
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		wish.Backlog = *unread
		w := control.FollowAddress{Subscribe: wish, Wait: subscribeWait, Anyway: *anyway}
		if *noWait {
			w.Wait = 0
		}
		return subscribeAll(c, client, args, w, keep, shown)
	})
	return c
}

// eachArg checks that each argument can be read by parse.
func eachArg[T any](parse func(string) (T, error)) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		for _, a := range args {
			if _, err := parse(a); err != nil {
				return err
			}
		}
		return nil
	}
}

// someArgs checks that there are arguments.
func someArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("name at least one feed's URL")
	}
	return nil
}

// keepFlags are flags for what is kept of a feed.
func keepFlags(f *pflag.FlagSet, to *control.RetentionChange) {
	f.Var(settings.Optional(settings.Age, &to.Age, settings.Lifetime), "keep-age",
		"how long entries are kept, a span such as 90d, or all")
	f.Var(keepCountFlag(&to.Count), "keep-count", "how many entries are kept, the latest, or all")
	f.Var(settings.Optional(settings.Size, &to.Bytes, settings.Bytes), "keep-bytes",
		"how much text is kept, a size such as 100MB, or all")
}

const (
	// subscribeWait is how long to wait for the first poll of a feed.
	subscribeWait = 30 * time.Second
	// maxSubscribing is how many feeds are waited for at a time.
	maxSubscribing = 16
)

// subscribeAll follows what is at each of the addresses, bounded so and with full texts and pictures or without, nil
// for as it is, and tells what came of it in their order.
func subscribeAll(c *cobra.Command, client *control.Client, args []string, w control.FollowAddress,
	bound control.RetentionChange, shown reading.Arrangement) error {
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	places := make(chan struct{}, maxSubscribing)
	answers := make([]func() (control.FollowedAddress, error), len(args))
	for i, a := range args {
		wish := w
		wish.Feeds, _ = feed.ParseTyped(a) // eachArg has checked it
		answers[i] = sync.OnceValues(func() (control.FollowedAddress, error) {
			places <- struct{}{}
			defer func() { <-places }()
			return client.FollowAddress(ctx, wish)
		})
		go answers[i]()
	}
	var problems []string
	var kept []node.Withheld
	how := stays
	if w.Private != nil { // and where that was not wanted, it is to be known
		how += " all the same"
	}
	defer func() { // also where one address ends it
		tellKept(c, kept, how)
		for _, p := range problems {
			fmt.Fprintln(c.ErrOrStderr(), p)
		}
	}()
	for i, a := range args {
		s, err := answers[i]()
		if err != nil {
			return err
		}
		if problem := notFollowed(c, a, &s); problem != "" {
			problems = append(problems, problem)
			continue
		}
		tellFollowed(c.OutOrStdout(), c.ErrOrStderr(), &s, w.Wait > 0)
		if s.Kept != "" && (w.Private == nil || !*w.Private) {
			kept = append(kept, node.Withheld{Feed: s.Feed, Why: s.Kept, Undecided: s.Undecided})
		}
		if shown.FullText != nil || shown.Pictures != nil {
			shown.URL = s.Feed
			if err := client.Arrange(ctx, []reading.Arrangement{shown}); err != nil {
				return err
			}
		}
		if bound.IsZero() {
			continue
		}
		bound.Feeds = []feed.URL{s.Feed}
		if err := client.SetRetention(ctx, bound); err != nil {
			return err
		}
	}
	if n := int64(len(problems)); n > 0 {
		return fmt.Errorf("subscribe: %s not followed", plural(n, "address is", "addresses are"))
	}
	return nil
}

// tellFollowed tells what is followed, and how that is.
func tellFollowed(out, notes io.Writer, s *control.FollowedAddress, waited bool) {
	text := "following " + printable(string(s.Feed))
	if s.Page != "" {
		if title := plainTitle(s.Title); title != "" {
			text += " (" + shorten(title, 60) + ")"
		}
		text += ", to which " + printable(string(s.Page)) + " leads"
	}
	fmt.Fprintln(out, text)
	switch {
	case s.Problem != "":
		fmt.Fprintf(notes, "%s could not be had yet: %s\n", printable(string(s.Feed)), printable(s.Problem))
	case s.Waiting && waited:
		fmt.Fprintf(notes, "%s is yet to be asked for, see 'feedex feeds'\n", printable(string(s.Feed)))
	}
}

// notFollowed says why nothing is followed of what is at an address, "" where something is.
func notFollowed(c *cobra.Command, asked string, s *control.FollowedAddress) string {
	name := printable(asked)
	switch {
	case s.Unread:
		return fmt.Sprintf("%s is not followed: %s. With --anyway it is, and is asked for again later", name,
			printable(s.Problem))
	case len(s.Choices) > 0:
		return toChoose(c, asked, s.Choices)
	case s.Feed == "" || s.Page == s.Feed:
		return fmt.Sprintf("%s is not followed: %s", name, printable(s.Problem))
	}
	return ""
}

// toChoose lists the feeds that a page names, each with what to type for it. Text of a page must not become part of a
// command that somebody copies, but for an address as one word.
func toChoose(c *cobra.Command, page string, list []discover.SiteFeed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is a web page that names %s. Follow those that you want:", printable(page),
		plural(len(list), "feed", "feeds"))
	for i := range list {
		title := cmp.Or(shorten(plainTitle(list[i].Title), 60), "Without a title")
		fmt.Fprintf(&b, "\n  %s\n      %s", title, toType(c, "subscribe", string(list[i].URL)))
	}
	return b.String()
}

// toType is a command of this program for somebody to copy, about the node that c was told.
func toType(c *cobra.Command, words ...string) string {
	line := "feedex"
	for _, w := range words {
		line += " " + quoted(w)
	}
	for _, name := range []string{"config", "data"} {
		if f := c.Flags().Lookup(name); f != nil && f.Changed {
			line += " --" + name + " " + quoted(f.Value.String())
		}
	}
	return line
}

// quoted is an address as a shell takes it for one word.
func quoted(s string) string { return shell.Quote(printable(s)) }

const (
	// maxKept is how many feeds that stay on the node are told one by one.
	maxKept = 20
	// stays is what is told of them.
	stays = "stays on this node"
)

// tellKept tells which feeds stay on the node, as stays does or more strongly, why, and how their owner says otherwise.
func tellKept(c *cobra.Command, list []node.Withheld, stays string) {
	w, open, example := c.ErrOrStderr(), 0, ""
	for i, k := range list {
		if i < maxKept {
			fmt.Fprintf(w, "%s %s: %s\n", printable(string(k.Feed)), stays, printable(k.Why))
		}
		if k.Undecided {
			if open++; open == 1 {
				example = string(k.Feed)
			}
		}
	}
	if n := len(list) - maxKept; n > 0 {
		fmt.Fprintf(w, "%s on this node, see 'feedex feeds'\n", plural(n, "more feed stays", "more feeds stay"))
	}
	if open == 0 {
		return
	}
	which := "it"
	if open > 1 {
		which, example = "one of them", "URL"
	}
	fmt.Fprintf(w, "neighbors may know of %s after:  %s\n", which, toType(c, "subscribe", "--private=false", example))
	fmt.Fprintf(w, "it stays private for good after:  %s\n", toType(c, "subscribe", "--private", example))
}
