package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"feedex/lab"
	"feedex/lab/experiment"
	"feedex/lab/report"
	"feedex/lab/trace"
)

// newLab is the command whose subcommands are the experiments.
func newLab() *cobra.Command {
	c := &cobra.Command{
		Use:   "lab",
		Short: "Re-run evaluations in virtual time, with nodes of this program",
		Long: `Run whole networks of this program's own nodes and tracker in virtual time, driven by what real feeds
published, and print what came of it. Equal settings give the same tables and the same trace hash, on every
machine. An experiment that is interrupted prints what is known so far and says that it is partial.

With --seeds an experiment is run for several seeds, one after the other: as many times the work of one. Tables and
figures are those of --seed; further tables have, over all seeds, the mean of each figure and, where seeds differ, the
least and the most in brackets. The default is 5 where a seed takes three minutes or less on two cores, and 1 elsewhere.

--traces takes a folder with feeds.csv (the columns feed_id, kind, url, window_entries, window_basis, start_unix,
end_unix, entries and in_common_window) and entries-*.csv or entries-*.csv.gz (feed_id and unix_time, in order of
time within a feed). Times are Unix seconds; in_common_window is 1 for feeds to use; window_entries, how many
entries a document lists, may be empty.

Memory is spent to save time: garbage may pile up to four times what is in use, and to less where worlds are large.
The environment variable GOGC, where it is set, says in percent how far.

--json prints an object: title, seed, traces and hash as in the last line of the text, steps, setting and tables as
the text shows them, result, the same in numbers, and partial, which is there only if the run was interrupted. In
result, names that end in _ns are nanoseconds, lags and delays are seconds, and shares go from 0 to 1. Where tables over
seeds were made of those of each, result is a list: of each seed its number, hash and result.`,
		Example: "  feedex lab paper\n  feedex lab churn --seed 7 --svg figures",
	}
	c.AddCommand(newLabPaper(), newLabPolling(), newLabPublisher(), newLabPublishing(), newLabChurn(), newLabNAT(),
		newLabScale(), newLabInterests(), newLabRecommend(),
		newLabCorona(), newLabFreeriders(), newLabAttacks(), newLabQuery(), newLabRings(), newLabAll())
	return c
}

// labFlags are the flags that all experiments have.
type labFlags struct {
	seed   uint64
	seeds  int
	nodes  int
	length time.Duration
	traces string // a folder, as are lists and svg; "" where it is not given
	lists  string
	made   int // feeds made up, 0 for none
	json   bool
	svg    string
}

// add adds the flags to an experiment's command, with its default for how long it runs.
func (f *labFlags) add(c *cobra.Command, hours float64) {
	c.Args = noArgs
	c.Flags().Uint64Var(&f.seed, "seed", 1, "where all chance comes from")
	f.length = virtual(hours)
	c.Flags().Var(hoursFlag(&f.length), "hours", "how many hours of virtual time")
	c.Flags().Var(folderFlag(&f.traces), "traces",
		"folder with the traces of feeds to use in place of the built-in ones")
	c.Flags().Var(countFlag(&f.made, 1), "synthetic",
		"use so many made-up feeds in place of traces: rates by Zipf's law, days, weeks and bursts as in real ones")
	c.MarkFlagsMutuallyExclusive("traces", "synthetic")
	c.Flags().BoolVar(&f.json, "json", false, "print the results as JSON, in full")
	c.Flags().Var(folderFlag(&f.svg), "svg", "folder to draw the figures into")
	_ = c.MarkFlagDirname("traces")
	_ = c.MarkFlagDirname("svg")
}

// addNodes adds the flag of an experiment all of whose networks have as many nodes: its default, and what it takes at
// least.
func (f *labFlags) addNodes(c *cobra.Command, usual, least int) {
	f.nodes = usual
	c.Flags().Var(countFlag(&f.nodes, least), "nodes", "how many nodes start")
}

// addSeeds adds the flag for how many seeds an experiment is run, with its default.
func (f *labFlags) addSeeds(c *cobra.Command, usual int) {
	f.seeds = usual
	c.Flags().Var(countFlag(&f.seeds, 1), "seeds", "how many seeds, from --seed on, each as much work")
}

// addLists adds the flag of an experiment whose nodes may follow what people do.
func (f *labFlags) addLists(c *cobra.Command) {
	c.Flags().Var(folderFlag(&f.lists), "lists", "folder with subscription lists to use in place of made-up ones")
	_ = c.MarkFlagDirname("lists")
}

// people reads the lists, nil where they are to be made up.
func (f *labFlags) people() (trace.Lists, error) {
	if f.lists == "" {
		return nil, nil
	}
	return trace.LoadLists(f.lists)
}

// addNoEncoding adds the flag of an experiment that counts the bytes of calls.
func (f *labFlags) addNoEncoding(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, "no-encoding", false,
		"hand calls over as they are: faster, and no bytes of calls are counted")
}

// set reads the traces, or makes them up.
func (f *labFlags) set(c *cobra.Command) (*trace.Set, error) {
	switch {
	case f.made > maxSynthetic:
		return nil, usageOf(c, fmt.Errorf("%w: %d made-up feeds; want 1 to %d",
			experiment.ErrSetting, f.made, maxSynthetic))
	case f.made > 0:
		return trace.Synthetic(f.seed, trace.Synthesis{Feeds: f.made}), nil
	case f.traces != "":
		return trace.Load(f.traces)
	}
	return trace.Embedded()
}

// on has an experiment's command read the traces and do the rest.
func (f *labFlags) on(do func(c *cobra.Command, set *trace.Set) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		set, err := f.set(c)
		if err != nil {
			return err
		}
		return do(c, set)
	}
}

// maxSynthetic is how many feeds are made up at most.
const maxSynthetic = 100_000

// runSeeds runs an experiment, whose seed is to be set there, for all seeds and shows what came of it.
func (f *labFlags) runSeeds(c *cobra.Command, seed *lab.Seed, of func() experiment.Run) error {
	return f.run(c, experiment.OverSeeds(lab.Seed(f.seed), f.seeds, func(s lab.Seed) experiment.Run {
		*seed = s
		return of()
	}))
}

// run runs an experiment and shows what came of it.
func (f *labFlags) run(c *cobra.Command, do experiment.Run) error {
	if f.svg != "" { // before the work, not after
		if err := os.MkdirAll(f.svg, 0o777); err != nil {
			return fmt.Errorf("make folder for figures: %w", err)
		}
	}
	if os.Getenv("GOGC") == "" { // a user who set it knows how much memory there is
		defer debug.SetGCPercent(debug.SetGCPercent(f.garbage()))
	}
	line := newProgress(c.ErrOrStderr(), "lab "+c.Name())
	line.part(0) // before anything is known of how long it takes
	report, err := do(c.Context(), line.part)
	line.end()
	if errors.Is(err, experiment.ErrSetting) || errors.Is(err, lab.ErrConfig) {
		return usageOf(c, err)
	}
	if err != nil {
		return err
	}
	show := report.Write
	if f.json {
		show = report.WriteJSON
	}
	if err := show(c.OutOrStdout()); err != nil {
		return err
	}
	for _, line := range report.Aside {
		fmt.Fprintln(c.ErrOrStderr(), line)
	}
	if f.svg != "" {
		if err := drawFigures(f.svg, report.All()); err != nil {
			return err
		}
	}
	return context.Cause(c.Context()) // an interruption has an exit code of its own
}

// garbage is how much of it may pile up, in percent of what worlds hold. Little of it lasts, so that time is bought
// with memory, as long as there is enough of that.
func (f *labFlags) garbage() int {
	switch {
	case f.nodes > 4000:
		return 100
	case f.nodes > 1000:
		return 200
	}
	return 400
}

// drawFigures writes each figure into a file of its name.
func drawFigures(dir string, figures []*report.Plot) error {
	for _, figure := range figures {
		var svg bytes.Buffer
		if err := figure.WriteSVG(&svg); err != nil {
			return err
		}
		file := filepath.Join(dir, figure.Name+".svg")
		if err := os.WriteFile(file, svg.Bytes(), 0o666); err != nil {
			if errors.Is(err, syscall.ENOSPC) {
				_ = os.Remove(file) // half a figure
			}
			return fmt.Errorf("draw figure: %w", err)
		}
	}
	return nil
}
