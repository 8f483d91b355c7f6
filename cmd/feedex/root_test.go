package main

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"feedex/control"
)

func TestAdvice(t *testing.T) {
	for _, tt := range []struct {
		err  error
		hint string
	}{
		{fmt.Errorf("%w on here", control.ErrNotRunning), "start one with: feedex node --data 'my data'"},
		{fmt.Errorf("open control socket: %w", fs.ErrPermission),
			"the node belongs to another user: ask as that user, or with sudo"},
		{errors.New("something else"), ""},
	} {
		var h hintedError
		errors.As(advised(tt.err, "my data"), &h)
		if h.hint != tt.hint {
			t.Errorf("%v: hint %q, want %q", tt.err, h.hint, tt.hint)
		}
	}
}
