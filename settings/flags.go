package settings

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// Flag is a flag of this kind.
func (k *Kind) Flag(to *string) pflag.Value {
	read := func(s string) (string, error) {
		if k == Directory && s == "" { // of a variable in a script that is not set
			return "", errors.New("it names no directory: leave it out for the usual one")
		}
		return s, k.check(s)
	}
	return FlagValue[string]{to, k.name, read, Text}
}

// ListFlag is a flag of this kind that may be repeated. The first value replaces what the list held.
func (k *Kind) ListFlag(to *[]string) pflag.Value { return &listFlag{kind: k, items: to} }

// Optional is a flag of a kind, for what value makes of its text; nil where it is not given.
func Optional[T any](k *Kind, to **T, value func(text string) T) pflag.Value {
	read := func(s string) (*T, error) { return new(value(s)), k.check(s) }
	return FlagValue[*T]{To: to, Kind: k.name, Read: read}
}

// A FlagValue is a flag whose text is read as a value.
type FlagValue[T any] struct {
	To   *T                      // where it goes; the default is there before
	Kind string                  // one word for help texts
	Read func(string) (T, error) // says what is wanted in its place where it cannot
	Show func(T) string          // nil where there is no default to show
}

// Set implements pflag.Value.
func (f FlagValue[T]) Set(s string) error {
	v, err := f.Read(s)
	if err == nil {
		*f.To = v
	}
	return err
}

// String implements pflag.Value.
func (f FlagValue[T]) String() string {
	if f.Show == nil {
		return ""
	}
	return f.Show(*f.To)
}

// Type implements pflag.Value.
func (f FlagValue[T]) Type() string { return f.Kind }

// Text shows a text as it is.
func Text(s string) string { return s }

// A listFlag is a flag that may be repeated.
type listFlag struct {
	kind  *Kind
	items *[]string
	begun bool
}

var _ pflag.SliceValue = (*listFlag)(nil)

// Set implements pflag.Value.
func (f *listFlag) Set(s string) error {
	if err := f.kind.check(s); err != nil {
		return err
	}
	if !f.begun {
		*f.items, f.begun = nil, true
	}
	*f.items = append(*f.items, s)
	return nil
}

// String implements pflag.Value.
func (f *listFlag) String() string { return strings.Join(*f.items, ",") }

// Type implements pflag.Value.
func (f *listFlag) Type() string { return f.kind.name }

// GetSlice implements pflag.SliceValue, with Append and Replace.
func (f *listFlag) GetSlice() []string { return *f.items }

// Append adds to what is set.
func (f *listFlag) Append(s string) error { f.begun = true; return f.Set(s) }

// Replace sets all anew.
func (f *listFlag) Replace(all []string) error {
	f.begun = false
	for _, s := range all {
		if err := f.Set(s); err != nil {
			return err
		}
	}
	return nil
}

// Bind registers the flags of a role.
func Bind(f *pflag.FlagSet, role Role) { Default(role).bind(f) }

// bind registers flags for the settings. The default of each is what its setting holds.
func (s *Settings) bind(f *pflag.FlagSet) {
	for _, row := range table() {
		if row.flag == "" || s.role != Node && row.also&s.role == 0 {
			continue
		}
		name, help := strings.ReplaceAll(row.key, "_", "-"), row.flag
		switch {
		case row.kind == Directory:
			usual := "none, as this user has no home directory"
			if dir, ok := defaultData(s.role); ok {
				usual = fromHome(dir)
			}
			help += fmt.Sprintf(" (default: %s)", usual)
		case row.key == "config":
			usual := "none"
			if path := usualConfig(); path != "" {
				usual = fromHome(path) + ", if there is one"
			}
			help += fmt.Sprintf(" (default: %s)", usual)
		}
		switch to := s.field(row.key).Addr().Interface().(type) {
		case *bool:
			f.BoolVar(to, name, *to, help)
		case *[]string:
			f.Var(row.kind.ListFlag(to), name, help)
		case *string:
			kind := row.kind
			if s.role == Tracker && kind == Listener {
				kind = trackerListener
			}
			f.Var(kind.Flag(to), name, help)
		}
	}
}

// Load is the settings as flags, environment, config file and defaults give them, each before the next. given are the
// flags of the command line, parsed, which Bind has registered. An error is a UsageError where the user is to mend it.
func Load(given *pflag.FlagSet, role Role) (*Settings, error) {
	s := Default(role)
	if flag := given.Lookup("config"); flag != nil {
		path := os.Getenv(envName(flag.Name))
		if flag.Changed {
			path = flag.Value.String()
		}
		if path, _ = toHome(path); path == "" {
			path = defaultConfig()
		}
		if path != "" {
			if err := s.read(path); err != nil {
				return s, err
			}
			s.field("config").SetString(path)
		}
	}
	return s, s.overlay(given)
}

// overlay sets what the environment and, before it, the flags say.
func (s *Settings) overlay(given *pflag.FlagSet) (firstErr error) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.bind(own)
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
			return UsageError{Err: fmt.Errorf("environment variable %s: %w", envName(f.Name), err)}
		}
	}
	return nil
}

// envName is the environment variable of a flag.
func envName(flag string) string {
	return "FEEDEX_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
