package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"feedex/demo"
	"feedex/settings"
)

func newDemo() *cobra.Command {
	length := "1m"
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show a whole network at work on this machine",
		Long: `Start a server with ten feeds that publish every few seconds, a tracker and six nodes, all on this machine's
loopback address and in temporary folders, and show live what they do; the pages of one of them can be opened in a
browser meanwhile. Each node polls far too rarely to see entries in time by itself. They poll each feed in turn, the
more evenly the longer it runs: it shows which node polled one of the feeds when, and in the end how even the times
between polls are. The exit code is 1 if a node missed an entry. No Internet is needed. When it is interrupted it says
how far it came.`,
		Example: "  feedex demo\n  feedex demo --for 5m",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return runDemo(c, settings.Duration(length))
		},
	}
	c.Flags().Var(settings.Span.Flag(&length), "for", "how long it runs, a span of 15s or more")
	return c
}

// runDemo shows the demonstration and then what came of it, or of as much as there was of it.
func runDemo(c *cobra.Command, length time.Duration) error {
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away is a write error, so that nothing is left behind
	ctx, cancel := context.WithCancelCause(c.Context())
	defer cancel(nil)
	stdout := c.OutOrStdout()
	out := &watchedWriter{w: stdout, failed: func(err error) { cancel(outputError{err}) }}
	summary, err := demo.Run(ctx, demo.Config{Open: openDatabase, For: length, Out: out,
		Terminal: hasRoom(stdout)})
	switch {
	case err == nil, errors.Is(err, demo.ErrMissed):
		fmt.Fprintf(out, "\n%s", summary)
	case errors.As(err, new(interruption)):
		fmt.Fprintf(out, "\ninterrupted after %.0f seconds: %s published, %d of %d deliveries made, the others on "+
			"their way\n", summary.Ran.Seconds(), plural(summary.Published, "entry", "entries"),
			summary.Expected-summary.Missed, summary.Expected)
	}
	if failure := new(outputError); errors.As(context.Cause(ctx), failure) {
		return failure
	}
	return err
}

// hasRoom reports whether the picture can be drawn over in place: on a terminal that is large enough for it and moves
// its cursor. One that does not tell its size is as large as they usually are.
func hasRoom(w io.Writer) bool {
	if !isTerminal(w) || os.Getenv("TERM") == "dumb" {
		return false
	}
	columns, lines, err := term.GetSize(int(w.(*os.File).Fd()))
	return err != nil || columns == 0 || columns >= demo.Columns && lines >= demo.Lines
}

// An outputError says that what happens could not be shown.
type outputError struct{ cause error }

// Error implements error.
func (e outputError) Error() string { return "show the demonstration: " + e.cause.Error() }

// Unwrap is the error of the output.
func (e outputError) Unwrap() error { return e.cause }

// A watchedWriter tells when w takes no more.
type watchedWriter struct {
	w      io.Writer
	failed func(error)
}

// Write implements io.Writer.
func (w *watchedWriter) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if err != nil {
		w.failed(err)
	}
	return n, err
}
