package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"feedex/lab/experiment"
	"feedex/lab/report"
)

// errBeyondMark is what attacks end with that do not come up to their mark: their tables are whole all the same.
var errBeyondMark = errors.New("of the attacks are beyond their mark")

// The files of a run in its folder, beside its figures.
const (
	labTables = "tables.txt"
	labDone   = "run.json" // a labOutcome
)

// A labAll makes the tables and figures of all experiments into one folder, and a page of them.
type labAll struct {
	dir     string
	program string // a digest of the program that runs
	lists   string // a folder, "" for made-up ones
	quick   bool
	log     io.Writer
}

// A labOutcome says of a run that is done by what it was done.
type labOutcome struct {
	Program  string   `json:"program"` // a digest of it
	Version  string   `json:"version"`
	Commands []string `json:"commands"`
	Minutes  float64  `json:"minutes"` // that it took
	Notes    []string `json:"notes,omitempty"`
	Lists    string   `json:"lists,omitempty"` // the folder that its command took, "" for made-up ones
}

func newLabAll() *cobra.Command {
	var a labAll
	var only []string
	c := &cobra.Command{
		Use:   "all",
		Short: "All tables and figures of docs/evaluation, in one go, with a page of them beside the papers'",
		Long: `Run every experiment as docs/evaluation has it, one after the other, each into a folder of its name in --out, and
write index.html there: the figures of the papers, as far as their texts state numbers, beside ours, and all tables.

What the same program has done there with the same flags is not done again: a run that was interrupted or killed is
begun anew, and those before it are kept. Before the first it says which there are, how long each takes on two cores,
and which are done. What benchmarks and real processes measure is not part of it.`,
		Example: "  feedex lab all --out evaluation\n  feedex lab all --out evaluation --only polling,paper\n" +
			"  feedex lab all --out try --quick",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if a.dir == "" {
				return usageOf(c, errors.New("no folder: want --out DIR"))
			}
			runs := labRuns()
			if c.Flags().Changed("only") {
				if runs, err = chosen(runs, only); err != nil {
					return usageOf(c, err)
				}
			}
			if a.program, err = digestOfProgram(); err != nil {
				return err
			}
			if a.lists != "" { // one folder, from wherever it is named
				if a.lists, err = filepath.Abs(a.lists); err != nil {
					return fmt.Errorf("find the folder of lists: %w", err)
				}
			}
			a.log = c.ErrOrStderr()
			return a.run(c.Context(), runs)
		},
	}
	c.Flags().Var(folderFlag(&a.dir), "out", "folder to write to")
	c.Flags().Var(folderFlag(&a.lists), "lists", "folder with subscription lists to use in place of made-up ones")
	c.Flags().StringSliceVar(&only, "only", nil, "make only these, such as polling,paper (default all)")
	c.Flags().BoolVar(&a.quick, "quick", false, "make everything very small: to see that it works")
	_ = c.MarkFlagDirname("out")
	_ = c.MarkFlagDirname("lists")
	var names []string
	for _, r := range labRuns() {
		names = append(names, r.name)
	}
	_ = c.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// chosen are the runs of those names, in their own order.
func chosen(runs []labRun, only []string) ([]labRun, error) {
	var known []string
	for _, r := range runs {
		known = append(known, r.name)
	}
	for _, name := range only {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no run %q: want some of %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(runs, func(r labRun) bool { return !slices.Contains(only, r.name) }), nil
}

// digestOfProgram tells this program from others: results hold for the one that made them.
func digestOfProgram() (string, error) {
	var program []byte
	path, err := os.Executable()
	if err == nil {
		program, err = os.ReadFile(path)
	}
	if err != nil {
		return "", fmt.Errorf("find out which program this is: %w", err)
	}
	sum := sha256.Sum256(program)
	return hex.EncodeToString(sum[:8]), nil
}

// run makes what is not there yet, and after each run the page.
func (a *labAll) run(ctx context.Context, runs []labRun) error {
	if err := os.MkdirAll(a.dir, 0o777); err != nil {
		return fmt.Errorf("make folder for results: %w", err)
	}
	var left []labRun
	minutes := 0.0
	for _, r := range runs {
		state := "done"
		if !a.done(r) {
			left = append(left, r)
			state = "not done"
			if !a.quick {
				minutes += r.minutes
				state = fmt.Sprintf("not done, about %s", roughMinutes(r.minutes))
			}
		}
		fmt.Fprintf(a.log, "%-21s %s\n", r.name, state)
	}
	if len(left) > 0 && !a.quick {
		fmt.Fprintf(a.log, "all together about %s on two cores\n", roughMinutes(minutes))
	}
	if err := a.writePage(); err != nil {
		return err
	}
	for _, r := range left {
		if err := a.make(ctx, r); err != nil {
			return err
		}
		if err := a.writePage(); err != nil {
			return err
		}
		fmt.Fprintf(a.log, "%s is done\n", r.name)
	}
	fmt.Fprintf(a.log, "see %s\n", filepath.Join(a.dir, "index.html"))
	return nil
}

// roughMinutes is a time as people say it.
func roughMinutes(minutes float64) string {
	switch {
	case minutes < 1.5:
		return "a minute or less"
	case minutes < 90:
		return fmt.Sprintf("%.0f minutes", minutes)
	}
	return fmt.Sprintf("%.1f hours", minutes/60)
}

// commands are what follows "feedex lab" in each command line of a run.
func (a *labAll) commands(r labRun) []string {
	lines := r.full
	if a.quick {
		lines = r.quick
	}
	lines = slices.Clone(lines)
	if a.listsOf(r) != "" {
		for i := range lines {
			lines[i] += " --lists FOLDER"
		}
	}
	return lines
}

// listsOf is the folder of lists that a run takes, "" for made-up ones or none.
func (a *labAll) listsOf(r labRun) string {
	if !r.lists {
		return ""
	}
	return a.lists
}

// outcome is that of a run of before, nil where there is none that came to its end.
func (a *labAll) outcome(r labRun) *labOutcome {
	text, err := os.ReadFile(filepath.Join(a.dir, r.name, labDone))
	if err != nil {
		return nil
	}
	o := new(labOutcome)
	if json.Unmarshal(text, o) != nil {
		return nil
	}
	return o
}

// done reports whether this program has made the run with these flags.
func (a *labAll) done(r labRun) bool {
	o := a.outcome(r)
	return o != nil && o.Program == a.program && slices.Equal(o.Commands, a.commands(r)) && o.Lists == a.listsOf(r)
}

// make makes one run, in a folder that takes its name only once all is there.
func (a *labAll) make(ctx context.Context, r labRun) error {
	final := filepath.Join(a.dir, r.name)
	part := final + ".part"
	if err := os.RemoveAll(part); err != nil {
		return fmt.Errorf("make %s anew: %w", r.name, err)
	}
	if err := os.MkdirAll(part, 0o777); err != nil {
		return fmt.Errorf("make %s: %w", r.name, err)
	}
	began := time.Now()
	o := labOutcome{Program: a.program, Version: version(), Commands: a.commands(r), Lists: a.listsOf(r)}
	var text bytes.Buffer
	for i, line := range o.Commands {
		args := strings.Fields(line)
		if at := slices.Index(args, "FOLDER"); at > 0 {
			args[at] = a.lists
		}
		figures := i == 0 && !slices.Contains(args, "--turns") // those of further commands have the same names
		if figures {
			args = append(args, "--svg", part)
		}
		fmt.Fprintf(&text, "feedex lab %s\n\n", line)
		c := newLab()
		c.SilenceErrors, c.SilenceUsage = true, true
		c.SetArgs(args)
		c.SetOut(&text)
		c.SetErr(a.log)
		switch err := c.ExecuteContext(ctx); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errBeyondMark):
			o.Notes = append(o.Notes, err.Error())
		case err != nil:
			return fmt.Errorf("feedex lab %s: %w", line, err)
		}
		text.WriteString("\n")
	}
	o.Minutes = time.Since(began).Minutes()
	mark, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{labTables: text.Bytes(), labDone: mark} {
		if err := os.WriteFile(filepath.Join(part, name), content, 0o666); err != nil {
			return fmt.Errorf("write %s of %s: %w", name, r.name, err)
		}
	}
	if err := os.RemoveAll(final); err != nil {
		return fmt.Errorf("replace %s: %w", r.name, err)
	}
	if err := os.Rename(part, final); err != nil {
		return fmt.Errorf("finish %s: %w", r.name, err)
	}
	return nil
}

// figuresOf are the names of a run's figures, without their suffix.
func (a *labAll) figuresOf(r labRun) (names []string) {
	files, err := filepath.Glob(filepath.Join(a.dir, r.name, "*.svg"))
	if err != nil {
		return nil // no pattern is wrong
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".svg"))
	}
	return names
}

// writePage draws what the papers state, and writes the page of all that there is.
func (a *labAll) writePage() error {
	stated := experiment.StatedFigures()
	folder := filepath.Join(a.dir, "stated")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("make folder for the papers' figures: %w", err)
	}
	var plots []*report.Plot
	for _, s := range stated {
		plots = append(plots, s.Figure)
	}
	if err := drawFigures(folder, plots); err != nil {
		return err
	}
	var page bytes.Buffer
	if err := a.page(&page, stated); err != nil {
		return err
	}
	file := filepath.Join(a.dir, "index.html")
	err := os.WriteFile(file+".part", page.Bytes(), 0o666)
	if err == nil {
		err = os.Rename(file+".part", file)
	}
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
