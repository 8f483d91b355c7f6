package polling

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrPolicy is wrapped by the errors of Settings.Policy.
var ErrPolicy = errors.New("no polling policy")

// Settings are the owner's choices for each policy, wherever it is used. Zero fields are defaults.
type Settings struct {
	Range                         // of every policy but Fixed
	Every           time.Duration // see Fixed
	TargetFreshness float64       // see FeedEx
	Start           time.Duration // see FeedEx
	TargetDelay     time.Duration // see Auto
}

// Names are the policies by their names, the default first.
func Names() []string {
	return []string{"auto", "feedex", "fixed", "fix-learned", "moving-average", "post-rate"}
}

// Policy is the policy that text names, by these settings. A value behind a colon goes before the setting that matters
// most to it: "auto:15m" has that TargetDelay, "feedex:0.1" that TargetFreshness, and "fixed:1h" that interval, which
// "1h" alone has too. The error wraps ErrPolicy, or ErrSetting where that is out of range.
func (s Settings) Policy(text string) (Policy, error) {
	name, value, given := strings.Cut(text, ":")
	if d, err := time.ParseDuration(text); err == nil {
		name, value, given = "fixed", d.String(), true
	}
	var err error
	switch {
	case !given:
	case name == "auto":
		s.TargetDelay, err = parseInterval(value)
	case name == "fixed":
		s.Every, err = parseInterval(value)
	case name == "feedex":
		if s.TargetFreshness, err = strconv.ParseFloat(value, 64); err != nil || s.TargetFreshness == 0 {
			err = fmt.Errorf("%w: %q is no share above 0", ErrPolicy, value)
		}
	default:
		err = fmt.Errorf("%w: %q takes no value", ErrPolicy, name)
	}
	if err != nil {
		return nil, err
	}
	p, err := s.named(name)
	if err != nil {
		return nil, err
	}
	return p, p.Validate()
}

// validated is a Policy that knows the ranges of its settings.
type validated interface {
	Policy
	Validate() error
}

// named is the policy of that name.
func (s Settings) named(name string) (validated, error) {
	switch name {
	case "auto":
		return Auto{Range: s.Range, TargetDelay: s.TargetDelay}, nil
	case "feedex":
		return FeedEx{TargetFreshness: s.TargetFreshness, Min: s.Min, Max: s.Max, Start: s.Start}, nil
	case "fixed":
		return Fixed{Every: s.Every}, nil
	case "fix-learned":
		return FixLearned{s.Range}, nil
	case "moving-average":
		return MovingAverage{s.Range}, nil
	case "post-rate":
		return PostRate{s.Range}, nil
	}
	return nil, fmt.Errorf("%w: %q, want one of %s", ErrPolicy, name, strings.Join(Names(), ", "))
}

// parseInterval reads an interval, which may not be 0: that would be the default.
func parseInterval(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d == 0 {
		return 0, fmt.Errorf("%w: %q is no time above 0, such as 15m or 2h", ErrPolicy, text)
	}
	return d, nil
}
