package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"feedex/daemon"
	"feedex/discover"
	"feedex/feed"
)

const (
	// subscribeWait is how long to wait for the first poll of a feed.
	subscribeWait = 30 * time.Second
	// maxSubscribing is how many feeds are waited for at a time.
	maxSubscribing = 16
)

// subscribeAll follows what is at each of the addresses, bounded so, and tells what came of it in their order.
func subscribeAll(c *cobra.Command, client *daemon.Client, args []string, w daemon.FollowAddress,
	bound daemon.RetentionChange) error {
	type answer struct {
		settled daemon.FollowedAddress
		err     error
	}
	urls := make([]feed.URL, len(args))
	answers := make([]chan answer, len(args))
	for i, a := range args {
		u, err := feed.ParseURL(a)
		if err != nil {
			return err
		}
		urls[i], answers[i] = u, make(chan answer, 1)
	}
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	places := make(chan struct{}, maxSubscribing)
	for i, u := range urls {
		go func() {
			places <- struct{}{}
			defer func() { <-places }()
			wish := w
			wish.Feeds = []feed.URL{u}
			s, err := client.FollowAddress(ctx, wish)
			answers[i] <- answer{s, err}
		}()
	}
	var problems []string
	var kept []daemon.Kept
	for i, u := range urls {
		a := <-answers[i]
		if a.err != nil {
			return a.err
		}
		if problem := notFollowed(u, &a.settled); problem != "" {
			problems = append(problems, problem)
			continue
		}
		tellFollowed(c.OutOrStdout(), c.ErrOrStderr(), &a.settled, w.Wait > 0)
		if s := &a.settled; s.Kept != "" && w.Private == nil {
			kept = append(kept, daemon.Kept{URL: s.Feed, Why: s.Kept, Undecided: s.Undecided})
		}
		if bound.IsZero() {
			continue
		}
		bound.Feeds = []feed.URL{a.settled.Feed}
		if err := client.SetRetention(ctx, bound); err != nil {
			return err
		}
	}
	tellKept(c.ErrOrStderr(), kept)
	for _, p := range problems {
		fmt.Fprintln(c.ErrOrStderr(), p)
	}
	if n := int64(len(problems)); n > 0 {
		return fmt.Errorf("subscribe: %s not followed", plural(n, "address is", "addresses are"))
	}
	return nil
}

// tellFollowed tells what is followed, and how that is.
func tellFollowed(out, notes io.Writer, s *daemon.FollowedAddress, waited bool) {
	text := "following " + printable(string(s.Feed))
	if s.Page != "" {
		if title := plainTitle(s.Title); title != "" {
			text += " (" + shorten(title, 60) + ")"
		}
		text += ", which " + printable(string(s.Page)) + " names"
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
func notFollowed(asked feed.URL, s *daemon.FollowedAddress) string {
	name := printable(string(asked))
	switch {
	case len(s.Choices) > 0:
		return fmt.Sprintf("%s is a web page that names %s. Follow those that you want:%s",
			name, plural(int64(len(s.Choices)), "feed", "feeds"), choices(s.Choices))
	case s.Feed == "" || s.Page == s.Feed:
		return fmt.Sprintf("%s is not followed: %s", name, printable(s.Problem))
	}
	return ""
}

// choices lists the feeds that a page names, each with what to type for it. What a page says must not become part of a
// command that somebody copies, but for an address in quotes.
func choices(list []discover.Feed) string {
	var b strings.Builder
	for i := range list {
		title := cmp.Or(shorten(plainTitle(list[i].Title), 60), "Without a title")
		fmt.Fprintf(&b, "\n  %s\n      feedex subscribe %s", title, quoted(string(list[i].URL)))
	}
	return b.String()
}

// quoted is an address as a shell takes it for one word.
func quoted(s string) string {
	return "'" + strings.ReplaceAll(printable(s), "'", `'\''`) + "'"
}
