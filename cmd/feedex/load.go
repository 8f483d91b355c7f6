package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// load is the settings as flags, environment, config file and defaults give them, each before the
// next. given are the flags of the command line, parsed; bind is what registered them.
func load(given *pflag.FlagSet, bind binding, defaults settings) (settings, error) {
	s := defaults
	if given.Lookup("config") != nil {
		path, _ := toHome(fromFlagOrEnv(given.Lookup("config")))
		if path == "" {
			path = defaultConfig()
		}
		if path != "" {
			if err := readConfig(path, &s); err != nil {
				return s, err
			}
			s.Config = path
		}
	}
	if err := overlay(given, bind, &s); err != nil {
		return s, err
	}
	return s, nil
}

// overlay sets in s what the environment and, before it, the flags say.
func overlay(given *pflag.FlagSet, bind binding, s *settings) error {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	bind(own, s)
	var firstErr error
	own.VisitAll(func(f *pflag.Flag) {
		if flag := given.Lookup(f.Name); flag.Changed {
			for _, v := range valuesOf(flag) {
				_ = f.Value.Set(v) // it was set once already, when the command line was parsed
			}
		} else if v, ok := os.LookupEnv(envName(f.Name)); ok && v != "" && firstErr == nil {
			firstErr = setFromEnv(f, v)
		}
	})
	return firstErr
}

// valuesOf are the texts that were given for a flag.
func valuesOf(f *pflag.Flag) []string {
	if l, ok := f.Value.(pflag.SliceValue); ok {
		return l.GetSlice()
	}
	return []string{f.Value.String()}
}

// setFromEnv sets a flag from the text of its environment variable. Lists are separated by blanks or
// commas.
func setFromEnv(f *pflag.Flag, text string) error {
	values := []string{text}
	if _, ok := f.Value.(pflag.SliceValue); ok {
		values = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
	}
	for _, v := range values {
		if err := f.Value.Set(v); err != nil {
			if f.Value.Type() == "bool" {
				err = fmt.Errorf("%q is neither true nor false", v)
			}
			return usageError{fmt.Errorf("environment variable %s: %w", envName(f.Name), err)}
		}
	}
	return nil
}

func fromFlagOrEnv(f *pflag.Flag) string {
	if f.Changed {
		return f.Value.String()
	}
	return os.Getenv(envName(f.Name))
}

// envName is the environment variable of a flag.
func envName(flag string) string {
	return "FEEDEX_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// keyName is the key of a flag in the config file.
func keyName(flag string) string {
	switch flag {
	case "config":
		return "-"
	case "poll":
		return "polling.interval, with polling.policy = \"fixed\""
	}
	return strings.ReplaceAll(flag, "-", "_")
}

// clientSettings is the end of the help of the commands that ask a running node.
const clientSettings = `The node is found by its data directory: what --data says, or else FEEDEX_DATA in the environment, or else data
in the config file, which is what --config or FEEDEX_CONFIG names.`

// precedence is the end of a command's help: where its settings come from.
func precedence(bind binding, file bool) string {
	var b strings.Builder
	if file {
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
	row := func(flag, env, key string) {
		if !file {
			key = ""
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("    %-16s %-22s %s", flag, env, key), " ") + "\n")
	}
	row("flag", "environment", "config file")
	var s settings
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	bind(f, &s)
	f.VisitAll(func(f *pflag.Flag) { row("--"+f.Name, envName(f.Name), keyName(f.Name)) })
	return strings.TrimRight(b.String(), "\n")
}
