package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/feed"
	"feedex/invitation"
)

func newInvite() *cobra.Command {
	var address string
	c := &cobra.Command{
		Use:   "invite [URL...]",
		Short: "Print a link by which a friend's node finds this one",
		Long: `Print a link that leads another node to the running one: a friend passes it to 'feedex join', and the two nodes
become neighbors. It holds the node's address and its key, by which the other knows that it found the right one, and the
feeds that you name, for your friend to follow if they like. Whoever has the link learns these, and nothing else.

The address is that at which neighbors see the node. As long as too few have told, or where others reach it by a name of
yours, say it with --address.`,
		Example: `  feedex invite
  feedex invite --address home.example.com:7790 https://example.com/feed.xml`,
		Args: anyFeedArgs,
	}
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		r, err := client.Status(c.Context())
		if err != nil {
			return err
		}
		i := invitation.Invitation{Host: address, Key: r.Key}
		switch {
		case r.Key.IsZero():
			return errors.New("invite: the node has no key in this run, as its log says; mend that and start it again")
		case address == "" && r.Undialled:
			return errors.New("invite: others cannot dial this node, so its address leads nowhere: forward its port " +
				"on your router and name the address with --address HOST:PORT, or have your friend invite you")
		case address == "" && r.Self.IsZero():
			return errors.New("invite: the node does not know its address yet, because fewer than three neighbors " +
				"have told it: name one with --address HOST:PORT")
		case address == "":
			i.Host = r.Self.String()
		}
		for _, a := range args {
			u, err := feed.ParseURL(a)
			if err != nil {
				return err
			}
			i.Feeds = append(i.Feeds, u)
		}
		if err := i.Check(); err != nil {
			return fmt.Errorf("invite: %w", err)
		}
		_, err = fmt.Fprintln(c.OutOrStdout(), i.String())
		return err
	})
	c.Flags().StringVar(&address, "address", "", "where others reach the node, HOST:PORT; default as neighbors see it")
	c.ValidArgsFunction = completeFeeds
	return c
}

// anyFeedArgs takes any number of feeds, none included.
func anyFeedArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return feedArgs(c, args)
}
