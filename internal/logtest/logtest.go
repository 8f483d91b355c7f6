// Package logtest has logs in which tests hear what is said.
package logtest

import (
	"context"
	"log/slog"
	"testing"
)

// Said is a log that hands on what is said in it.
type Said struct {
	slog.Handler
	Messages chan string
}

// Overhear returns a log, and what is said in it.
func Overhear() (*slog.Logger, Said) {
	s := Said{slog.DiscardHandler, make(chan string, 10_000)}
	return slog.New(s), s
}

// Enabled implements slog.Handler.
func (s Said) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (s Said) WithAttrs([]slog.Attr) slog.Handler { return s }

// Handle implements slog.Handler.
func (s Said) Handle(_ context.Context, r slog.Record) error {
	s.Messages <- r.Message
	return nil
}

// Wait waits until it is said.
func (s Said) Wait(t *testing.T, message string) {
	t.Helper()
	for {
		select {
		case m := <-s.Messages:
			if m == message {
				return
			}
		case <-t.Context().Done():
			t.Fatalf("nobody said %q", message)
		}
	}
}

// Count is how often each was said since it was last counted or waited for.
func (s Said) Count() map[string]int {
	count := make(map[string]int)
	for len(s.Messages) > 0 {
		count[<-s.Messages]++
	}
	return count
}
