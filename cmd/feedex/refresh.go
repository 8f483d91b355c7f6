package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/daemon"
	"feedex/feed"
)

func newRefresh() *cobra.Command {
	c := &cobra.Command{
		Use:        "refresh [URL...]",
		SuggestFor: []string{"update", "poll", "sync"},
		Short:      "Have feeds polled now",
		Long: `Tell the running node to poll feeds now, or all that it follows where none are named: each when it
is its turn at its host, and none sooner than five minutes after its last poll, nor while its publisher wants to be
left alone. Of those it says from when on it may. When they would have been polled they still are.`,
		Example: "  feedex refresh\n  feedex refresh https://example.com/feed.xml",
		Args:    eachArg(feed.ParseTyped),
	}
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		find, err := daemon.Finder(c.Context(), client)
		if err != nil {
			return err
		}
		feeds := make([]feed.URL, len(args))
		for i, a := range args {
			if _, feeds[i], err = find(a); err != nil {
				return err
			}
		}
		list, err := client.Refresh(c.Context(), feeds)
		if err != nil {
			return err
		}
		return printRefreshed(c, list, time.Now())
	})
	c.ValidArgsFunction = completeFeeds
	return c
}

// printRefreshed writes which feeds are polled for people.
func printRefreshed(c *cobra.Command, list []control.Refreshed, now time.Time) error {
	w, polled := c.OutOrStdout(), 0
	for _, f := range list {
		var err error
		switch {
		case len(f.Choices) > 0:
			_, err = fmt.Fprintln(w, toChoose(c, string(f.Feed), f.Choices))
		case f.Ended:
			_, err = fmt.Fprintf(w, "%s has ended: 'feedex subscribe' tries it again\n", printable(string(f.Feed)))
		case !f.NotBefore.IsZero():
			_, err = fmt.Fprintf(w, "%s may be polled again %s\n", printable(string(f.Feed)), in(f.NotBefore, now))
		default:
			polled++
		}
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "polling %s\n", plural(polled, "feed", "feeds"))
	return err
}
