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
