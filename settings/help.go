package settings

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// Sample is a config file with every setting, what it means and its default.
func Sample() string {
	var b strings.Builder
	comment := func(text string) {
		for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
			b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
		}
	}
	comment(`
Configuration of a feedex node, in TOML. Every setting is shown with its default, so that this file
changes nothing as it is: keep the lines that you change. A flag of the same name goes before the
environment (FEEDEX_LISTEN for listen), the environment before this file.

Spans of time are written "90s", "30m", "4h", "2d" or "1w".`)
	for _, row := range table() {
		if row.noKey != "" {
			continue
		}
		if row.meaning != "" {
			b.WriteString("\n")
			comment(row.meaning)
		}
		name, format := row.key[strings.LastIndex(row.key, ".")+1:], "%s = %v"
		switch row.usual.(type) {
		case nil:
			fmt.Fprintf(&b, "[%s]\n", row.key)
			continue
		case string:
			format = "%s = %q"
		}
		line := fmt.Sprintf(format, name, row.usual)
		if row.unset {
			line = "#" + name + " = " + row.example
		} else if row.example != "" {
			line += " # " + row.example
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Precedence is the end of the help of a node or a tracker: where its settings come from.
func Precedence(role Role) string {
	var b strings.Builder
	if role == Node {
		b.WriteString(`A flag goes before the environment, the environment before the config file, the config file before the
default. In the environment a list is separated by blanks or commas. Without --config the file
feedex/feedex.toml in the user's config directory is read, if there is one; 'feedex config' prints a
config file with all settings, their meaning and their defaults.

`)
	} else {
		b.WriteString(`A flag goes before the environment, the environment before the default. In the environment a list is
separated by blanks or commas.

`)
	}
	line := func(flag, env, key string) {
		if role == Tracker {
			key = ""
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("    %-16s %-22s %s", flag, env, key), " ") + "\n")
	}
	line("flag", "environment", "config file")
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	Bind(f, role)
	f.VisitAll(func(f *pflag.Flag) {
		key := strings.ReplaceAll(f.Name, "-", "_")
		if row := find(key); row.noKey != "" {
			key = row.noKey
		}
		line("--"+f.Name, envName(f.Name), key)
	})
	return strings.TrimRight(b.String(), "\n")
}
