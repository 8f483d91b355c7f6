package fetch

import (
	"context"
	"runtime"
)

// largeBodies is how many bodies larger than freeBytes are in memory at a time. So many fetches as a node has under way
// may each hold a small one, but a large one holds ten times as much, and more while it is parsed.
const largeBodies = 8

// A gate lets a number of fetches through at a time.
type gate chan struct{}

// newParsing makes the gate to the parser, which keeps a core busy.
func newParsing() gate { return make(gate, max(2, runtime.GOMAXPROCS(0))) }

// enter waits for a place or until ctx ends. A goroutine that entered must leave.
func (g gate) enter(ctx context.Context) error {
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g gate) leave() { <-g }
