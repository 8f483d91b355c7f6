package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

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
