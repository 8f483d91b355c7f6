package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/internal/shell"
)

// Help fits a terminal of helpColumns.
func TestHelpIsNarrow(t *testing.T) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		for line := range strings.Lines(c.Long + "\n" + c.UsageString()) {
			if len(line) > helpColumns+1 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), len(line)-1, line)
			}
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRoot())
}

func TestAdvice(t *testing.T) {
	for _, tt := range []struct {
		err  error
		hint string
	}{
		{fmt.Errorf("%w on here", control.ErrNotRunning),
			"start one with: feedex node --data " + shell.Quote("my data")},
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
