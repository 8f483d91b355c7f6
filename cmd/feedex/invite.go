package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/feed"
	"feedex/invitation"
	"feedex/node"
	"feedex/reading"
)

func newInvite() *cobra.Command {
	var address string
	var document, page bool
	c := &cobra.Command{
		Use:   "invite [URL...]",
		Short: "Print a link by which a friend's node finds this one",
		Long: `Print a link that leads another node to the running one: a friend passes it to 'feedex join', and the two nodes
become neighbors. It holds the node's address and its key, by which the other knows that it found the right one, and the
feeds that you name, for your friend to follow if they like. Whoever has the link learns these, and nothing else.

The address is that at which neighbors see the node, or where its router lets others in, as long as too few have told.
Where neither is known, or others reach it by a name of yours, say it with --address.

With --well-known it prints a document instead, for https://your.site/.well-known/feedex: 'feedex join your.site'
and 'feedex node --peer your.site' find the node by it then, and the document can be renewed when the address
changes. It may name up to 16 nodes, in any order. With --page it prints a page for people, with the link and its QR
code, for your site or anywhere else.`,
		Example: `  feedex invite
  feedex invite --address home.example.com:7790 https://example.com/feed.xml
  feedex invite --well-known > /var/www/html/.well-known/feedex`,
		Args: eachArg(feed.ParseURL),
	}
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		r, err := client.Status(c.Context())
		if err != nil {
			return err
		}
		if r.Status == nil {
			return fmt.Errorf("invite: %w: %s", reading.ErrRests, r.Storage)
		}
		i, err := r.Invitation(address, r.Reach.At())
		switch {
		case errors.Is(err, node.ErrNoAddress), errors.Is(err, node.ErrUndialled):
			return fmt.Errorf("invite: %w; where you know an address at which others reach it, say --address HOST:PORT",
				err)
		case err != nil:
			return fmt.Errorf("invite: %w", err)
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
		switch out := c.OutOrStdout(); {
		case document:
			_, err = out.Write(invitation.Document(i))
		case page:
			err = writeInvitePage(out, &i)
		default:
			_, err = fmt.Fprintln(out, i.String())
		}
		return err
	})
	c.Flags().StringVar(&address, "address", "", "where others reach it, HOST:PORT; default as neighbors or router say")
	c.Flags().BoolVar(&document, "well-known", false, "print the document for a site's /.well-known/feedex")
	c.Flags().BoolVar(&page, "page", false, "print a page with the link and its QR code, in HTML")
	c.MarkFlagsMutuallyExclusive("well-known", "page")
	c.ValidArgsFunction = completeFeeds
	return c
}
