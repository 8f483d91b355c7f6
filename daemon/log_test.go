package daemon

import (
	"context"
	"log/slog"
	"testing"
)

// said is a log that hands on what is said in it.
type said struct {
	slog.Handler
	messages chan string
}

// overhear returns a log, and what is said in it.
func overhear() (*slog.Logger, said) {
	s := said{slog.DiscardHandler, make(chan string, 10_000)}
	return slog.New(s), s
}

func (s said) Enabled(context.Context, slog.Level) bool { return true }
func (s said) WithAttrs([]slog.Attr) slog.Handler       { return s }
func (s said) Handle(_ context.Context, r slog.Record) error {
	s.messages <- r.Message
	return nil
}

// wait waits until it is said.
func (s said) wait(t *testing.T, message string) {
	t.Helper()
	for {
		select {
		case m := <-s.messages:
			if m == message {
				return
			}
		case <-t.Context().Done():
			t.Fatalf("nobody said %q", message)
		}
	}
}

// count is how often it was said since it was last counted or waited for.
func (s said) count() map[string]int {
	count := make(map[string]int)
	for len(s.messages) > 0 {
		count[<-s.messages]++
	}
	return count
}
