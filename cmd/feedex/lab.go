package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
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

--traces takes a folder with feeds.csv (the columns feed_id, kind, url, window_entries, window_basis, start_unix,
end_unix, entries and in_common_window) and entries-*.csv or entries-*.csv.gz (feed_id and unix_time, in order of
time within a feed). Times are Unix seconds; in_common_window is 1 for feeds to use; window_entries, how many
entries a document lists, may be empty.

Memory is spent to save time: garbage may pile up to four times what is in use, and to less where worlds are large.
The environment variable GOGC, where it is set, says in percent how far.

--json prints an object: title, seed, traces and hash as in the last line of the text, steps, setting and tables as
the text shows them, result, the same in numbers, and partial, which is there only if the run was interrupted. In
result, names that end in _ns are nanoseconds, lags and delays are seconds, and shares go from 0 to 1.`,
		Example: "  feedex lab paper\n  feedex lab churn --seed 7 --svg figures",
	}
	c.AddCommand(newLabPaper(), newLabPolling(), newLabChurn(), newLabScale(), newLabCorona(), newLabFreeriders(),
		newLabAttacks(), newLabQuery())
	return c
}

// labFlags are the flags that all experiments have.
type labFlags struct {
	seed   uint64
	nodes  int
	length time.Duration
	traces folderValue
	made   int // feeds made up, 0 for none
	json   bool
	svg    folderValue
}

// add adds the flags to an experiment's command, with its default for how long it runs.
func (f *labFlags) add(c *cobra.Command, hours float64) {
	c.Args = noArgs
	c.Flags().Uint64Var(&f.seed, "seed", 1, "where all chance comes from")
	f.length = virtual(hours)
	c.Flags().Var((*hoursValue)(&f.length), "hours", "how many hours of virtual time")
	c.Flags().Var(&f.traces, "traces", "folder with the traces of feeds to use in place of the built-in ones")
	c.Flags().Var(countValue{&f.made, 1}, "synthetic",
		"use so many made-up feeds in place of traces: rates by Zipf's law, days, weeks and bursts as in real ones")
	c.MarkFlagsMutuallyExclusive("traces", "synthetic")
	c.Flags().BoolVar(&f.json, "json", false, "print the results as JSON, in full")
	c.Flags().Var(&f.svg, "svg", "folder to draw the figures into")
	_ = c.MarkFlagDirname("traces")
	_ = c.MarkFlagDirname("svg")
}

// addNodes adds the flag of an experiment all of whose networks have as many nodes: its default, and what it takes at
// least.
func (f *labFlags) addNodes(c *cobra.Command, usual, least int) {
	f.nodes = usual
	c.Flags().Var(countValue{&f.nodes, least}, "nodes", "how many nodes start")
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
		return trace.Load(string(f.traces))
	}
	return trace.Embedded()
}

// maxSynthetic is how many feeds are made up at most.
const maxSynthetic = 100_000

// run runs an experiment and shows what came of it.
func (f *labFlags) run(c *cobra.Command, do func(context.Context, experiment.Progress) (*report.Report,
	error)) error {
	if f.svg != "" { // before the work, not after
		if err := os.MkdirAll(string(f.svg), 0o777); err != nil {
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
		if err := drawFigures(string(f.svg), report.All()); err != nil {
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

// maxVirtual is the longest run that makes sense to ask for, in hours: a year.
const maxVirtual = 24 * 365

var errHours = fmt.Errorf(`want a number of hours such as "22" or ".5", a second at least and %d at most`, maxVirtual)

// parseHours reads a number of hours.
func parseHours(text string) (time.Duration, error) {
	hours, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(hours > 0 && hours <= maxVirtual) || virtual(hours) == 0 {
		return 0, errHours
	}
	return virtual(hours), nil
}

// virtual is a number of hours as a span, in whole seconds.
func virtual(hours float64) time.Duration {
	return time.Duration(math.Round(hours*3600)) * time.Second
}

// An hoursValue is a flag that takes hours: 22, .5.
type hoursValue time.Duration

// Set implements pflag.Value.
func (v *hoursValue) Set(text string) error {
	d, err := parseHours(text)
	if err == nil {
		*v = hoursValue(d)
	}
	return err
}

// String implements pflag.Value.
func (v *hoursValue) String() string {
	return strconv.FormatFloat(time.Duration(*v).Hours(), 'g', -1, 64)
}

// Type implements pflag.Value.
func (v *hoursValue) Type() string { return "hours" }

// An intervalsValue is a flag that takes several numbers of hours: .5,1,2.
type intervalsValue []time.Duration

// Set implements pflag.Value.
func (v *intervalsValue) Set(text string) error {
	*v = nil
	for _, part := range strings.Split(text, ",") {
		d, err := parseHours(part)
		if err != nil {
			return errors.New(`want numbers of hours such as ".5,1,2"`)
		}
		*v = append(*v, d)
	}
	return nil
}

// String implements pflag.Value.
func (v *intervalsValue) String() string {
	var parts []string
	for _, d := range *v {
		h := hoursValue(d)
		parts = append(parts, h.String())
	}
	return strings.Join(parts, ",")
}

// Type implements pflag.Value.
func (v *intervalsValue) Type() string { return "hours" }

// A countValue is a flag that takes a whole number.
type countValue struct {
	to    *int
	least int
}

// Set implements pflag.Value.
func (v countValue) Set(text string) error {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < v.least {
		return fmt.Errorf("want a whole number, %d or more, not %q", v.least, text)
	}
	*v.to = n
	return nil
}

// String implements pflag.Value.
func (v countValue) String() string {
	if v.to == nil {
		return ""
	}
	return strconv.Itoa(*v.to)
}

// Type implements pflag.Value.
func (v countValue) Type() string { return "int" }

// A countsValue is a flag that takes several whole numbers: 161,1000.
type countsValue struct {
	to    *[]int
	least int
}

// Set implements pflag.Value.
func (v countsValue) Set(text string) error {
	var counts []int
	for _, part := range strings.Split(text, ",") {
		var n int
		if err := (countValue{&n, v.least}).Set(part); err != nil {
			return fmt.Errorf("want whole numbers with commas between, %d or more each, not %q", v.least, text)
		}
		counts = append(counts, n)
	}
	*v.to = counts
	return nil
}

// String implements pflag.Value.
func (v countsValue) String() string {
	if v.to == nil {
		return ""
	}
	var parts []string
	for _, n := range *v.to {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, ",")
}

// Type implements pflag.Value.
func (v countsValue) Type() string { return "ints" }

// A folderValue is a flag that takes a folder, "" where it is not given.
type folderValue string

// Set implements pflag.Value.
func (v *folderValue) Set(text string) error {
	if text == "" {
		return errors.New("want a folder")
	}
	*v = folderValue(text)
	return nil
}

// String implements pflag.Value.
func (v *folderValue) String() string { return string(*v) }

// Type implements pflag.Value.
func (v *folderValue) Type() string { return "folder" }
