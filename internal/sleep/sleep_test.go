package sleep_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"feedex/internal/sleep"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, why := time.Now(), errors.New("the node ends")
		ctx, cancel := context.WithCancelCause(t.Context())
		if err := sleep.For(ctx, time.Hour); err != nil || time.Since(begun) != time.Hour {
			t.Errorf("slept for %v, %v", time.Since(begun), err)
		}
		time.AfterFunc(time.Minute, func() { cancel(why) })
		if err := sleep.For(ctx, time.Hour); !errors.Is(err, why) || time.Since(begun) != time.Hour+time.Minute {
			t.Errorf("slept until %v, %v", time.Since(begun), err)
		}
	})
}
