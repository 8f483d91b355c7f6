package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"feedex/daemon"
	"feedex/feed"
)

func newSubscribe() *cobra.Command {
	c := &cobra.Command{
		Use:   "subscribe URL...",
		Short: "Follow feeds",
		Long: `Tell the running node to follow feeds: it polls them, keeps their entries and exchanges them with its
neighbors. A feed whose URL holds a password or a key, or whose host is on a private address, stays on
the node and its name is told to nobody.`,
		Example: "  feedex subscribe https://example.com/feed.xml",
		Args:    feedArgs,
	}
	withClient(c, func(c *cobra.Command, args []string, client *daemon.Client) error {
		return eachFeed(c, args, "following", client.Subscribe)
	})
	return c
}

// feedArgs checks that there are arguments and that each is a feed's URL.
func feedArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("name at least one feed's URL")
	}
	for _, a := range args {
		if _, err := feed.ParseURL(a); err != nil {
			return err
		}
	}
	return nil
}

// eachFeed does something to each feed and says so.
func eachFeed(c *cobra.Command, args []string, done string, do func(context.Context, feed.URL) error) error {
	for _, a := range args {
		u, err := feed.ParseURL(a)
		if err != nil {
			return err
		}
		if err := do(c.Context(), u); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), done, u)
	}
	return nil
}
