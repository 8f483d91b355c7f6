package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"feedex/lab/experiment"
	"feedex/lab/report"
)

// Every experiment that is interrupted prints what is known, says that it is partial, and ends with the code of the
// signal.
func TestInterruptedLab(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interruption{os.Interrupt})
	for _, c := range experimentsOf(newLab()) {
		var out, errs bytes.Buffer
		code := run(ctx, []string{"lab", c.Name(), "--svg", filepath.Join(t.TempDir(), "figures")}, &out, &errs)
		if code != 128+int(syscall.SIGINT) || !strings.Contains(out.String(), "\nPARTIAL: ") ||
			strings.Contains(errs.String(), "feedex: ") {
			t.Errorf("lab %s ended with %d, %q and\n%s", c.Name(), code, &errs, &out)
		}
	}
}

// experimentsOf are the commands but the one that runs all others.
func experimentsOf(lab *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(lab.Commands(), func(c *cobra.Command) bool { return c.Name() == "all" })
}

// How much garbage may pile up is said by GOGC where it is set, and otherwise goes by the size of the worlds, while
// they last.
func TestGarbageOfTheLab(t *testing.T) {
	percent := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	usual := percent()
	for _, c := range []struct {
		gogc        string
		nodes, want int
	}{{"", 100, 400}, {"", 1001, 200}, {"", 4001, 100}, {"50", 100, usual}, {"off", 100, usual}} {
		t.Setenv("GOGC", c.gogc)
		command, got := newLab(), 0
		command.SetErr(io.Discard)
		_ = (&labFlags{nodes: c.nodes}).run(command, func(context.Context, experiment.Progress) (*report.Report,
			error) {
			got = percent()
			return nil, experiment.ErrSetting
		})
		if got != c.want || percent() != usual {
			t.Errorf("GOGC=%s, %d nodes: %d percent, want %d; afterwards %d", c.gogc, c.nodes, got, c.want, percent())
		}
	}
}

// All experiments have the flags that all are to have, but those that no time passes in.
func TestFlagsOfAllExperiments(t *testing.T) {
	for _, c := range experimentsOf(newLab()) {
		flags := []string{"seed", "seeds", "nodes", "hours", "traces", "synthetic", "json", "svg"}
		switch c.Name() {
		case "recommend":
			flags = []string{"lists", "seeds", "json", "svg"}
		case "publishing":
			flags = []string{"traces", "synthetic", "json", "svg"}
		}
		for _, flag := range flags {
			if c.Flag(flag) == nil {
				t.Errorf("lab %s has no --%s", c.Name(), flag)
			}
		}
	}
}
