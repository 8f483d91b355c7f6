package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A hookedWriter keeps what is written, and asks before each write.
type hookedWriter struct {
	strings.Builder
	before func() error
}

func (w *hookedWriter) Write(p []byte) (int, error) {
	if err := w.before(); err != nil {
		return 0, err
	}
	return w.Builder.Write(p)
}

func TestDemoEndsEarly(t *testing.T) {
	for _, tt := range []struct {
		name                  string
		by                    os.Signal
		writing               error
		code                  int
		wantOutput, wantError string
	}{
		{"interrupt", os.Interrupt, nil, 130, "\ninterrupted after ", ""},
		{"terminated", syscall.SIGTERM, nil, 143, "\ninterrupted after ", ""},
		{"hung up", syscall.SIGHUP, nil, 129, "\ninterrupted after ", ""},
		{"nowhere to write", nil, errors.New("no space left"), 1, "",
			"feedex: show the demonstration: no space left\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("TMPDIR", folder)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			out := &hookedWriter{before: func() error {
				if tt.by != nil {
					cancel(interruption{tt.by})
				}
				return tt.writing
			}}
			var stderr strings.Builder
			if code := run(ctx, []string{"demo"}, out, &stderr); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if tt.by != nil && !strings.Contains(out.String(), " shows its pages at http://127.0.0.1:") {
				t.Errorf("nobody hears where a node's pages are: %q", &out.Builder)
			}
			if !strings.Contains(out.String(), tt.wantOutput) || stderr.String() != tt.wantError {
				t.Errorf("output %q, error %q; want %q and %q", &out.Builder, &stderr, tt.wantOutput, tt.wantError)
			}
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
