package daemon

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"feedex/protocol"
)

// A node that leaves waits until the last of its neighbors has heard of it, but not for long.
func TestLeave(t *testing.T) {
	for _, tt := range []struct {
		name      string
		neighbors int
		hear      time.Duration // until a neighbor has heard, for the second twice as long and so on
		full      bool
		want      time.Duration
		told      int32
	}{
		{"alone", 0, 0, false, 0, 0},
		{"neighbors that listen", 3, 100 * time.Millisecond, false, 300 * time.Millisecond, 3},
		{"a neighbor that does not", 3, 400 * time.Millisecond, false, leaveTime, 2},
		{"nothing can be stored", 3, 100 * time.Millisecond, true, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var goodbyes, told atomic.Int32
			listen := func(ctx context.Context, addr string, call protocol.Call) (protocol.Reply, error) {
				if !isGoodbye(call) {
					return friendly(ctx, addr, call)
				}
				select {
				case <-time.After(time.Duration(goodbyes.Add(1)) * tt.hear):
					told.Add(1)
					return protocol.OK{}, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			runLoop(t, listen, func(t *testing.T, l *testLoop) {
				l.follow()
				l.link(tt.neighbors)
				if tt.full {
					l.disk.set(diskState{commit: errors.New("disk is full")})
				}
				begun := time.Now()
				l.leave(t.Context())
				if took := time.Since(begun); took != tt.want || told.Load() != tt.told {
					t.Errorf("left after %v, %d neighbors had heard; want %v, %d", took, told.Load(), tt.want, tt.told)
				}
			})
		})
	}
}
