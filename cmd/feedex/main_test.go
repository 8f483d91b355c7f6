package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestFirstSignalEndsTheContext(t *testing.T) {
	signals := make(chan os.Signal, 1)
	ctx, stop := untilSignal(t.Context(), signals, func(int) { t.Error("the first signal must not exit") })
	defer stop()
	signals <- os.Interrupt
	<-ctx.Done()
	if by := new(interruption); !errors.As(context.Cause(ctx), by) || by.Signal != os.Interrupt {
		t.Errorf("cause %v, want an interruption by %v", context.Cause(ctx), os.Interrupt)
	}
}

func TestSecondSignalExitsAtOnce(t *testing.T) {
	for signal, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		synctest.Test(t, func(t *testing.T) {
			signals, code := make(chan os.Signal, 2), make(chan int, 1)
			_, stop := untilSignal(t.Context(), signals, func(c int) { code <- c })
			defer stop()
			signals <- syscall.SIGTERM
			time.Sleep(2 * sameWish)
			signals <- signal
			if got := <-code; got != want {
				t.Errorf("%v: exit code %d, want %d", signal, got, want)
			}
		})
	}
}

// As timeout(1) sends them, to the program and then to its group.
func TestSignalSentTwiceIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 2)
		ctx, stop := untilSignal(t.Context(), signals, func(int) { t.Error("the same signal again must not exit") })
		defer stop()
		signals <- syscall.SIGTERM
		<-ctx.Done()
		time.Sleep(sameWish / 2)
		signals <- syscall.SIGTERM
		time.Sleep(2 * sameWish)
	})
}

func TestStopWithoutSignal(t *testing.T) {
	ctx, stop := untilSignal(t.Context(), make(chan os.Signal), nil)
	stop()
	if ctx.Err() == nil {
		t.Error("the context lives on")
	}
}
