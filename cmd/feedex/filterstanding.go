package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"feedex/control"
)

// standingWords is what a standing query is, to who makes one.
const standingWords = `With --standing the filter is a standing query: every six hours neighbors are asked for its words, and theirs, as by
'feedex query --network'. So they are told the words, and that it is you who asks. What they have that fits, of feeds
that nobody here follows, is in the filter's feed; no rule acts on it. It is the owner's to say, and not of words with
'feed:'.`

// isTold is what is said where neighbors come to be asked.
const isTold = "neighbors are told its words, and asked for what fits, every six hours"

func newFilterStanding() *cobra.Command {
	r := control.FilterStanding{Standing: true}
	var stop bool
	c := &cobra.Command{
		Use:   "standing NAME",
		Short: "Have neighbors asked for a search that is kept, or no more",
		Long: `Make a standing query of a filter, or with --stop a filter of a standing query.

` + standingWords,
		Example: `  feedex filter standing Storms
  feedex filter standing --stop Storms`,
		Args:              oneArg("filter"),
		ValidArgsFunction: completeFilters,
	}
	onMaintained(c, false, func(c *cobra.Command, k control.Maintenance, args []string) error {
		r.Name, r.Standing = args[0], !stop
		if err := k.StandFilter(c.Context(), r); err != nil {
			return err
		}
		says := isTold
		if stop {
			says = "neighbors are asked no more; what they had stays in the filter's feed as long as it is in " +
				"the archive"
		}
		fmt.Fprintln(c.ErrOrStderr(), says)
		return nil
	})
	c.Flags().BoolVar(&stop, "stop", false, "ask neighbors no more; what they had stays")
	return c
}
