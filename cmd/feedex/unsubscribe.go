package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/daemon"
	"feedex/feed"
	"feedex/settings"
)

func newUnsubscribe() *cobra.Command {
	c := &cobra.Command{
		Use:        "unsubscribe URL...",
		SuggestFor: []string{"remove", "delete", "unfollow"},
		Short:      "Follow feeds no more",
		Long: `Tell the running node to follow feeds no more. Their entries stay in the archive, where 'feedex query'
finds them. A feed that the node was started with, by --subscribe, FEEDEX_SUBSCRIBE or the config file, is
followed again when it starts the next time, unless it is removed there too.`,
		Example: "  feedex unsubscribe https://example.com/feed.xml",
		Args:    cobra.MatchAll(someArgs, eachArg(feed.ParseTyped)),
	}
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		find, err := daemon.Finder(c.Context(), client)
		if err != nil {
			return err
		}
		var gone []feed.URL
		defer func() { warnOfReturn(c, gone) }()
		for _, a := range args {
			f, _, err := find(a)
			if err != nil {
				return err
			}
			if f == nil {
				return fmt.Errorf("unsubscribe %s: it was not followed, 'feedex feeds' lists what is", printable(a))
			}
			if err := client.Unsubscribe(c.Context(), f.URL); err != nil {
				return err
			}
			gone = append(gone, f.URL, f.Page)
			fmt.Fprintln(c.OutOrStdout(), "no longer following", printable(string(f.URL)))
		}
		return nil
	})
	c.ValidArgsFunction = completeFeeds
	return c
}

// warnOfReturn says which feeds a node that starts with the config file will follow again.
func warnOfReturn(c *cobra.Command, gone []feed.URL) {
	s, err := settings.Load(c.Flags(), settings.Client)
	if err != nil {
		return // it was read a moment ago
	}
	named := s.Subscribed()
	for _, u := range gone {
		if slices.Contains(named, u) {
			fmt.Fprintf(c.ErrOrStderr(),
				"%s stands in %s: a node that starts with this file follows it again, unless you remove it there\n", u,
				s.File())
		}
	}
}

// completeFeeds completes the URLs of the feeds that the running node follows.
func completeFeeds(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	data, err := dataDirectory(c.Flags())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	client, err := control.Dial(data)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer client.Close()
	list, err := client.Feeds(c.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var urls []string
	for i := range list {
		urls = append(urls, string(list[i].URL))
	}
	return urls, cobra.ShellCompDirectiveNoFileComp
}
