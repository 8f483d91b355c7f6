package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
)

func TestFirstSignalEndsTheContext(t *testing.T) {
	signals := make(chan os.Signal, 1)
	ctx, stop := untilSignal(t.Context(), signals, func(int) { t.Error("the first signal must not exit") })
	defer stop()
	signals <- os.Interrupt
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), errSignal) {
		t.Errorf("cause %v, want errSignal", context.Cause(ctx))
	}
}

func TestSecondSignalExitsAtOnce(t *testing.T) {
	for signal, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		signals, code := make(chan os.Signal, 2), make(chan int, 1)
		_, stop := untilSignal(t.Context(), signals, func(c int) { code <- c })
		signals <- syscall.SIGTERM
		signals <- signal
		if got := <-code; got != want {
			t.Errorf("%v: exit code %d, want %d", signal, got, want)
		}
		stop()
	}
}

func TestStopWithoutSignal(t *testing.T) {
	ctx, stop := untilSignal(t.Context(), make(chan os.Signal), nil)
	stop()
	if ctx.Err() == nil {
		t.Error("the context lives on")
	}
}
