package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"feedex/control"
	"feedex/internal/shell"
	"feedex/settings"
)

// Exit codes.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2 // the command line, the environment or the config file is wrong
)

// A hintedError knows what its reader can do about it.
type hintedError struct {
	error
	hint string
}

// Unwrap is the error that the hint is about.
func (e hintedError) Unwrap() error { return e.error }

// run executes one command line and returns the exit code. An error ends as one line on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if by := new(interruption); errors.As(context.Cause(ctx), by) &&
		(errors.Is(err, context.Canceled) || errors.As(err, by)) {
		return exitCode(by.Signal) // the user knows why
	}
	line := "feedex: " + printable(err.Error())
	h, wrong := new(hintedError), new(settings.UsageError)
	usage := errors.As(err, wrong)
	if usage && wrong.Hint != "" {
		line += "; " + wrong.Hint
	} else if errors.As(err, h) {
		line += "; " + h.hint
	}
	fmt.Fprintln(stderr, line)
	if usage {
		return exitUsage
	}
	return exitError
}

// helpEnd names the annotation of a command that its help ends with.
const helpEnd = "help-end"

// newRoot is the whole tree of commands.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "feedex",
		Short: "Read feeds together: poll less, see more, forget nothing",
		Long: `feedex runs a node beside your feed reader. The node polls the feeds you subscribe to, rarely and
politely; it exchanges new entries with eight to ten neighbors who read the same feeds; it keeps every
entry it saw; and it answers what a feed ever published.`,
		Example: `  feedex node --subscribe https://example.com/feed.xml --tracker http://tracker.example.net:7788/
  feedex query --since 2d
  feedex status`,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	root.SetVersionTemplate("feedex {{.Version}}\n")
	root.SetUsageTemplate(strings.NewReplacer("{{if .Runnable}}", "{{if not .HasAvailableSubCommands}}",
		".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", helpColumns)).Replace(root.UsageTemplate()))
	root.SetHelpTemplate(root.HelpTemplate() + "{{with index .Annotations \"" + helpEnd + "\"}}\n{{.}}\n{{end}}")
	root.AddCommand(
		newNode(), newTracker(),
		newQuery(), newBackfill(), newArchive(), newStatus(), newNeighbors(), newInvite(), newJoin(), newLeave(),
		newDHT(), newFeeds(), newRecommend(),
		newSubscribe(), newUnsubscribe(), newRefresh(), newImport(), newExport(), newPassword(), newPerson(),
		newFilter(),
		newNotify(), newDoctor(),
		newDemo(), newLab(), newConfig(), newVersion(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	safeCompletion(root)
	markUsageErrors(root)
	helpOfCommands(root)
	completeNoFiles(root)
	return root
}

// safeCompletion mends the scripts that cobra makes for shells, so that nothing runs that a name or an address holds,
// as what stands behind a ; or in $(). The script of fish hands the words of a line over as they are, where cobra's
// evaluates them; that of bash quotes what it inserts of several matches, too. Bash also has no : or = twice, whatever
// the order that an address has them in. Where a later cobra has other scripts this fails: nothing is left unmended.
func safeCompletion(root *cobra.Command) {
	const words = "set -l args (commandline -opc)\n"
	mendScript(root, "fish", root.GenFishCompletion,
		words, words+"    set args (string escape -- (string replace -r -- '^~(?=/)' \"$HOME\" $args))\n")
	mendScript(root, "bash", root.GenBashCompletionV2,
		`        if (( ${#COMPREPLY[@]} == 1 )); then
            COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]}")
        fi
`, `        if (( ${#COMPREPLY[@]} )); then
            IFS=$'\n' read -ra COMPREPLY -d '' < <(printf "%q\n" "${COMPREPLY[@]}")
        fi
`, `    __feedex_handle_special_char "$cur" :
    __feedex_handle_special_char "$cur" =
`, `    local chars=${COMP_WORDBREAKS//[!:=]/} breaks
    breaks=${cur//[!$chars]/}
    while [[ -n $chars && -n $breaks ]]; do
        COMPREPLY=("${COMPREPLY[@]#*[$chars]}")
        breaks=${breaks:1}
    done
`)
}

// mendScript has the completion of a shell print the script that generate makes, with texts in it replaced: oldnew are
// pairs of what it has and what is there instead.
func mendScript(root *cobra.Command, shell string, generate func(io.Writer, bool) error, oldnew ...string) {
	c, _, _ := root.Find([]string{"completion", shell})
	c.RunE = func(c *cobra.Command, _ []string) error {
		var script strings.Builder
		plain, _ := c.Flags().GetBool("no-descriptions")
		if err := generate(&script, !plain); err != nil {
			return err
		}
		for i := 0; i < len(oldnew); i += 2 {
			if !strings.Contains(script.String(), oldnew[i]) {
				return fmt.Errorf("the script for %s is not as it was: it lacks %q", shell, oldnew[i])
			}
		}
		_, err := strings.NewReplacer(oldnew...).WriteString(c.OutOrStdout(), script.String())
		return err
	}
}

// helpOfCommands has the command help refuse what is no command.
func helpOfCommands(root *cobra.Command) {
	help, _, _ := root.Find([]string{"help"})
	help.Args = func(_ *cobra.Command, args []string) error {
		c, rest, err := root.Find(args)
		if err == nil && c.HasSubCommands() && len(rest) > 0 {
			err = usageOf(c, noSuchCommand(c, rest))
		}
		return err
	}
}

// helpColumns is how wide the help about flags is at most.
const helpColumns = 120

// completeNoFiles keeps a shell from offering files, in c and below, where none is wanted: flags and
// arguments that say nothing of their own take none, but --config and --data.
func completeNoFiles(c *cobra.Command) {
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Name {
		case "config":
		case "data":
			_ = c.MarkFlagDirname(f.Name)
		default:
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // fails where there is one
		}
	})
	for _, sub := range c.Commands() {
		completeNoFiles(sub)
	}
}

// markUsageErrors makes every error about flags and arguments, in c and below, a UsageError.
func markUsageErrors(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if bad := new(pflag.InvalidValueError); errors.As(err, &bad) {
			err = fmt.Errorf("--%s: %w", bad.GetFlag().Name, bad.Unwrap())
			if number := new(strconv.NumError); errors.As(bad, &number) {
				what := "number that it takes"
				if bad.GetFlag().Value.Type() == "bool" {
					what = "choice: want true or false"
				}
				err = fmt.Errorf("--%s: %q is no %s: %w", bad.GetFlag().Name, number.Num, what, number.Err)
			}
		}
		short := new(pflag.NotExistError)
		if errors.As(err, &short) && short.GetSpecifiedShortnames() != "" && strings.Contains(c.Use, "WORD...") {
			err = fmt.Errorf("%w; for words that begin with a minus put -- in front of all words", err)
		}
		return usageOf(c, err)
	})
	check := c.Args
	switch {
	case !c.Runnable():
		check = noSuchCommand
		c.RunE = func(c *cobra.Command, args []string) error { return c.Help() }
	case check == nil:
		check = cobra.ArbitraryArgs
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if err := cmp.Or(check(c, args), c.ValidateFlagGroups()); err != nil {
			return usageOf(c, err)
		}
		return nil
	}
	for _, sub := range c.Commands() {
		markUsageErrors(sub)
	}
}

// noArgs refuses arguments.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, it was given %q", c.CommandPath(), args[0])
	}
	return nil
}

// oneArg wants one argument, and names it otherwise.
func oneArg(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("name one %s", what)
		}
		return nil
	}
}

// noSuchCommand refuses arguments of a command that has only subcommands.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("%s has no command %q, did you mean %q?", c.CommandPath(), args[0], near[0])
	}
	return fmt.Errorf("%s has no command %q", c.CommandPath(), args[0])
}

// usageOf makes err a usage error that points to the command's help.
func usageOf(c *cobra.Command, err error) error {
	return settings.UsageError{Err: err, Hint: fmt.Sprintf("see '%s --help'", c.CommandPath())}
}

// advised adds to an error of control.Dial what to do about it.
func advised(err error, data string) error {
	switch {
	case errors.Is(err, control.ErrNotRunning):
		return hintedError{err, "start one with: feedex node --data " + shell.Quote(data)}
	case errors.Is(err, fs.ErrPermission):
		return hintedError{err, "the node belongs to another user: ask as that user, or with sudo"}
	}
	return err
}

// jsonFlag registers the flag of every listing.
func jsonFlag(f *pflag.FlagSet, v *bool) { f.BoolVar(v, "json", false, "print JSON") }

// clientSettings is the end of the help of the commands that ask a running node.
const clientSettings = `The node is found by its data directory: what --data says, or else FEEDEX_DATA in the environment, or else data
in the config file, which is what --config or FEEDEX_CONFIG names.`

// withClient makes do what the command does, with a client of the node that runs on its data directory.
func withClient(c *cobra.Command, do func(c *cobra.Command, args []string, client *control.Client) error) {
	onArchive(c, func(c *cobra.Command, data string, args []string) error {
		client, err := control.Dial(data)
		if err != nil {
			return advised(err, data)
		}
		defer client.Close()
		return do(c, args, client)
	})
}

// dataDirectory is the data directory that flags, environment, config file and default name.
func dataDirectory(given *pflag.FlagSet) (string, error) {
	s, err := settings.Load(given, settings.Client)
	if err != nil {
		return "", err
	}
	return s.Data()
}
