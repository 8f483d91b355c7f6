package syncapi

import (
	"cmp"
	"log/slog"
	"time"

	"feedex/reading"
)

// Config holds the dependencies of a handler.
type Config struct {
	// Entrance lets readers in, each to the library of its person.
	Entrance reading.Entrance
	// Version is the node's own, for readers that ask what serves them.
	Version string
	// Log takes what went wrong on our side. Default: nowhere.
	Log *slog.Logger
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// WithDefaults fills in what was left out.
func (c Config) WithDefaults() Config {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}
