package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Every experiment that is interrupted prints what is known, says that it is partial, and ends with the code of the
// signal.
func TestInterruptedLab(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interruption{os.Interrupt})
	for _, c := range newLab().Commands() {
		var out, errs bytes.Buffer
		code := run(ctx, []string{"lab", c.Name(), "--svg", filepath.Join(t.TempDir(), "figures")}, &out, &errs)
		if code != 128+int(syscall.SIGINT) || !strings.Contains(out.String(), "\nPARTIAL: ") || strings.Contains(errs.String(), "feedex: ") {
			t.Errorf("lab %s ended with %d, %q and\n%s", c.Name(), code, &errs, &out)
		}
	}
}

// All experiments have the flags that all are to have.
func TestFlagsOfAllExperiments(t *testing.T) {
	for _, c := range newLab().Commands() {
		for _, flag := range []string{"seed", "nodes", "hours", "traces", "synthetic", "json", "svg"} {
			if c.Flag(flag) == nil {
				t.Errorf("lab %s has no --%s", c.Name(), flag)
			}
		}
	}
}
