package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"feedex/archive"
	"feedex/internal/when"
	"feedex/polling"
	"feedex/settings"
)

// numberFlag is a flag that takes a whole number of a range. A default that is none of these is shown as usual.
func numberFlag(to *int, least, most int, usual string) pflag.Value {
	fits := func(n int) bool { return least <= n && n <= most }
	read := func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || !fits(n) {
			return 0, fmt.Errorf("%q: want a number from %d to %d", s, least, most)
		}
		return n, nil
	}
	return settings.FlagValue[int]{To: to, Kind: "n", Read: read, Show: func(n int) string {
		if !fits(n) {
			return usual
		}
		return strconv.Itoa(n)
	}}
}

// nodesOwn is the name of the node's policy in a flag.
const nodesOwn = "default"

// policyFlag is a flag that takes the policy of a feed, as the node reads it: "" for the node's own; nil where it is
// not given.
func policyFlag(to **string) pflag.Value {
	read := func(s string) (*string, error) {
		p, err := readPolicy(s)
		return &p, err
	}
	return settings.FlagValue[*string]{To: to, Kind: "policy", Read: read}
}

func readPolicy(s string) (string, error) {
	if s == nodesOwn {
		return "", nil
	}
	// The node takes hours and minutes, people also say days.
	name, value, given := strings.Cut(s, ":")
	if d, err := when.Span(s); err == nil {
		s = "fixed:" + when.Clock(d)
	} else if d, err := when.Span(value); given && err == nil && name != "feedex" {
		s = name + ":" + when.Clock(d)
	}
	_, err := (polling.Settings{}).Policy(s)
	return s, err
}

// choiceFlag adds a flag for what holds, or with "=false" does not; nil where the flag is not given.
func choiceFlag(f *pflag.FlagSet, to **bool, name, usage string) {
	read := func(s string) (*bool, error) {
		holds, err := strconv.ParseBool(s)
		return &holds, err
	}
	v := settings.FlagValue[*bool]{To: to, Kind: "bool", Read: read, Show: func(*bool) string { return "false" }}
	f.VarPF(v, name, "", usage).NoOptDefVal = "true"
}

// sharingFlag is a flag that takes what is shared of feeds; nil where it is not given.
func sharingFlag(to **archive.Sharing) pflag.Value {
	read := func(s string) (*archive.Sharing, error) {
		shared, err := archive.ParseSharing(s)
		return &shared, err
	}
	return settings.FlagValue[*archive.Sharing]{To: to, Kind: "what", Read: read}
}

// keepAll is how people say that there is no limit.
const keepAll = "all"

// keepCountFlag is a flag that takes a number of entries, 0 for all; nil where it is not given.
func keepCountFlag(to **int64) pflag.Value {
	read := func(s string) (*int64, error) {
		if s == keepAll {
			return new(int64), nil
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q: want a number from 1 on, or %q", s, keepAll)
		}
		return &n, nil
	}
	return settings.FlagValue[*int64]{To: to, Kind: "n", Read: read}
}

// backlogFlag is the flag for how much of what there is of new feeds is unread.
func backlogFlag(c *cobra.Command) *archive.Backlog {
	b := new(archive.Backlog)
	c.Flags().Var(settings.FlagValue[archive.Backlog]{To: b, Kind: "n", Read: archive.ParseBacklog}, "unread",
		"how many entries that are there already are unread, the latest, or all (default 20)")
	return b
}

// countFlag is a flag that takes a whole number, the least or more, and countsFlag one that takes several: 161,1000.
func countFlag(to *int, least int) pflag.Value {
	read := func(s string) (int, error) {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < least {
			return 0, fmt.Errorf("want a whole number, %d or more, not %q", least, s)
		}
		return n, nil
	}
	return settings.FlagValue[int]{To: to, Kind: "int", Read: read, Show: strconv.Itoa}
}

func countsFlag(to *[]int, least int) pflag.Value {
	one := func(to *int) pflag.Value { return countFlag(to, least) }
	return severalFlag(to, "ints", one, func(s string) error {
		return fmt.Errorf("want whole numbers with commas between, %d or more each, not %q", least, s)
	})
}

// hoursFlag is a flag that takes a number of hours, and intervalsFlag one that takes several: .5,1,2.
func hoursFlag(to *time.Duration) pflag.Value {
	show := func(d time.Duration) string { return strconv.FormatFloat(d.Hours(), 'g', -1, 64) }
	return settings.FlagValue[time.Duration]{To: to, Kind: "hours", Read: readHours, Show: show}
}

func intervalsFlag(to *[]time.Duration) pflag.Value {
	return severalFlag(to, "hours", hoursFlag, func(string) error {
		return errors.New(`want numbers of hours such as ".5,1,2"`)
	})
}

// severalFlag is a flag that takes values with commas between, each as the flag one does. wrong is the error about a
// text in which one is not right.
func severalFlag[T any](to *[]T, kind string, one func(*T) pflag.Value, wrong func(s string) error) pflag.Value {
	read := func(s string) (list []T, err error) {
		for part := range strings.SplitSeq(s, ",") {
			var v T
			if one(&v).Set(part) != nil {
				return nil, wrong(s)
			}
			list = append(list, v)
		}
		return list, nil
	}
	show := func(list []T) string {
		texts := make([]string, len(list))
		for i := range list {
			texts[i] = one(&list[i]).String()
		}
		return strings.Join(texts, ",")
	}
	return settings.FlagValue[[]T]{To: to, Kind: kind, Read: read, Show: show}
}

// maxVirtual is the longest run that makes sense to ask for, in hours: a year.
const maxVirtual = 24 * 365

var errHours = fmt.Errorf(`want a number of hours such as "22" or ".5", a second at least and %d at most`, maxVirtual)

func readHours(text string) (time.Duration, error) {
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

// folderFlag is a flag that takes a folder, "" where it is not given.
func folderFlag(to *string) pflag.Value {
	read := func(s string) (string, error) {
		if s == "" {
			return "", errors.New("want a folder")
		}
		return s, nil
	}
	return settings.FlagValue[string]{To: to, Kind: "folder", Read: read, Show: settings.Text}
}
