package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/invitation"
	"feedex/node"
)

func newJoin() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use:   "join LINK",
		Short: "Become a neighbor of the node that an invitation leads to",
		Long: `Have the running node become a neighbor of the one that a link of 'feedex invite' leads to. The node there must
prove the key that the link names, or there is no link with it. The running node remembers it and comes back to it when
it starts again.

The feeds that the link names are printed; with --follow they are followed as well. A node that follows no feed yet needs
some first, because neighbors have to have something in common.`,
		Example: "  feedex join 'feedex://192.0.2.7:7790/?key=ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one link, in quotes")
			}
			_, err := invitation.Parse(args[0])
			return err
		},
	}
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		i, err := invitation.Parse(args[0])
		if err != nil {
			return err
		}
		if follow && len(i.Feeds) > 0 {
			if err := client.Subscribe(c.Context(), node.Subscribe{Feeds: i.Feeds}); err != nil {
				return err
			}
		}
		peer, err := client.Join(c.Context(), control.JoinRequest{Host: i.Host, Key: i.Key})
		out := c.OutOrStdout()
		for _, u := range i.Feeds {
			if follow {
				fmt.Fprintln(out, "following", u)
			} else {
				fmt.Fprintf(out, "it names %s; to follow it: feedex subscribe '%s'\n", u, u)
			}
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, "linked with", peer)
		return err
	})
	c.Flags().BoolVar(&follow, "follow", false, "follow the feeds that the link names")
	return c
}
