package sqlite

import (
	"context"
	"os"
	"time"
)

// What goes over the whole file takes the longer the larger that is. It has its time by its size, so that a disk that
// hangs is told from one that is slow: with the default patience a second for each mebibyte, and a minute more.

// perPatience is how many bytes must be got through within one patience.
const perPatience = 60 << 20

// throughout is ctx with an end for one statement that goes over everything in the file at path and its log.
func throughout(ctx context.Context, path string, patience time.Duration) (context.Context, context.CancelFunc) {
	size := sizeOf(path) + sizeOf(logOf(path))
	return context.WithTimeoutCause(ctx,
		patience+time.Duration(float64(patience)*float64(size)/perPatience), ErrStalled)
}

// sizeOf is the size of a file, 0 where there is none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// growing is ctx until what is being written has not grown for one patience.
func growing(ctx context.Context, size func() int64, patience time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(patience)
		defer tick.Stop()
		for last := int64(-1); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now := size()
			if now == last {
				end(ErrStalled)
				return
			}
			last = now
		}
	}()
	return ctx, func() { end(nil) }
}

// ended is why a statement within ctx ended: where that has ended, it is the reason, whatever became of the statement.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
