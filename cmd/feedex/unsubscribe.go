package main

import (
	"github.com/spf13/cobra"

	"feedex/daemon"
)

func newUnsubscribe() *cobra.Command {
	c := &cobra.Command{
		Use:   "unsubscribe URL...",
		Short: "Follow feeds no more",
		Long: `Tell the running node to follow feeds no more. Their entries stay in the archive, where 'feedex query'
finds them.`,
		Example: "  feedex unsubscribe https://example.com/feed.xml",
		Args:    feedArgs,
	}
	withClient(c, func(c *cobra.Command, args []string, client *daemon.Client) error {
		return eachFeed(c, args, "no longer following", client.Unsubscribe)
	})
	c.ValidArgsFunction = completeFeeds
	return c
}

// completeFeeds completes the URLs of the feeds that the running node follows.
func completeFeeds(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	data, err := dataDirectory(c.Flags())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	client, err := daemon.Dial(data)
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
