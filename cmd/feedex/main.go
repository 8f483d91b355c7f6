// Command feedex runs a node of a network that exchanges the entries of news feeds, the list server
// that such nodes find each other by, and the tools of a node's owner.
//
// Listings go to standard output, everything else to standard error. The exit code is 0 on success, 1
// on failure, 2 where the command line, the environment or the config file is wrong.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
	_ "time/tzdata" // TZ has its meaning in a container as well, where nothing but this program is
)

func main() { os.Exit(start()) }

// start runs the program with what the process was given. It leaves the exit code to its caller so
// that deferred calls run.
func start() int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, endings()...)
	defer signal.Stop(signals)
	ctx, stop := untilSignal(context.Background(), signals, os.Exit)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// sameWish is for how long after the first signal another is the same wish: timeout(1) signals the program and then
// its group, to which the program belongs as well. Nobody presses Ctrl-C twice so fast.
const sameWish = 100 * time.Millisecond

// An interruption is the cause with which the program's context ends on a signal.
type interruption struct{ os.Signal }

// Error implements error.
func (i interruption) Error() string { return "ended by signal: " + i.String() }

// endings are the signals that end the program in order. A terminal that goes away is one, unless the user who started
// the program wanted it to outlive that (nohup).
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// untilSignal returns a context that ends at the first signal, with an interruption as its cause, so that
// the program can end in order. A second signal, unless it is the same wish, ends it at once: exit is called
// with 128 and the signal's number, as shells count. stop lets go of everything.
func untilSignal(ctx context.Context, signals <-chan os.Signal, exit func(code int)) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-signals:
			cancel(interruption{s})
		case <-quit:
			return
		}
		first := time.Now()
		for {
			select {
			case s := <-signals:
				if time.Since(first) >= sameWish {
					exit(exitCode(s))
					return
				}
			case <-quit:
				return
			}
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
