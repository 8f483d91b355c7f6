package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"feedex/control"
)

func newDHT() *cobra.Command {
	c := &cobra.Command{
		Use:   "dht on|off",
		Short: "Say whether to find neighbors by BitTorrent's DHT",
		Long: `Answer the running node whether it may find neighbors by BitTorrent's DHT. That tells whoever looks there that this
address runs feedex, and nothing of what you read. It is off until you answer; the answer is kept, and may be changed.

A node looks there while it has too few neighbors, and says where it is once others have dialled it. 'feedex status'
says what came of it.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] != string(control.DHTOn) && args[0] != string(control.DHTOff) {
				return errors.New("say on or off")
			}
			return nil
		},
	}
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		on := args[0] == string(control.DHTOn)
		if err := client.UseDHT(c.Context(), on); err != nil {
			return err
		}
		text := "the node uses the DHT no more"
		if on {
			text = "the node finds neighbors by the DHT as well"
		}
		_, err := fmt.Fprintln(c.OutOrStdout(), text)
		return err
	})
	c.ValidArgsFunction = cobra.FixedCompletions([]string{"on", "off"}, cobra.ShellCompDirectiveNoFileComp)
	return c
}
