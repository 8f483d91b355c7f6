package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/feed"
)

func newRecommend() *cobra.Command {
	var asJSON bool
	decline := ""
	c := &cobra.Command{
		Use:   "recommend",
		Short: "Suggest feeds that neighbors with like interests follow",
		Long: `Suggest at most ten feeds that at least two of the running node's neighbors follow and the node does not, those first
whose followers share most with it. A neighbor may poll a feed for others, and not read it. All of it is worked out from
adverts that have come anyway: no other node and no publisher is asked for anything, or learns of it. Feeds that are or
were followed or declined are left out, and so are other forms of them, such as Atom beside RSS.`,
		Example: "  feedex recommend\n  feedex recommend --decline https://example.com/feed.xml",
		Args:    noArgs,
	}
	withClient(c, func(c *cobra.Command, _ []string, client *control.Client) error {
		if decline != "" {
			u, err := feed.ParseURL(decline)
			if err != nil {
				return usageOf(c, err)
			}
			if err := client.Decline(c.Context(), u); err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), "suggested no more:", printable(string(u)))
			return nil
		}
		list, err := client.Recommend(c.Context())
		if err != nil {
			return err
		}
		const none = "nothing to suggest: no two neighbors that share feeds with this node follow one that it does not"
		return printList(c, asJSON, list, none, printRecommendations)
	})
	jsonFlag(c.Flags(), &asJSON)
	c.Flags().StringVar(&decline, "decline", "", "suggest the feed at this URL no more")
	return c
}

// printRecommendations writes two lines a feed for people.
func printRecommendations(w io.Writer, list []control.Recommendation) error {
	for i := range list {
		r := &list[i]
		title := ""
		if r.Title != "" {
			title = "  " + printable(r.Title)
		}
		if _, err := fmt.Fprintf(w, "%s%s\n  %d of %d like-minded neighbors follow it; they share %d of your feeds\n",
			printable(string(r.Feed)), title, r.Followers, r.Of, r.Shared); err != nil {
			return err
		}
	}
	return nil
}
