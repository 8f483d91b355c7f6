package daemon

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"feedex/internal/logtest"
)

// What finds nodes on the LAN is begun again a while after it failed, and the owner is told once of each reason; of the
// node's own end nothing is said.
func TestTheLANIsLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, said := logtest.Overhear()
		h := &host{loop: &loop{config: Config{Log: log}}}
		ctx, end := context.WithCancelCause(t.Context())
		began := time.Now()
		var calls []time.Duration
		h.findNear(ctx, func(ctx context.Context) error {
			calls = append(calls, time.Since(began))
			switch len(calls) {
			case 1, 2:
				return errors.New("another program has the port")
			case 3:
				return errors.New("the network is down")
			}
			time.AfterFunc(time.Hour, func() { end(errors.New("a signal")) })
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if want := []time.Duration{0, nearAgain, 2 * nearAgain, 3 * nearAgain}; !slices.Equal(calls, want) {
			t.Errorf("it runs at %v, want %v", calls, want)
		}
		if n := said.Count()["nodes on the LAN are not found for now"]; n != 2 {
			t.Errorf("the owner is told %d times", n)
		}
		if took := time.Since(began); took != time.Hour+3*nearAgain {
			t.Errorf("it ends after %v", took)
		}
	})
}
