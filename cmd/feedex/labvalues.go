package main

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// maxVirtual is the longest run that makes sense to ask for, in hours: a year.
const maxVirtual = 24 * 365

var errHours = errors.New(`want a number of hours such as "22" or ".5"`)

// parseHours reads a number of hours.
func parseHours(text string) (time.Duration, error) {
	hours, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(hours > 0 && hours <= maxVirtual) {
		return 0, errHours
	}
	return virtual(hours), nil
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
