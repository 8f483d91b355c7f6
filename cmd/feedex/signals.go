package main

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// errSignal is the cause with which the program's context ends on a signal.
var errSignal = errors.New("interrupted")

// untilSignal returns a context that ends at the first signal, with errSignal as its cause, so that the
// program can end in order. A second signal ends it at once: exit is called with 128 and the
// signal's number, as shells count. stop lets go of everything.
func untilSignal(ctx context.Context, signals <-chan os.Signal, exit func(code int)) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-signals:
			cancel(errSignal)
		case <-quit:
			return
		}
		select {
		case s := <-signals:
			exit(exitCode(s))
		case <-quit:
		}
	}()
	return ctx, func() {
		close(quit)
		<-done
		cancel(nil)
	}
}

// exitCode is the exit code of a process that s ended.
func exitCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 1
}
