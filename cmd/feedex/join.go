package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/invitation"
	"feedex/reading"
)

func newJoin() *cobra.Command {
	var follow, stays bool // stays is so also for what can be nothing but a tracker
	c := &cobra.Command{
		Use:   "join LINK|SITE|HOST:PORT|TRACKER",
		Short: "Become a neighbor of the node that an invitation leads to",
		Long: `Have the running node become a neighbor of the one that a link of 'feedex invite' leads to. The node there must
prove the key that the link names, or there is no link with it. The running node remembers it and comes back to it when
it starts again.

A site, as example.org or a page of it at https, names nodes in its document https://example.org/.well-known/feedex,
with their keys, or by its name server, in SRV records for _feedex._tcp.example.org, without. The link is with one of
these. With host:port it is with whichever node is there.

The URL of a tracker has the node ask it from now on, after each start as well, like those of the setting tracker. With
--always the node goes on to seek a neighbor in the same way, like those that the setting peer names; a link names a
node once. At https a name without a port is a site's without --always, and a tracker's with it. 'feedex status' shows
them, and 'feedex leave' takes one back.

The feeds that the link or the site names are printed; with --follow they are followed first. A node that has read no
feed yet that neighbors may know of has nothing in common with any, and gets no link.`,
		Example: `  feedex join 'feedex://192.0.2.7:7790/?key=ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'
  feedex join example.org
  feedex join http://tracker.example.net:7788/
  feedex join --always friend.example.org:7790`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one link, in quotes, a site, a node's host:port, or a tracker's URL")
			}
			_, err := invitation.Read(args[0])
			if _, tracker := invitation.Tracker(args[0]); err != nil && tracker {
				if follow {
					return errors.New("a tracker names no feeds: leave out --follow")
				}
				stays = true
			}
			if stays {
				_, _, err = control.ReadSource(args[0])
			}
			return err
		},
	}
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		if stays {
			return always(c, client, args[0])
		}
		i, err := invitation.Read(args[0])
		if err != nil {
			return err
		}
		err = join(c, client, i, follow)
		_, tracker := invitation.Tracker(args[0])
		if _, none := errors.AsType[noSite](err); none && tracker {
			err = fmt.Errorf("%w; if that is the URL of a tracker: %s", err, toType(c, "join", "--always", args[0]))
		}
		return err
	})
	c.Flags().BoolVar(&follow, "follow", false, "follow the feeds that the link or the site names")
	c.Flags().BoolVar(&stays, "always", false, "have it as a neighbor always, or ask the tracker there from now on")
	c.MarkFlagsMutuallyExclusive("always", "follow")
	return c
}

// A noSite says that a site could not be read, or names no node: it may be no site.
type noSite struct{ error }

// join follows an invitation. Its feeds come first: a node has something in common with others once it has read one.
func join(c *cobra.Command, client *control.Client, i invitation.Invitation, follow bool) error {
	var notFollowed error
	if invitation.IsSite(i.Host) {
		var err error
		if i.Feeds, err = client.SiteFeeds(c.Context(), i.Host); err != nil {
			return noSite{err}
		}
	}
	if follow && len(i.Feeds) > 0 {
		urls := make([]string, len(i.Feeds))
		for n, u := range i.Feeds {
			urls[n] = string(u)
		}
		w := control.FollowAddress{Wait: subscribeWait, Anyway: true} // the one who invites reads them
		notFollowed = subscribeAll(c, client, urls, w, control.RetentionChange{}, reading.Arrangement{})
	}
	peer, err := client.Join(c.Context(), control.JoinRequest{Host: i.Host, Key: i.Key})
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), "linked with", peer)
	}
	if !follow {
		for _, u := range i.Feeds {
			fmt.Fprintf(c.OutOrStdout(), "it names %s; to follow it: %s\n", printable(string(u)),
				toType(c, "subscribe", string(u)))
		}
	}
	return errors.Join(notFollowed, err)
}
