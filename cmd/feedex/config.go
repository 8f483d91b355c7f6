package main

import (
	"io"

	"github.com/spf13/cobra"

	"feedex/settings"
)

func newConfig() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print a config file with all settings, their meaning and defaults",
		Long: `Print a config file for 'feedex node' with all settings, what they mean and their defaults. It changes
nothing as it is; keep the lines that you change. The node reads it from feedex/feedex.toml in the user's
config directory, which is ~/.config on Linux, ~/Library/Application Support on macOS and %AppData% on Windows,
or from where --config says.`,
		Example: settings.WriteConfig(),
		Args:    noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			_, err := io.WriteString(c.OutOrStdout(), settings.Sample())
			return err
		},
	}
}
