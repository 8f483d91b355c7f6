package polling_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/polling"
)

var (
	_ polling.Policy = polling.Fixed{}
	_ polling.Policy = polling.FeedEx{}
	_ polling.Policy = polling.FixLearned{}
	_ polling.Policy = polling.PostRate{}
	_ polling.Policy = polling.MovingAverage{}
	_ polling.Policy = polling.Auto{}
)

func TestFixed(t *testing.T) {
	for p, want := range map[polling.Fixed]time.Duration{
		{}:                    polling.DefaultStart,
		{Every: time.Minute}:  time.Minute,
		{Every: -time.Minute}: polling.DefaultStart,
	} {
		if p.First() != want || p.Interval(polling.Poll{Interval: time.Hour, Listed: 10, New: 10}) != want {
			t.Errorf("%+v begins with %v, want %v", p, p.First(), want)
		}
		if p.Longest() != want {
			t.Errorf("%+v waits at most %v, want %v", p, p.Longest(), want)
		}
	}
}

func TestFeedEx(t *testing.T) {
	const h = time.Hour
	set := polling.FeedEx{TargetFreshness: 0.5, Min: h, Max: 8 * h, Start: 4 * h}
	for name, tc := range map[string]struct {
		policy polling.FeedEx
		poll   polling.Poll
		want   time.Duration
	}{
		"above the target":          {set, polling.Poll{Interval: 4 * h, Listed: 10, New: 6}, 2 * h},
		"below the target":          {set, polling.Poll{Interval: 4 * h, Listed: 10, New: 4}, 8 * h},
		"at the target":             {set, polling.Poll{Interval: 4 * h, Listed: 10, New: 5}, 4 * h},
		"at the target, near bound": {set, polling.Poll{Interval: 5 * h, Listed: 10, New: 5}, 5 * h},
		"nothing changed":           {set, polling.Poll{Interval: 2 * h}, 4 * h},
		"an empty document":         {set, polling.Poll{Interval: 2 * h, Listed: 0, New: 0}, 4 * h},
		"at the lower bound":        {set, polling.Poll{Interval: h, Listed: 1, New: 1}, h},
		"near the lower bound":      {set, polling.Poll{Interval: 3 * h / 2, Listed: 1, New: 1}, h},
		"at the upper bound":        {set, polling.Poll{Interval: 8 * h, Listed: 1}, 8 * h},
		"near the upper bound":      {set, polling.Poll{Interval: 5 * h, Listed: 1}, 8 * h},
		"outside, settings changed": {set, polling.Poll{Interval: 100 * h, Listed: 2, New: 1}, 8 * h},
		"the first poll":            {set, polling.Poll{Listed: 10, New: 10}, 4 * h},
		"defaults, a fifth":         {polling.FeedEx{}, polling.Poll{Interval: 4 * h, Listed: 10, New: 2}, 4 * h},
		"defaults, more":            {polling.FeedEx{}, polling.Poll{Interval: 4 * h, Listed: 10, New: 3}, 2 * h},
		"defaults, less":            {polling.FeedEx{}, polling.Poll{Interval: 4 * h, Listed: 10, New: 1}, 8 * h},
		"defaults, lower bound":     {polling.FeedEx{}, polling.Poll{Interval: h / 2, Listed: 1, New: 1}, h / 2},
		"defaults, upper bound":     {polling.FeedEx{}, polling.Poll{Interval: 10 * h, Listed: 1}, 16 * h},
		"never above everything new": {polling.FeedEx{TargetFreshness: 1},
			polling.Poll{Interval: 4 * h, Listed: 5, New: 5}, 4 * h},
	} {
		if got := tc.policy.Interval(tc.poll); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	for p, want := range map[polling.FeedEx]time.Duration{
		{}:                          polling.DefaultStart,
		{Start: h}:                  h,
		{Min: 4 * h}:                4 * h,
		{Max: h}:                    h,
		{Max: time.Minute}:          time.Minute,
		{Min: 40 * h}:               40 * h,
		{Start: 99 * h, Max: 3 * h}: 3 * h,
	} {
		if got := p.First(); got != want {
			t.Errorf("%+v begins with %v, want %v", p, got, want)
		}
	}
}

func TestValidate(t *testing.T) {
	const h = time.Hour
	type validator interface{ Validate() error }
	for _, p := range []validator{
		polling.Fixed{}, polling.Fixed{Every: time.Second}, polling.Fixed{Every: 720 * h},
		polling.FeedEx{}, polling.FeedEx{TargetFreshness: 1}, polling.FeedEx{Min: h, Max: h, Start: h},
		polling.FeedEx{Max: time.Minute}, polling.FeedEx{Min: 100 * h},
	} {
		if err := p.Validate(); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for _, p := range []validator{
		polling.Fixed{Every: -h}, polling.Fixed{Every: time.Millisecond}, polling.Fixed{Every: 721 * h},
		polling.FeedEx{TargetFreshness: -0.1}, polling.FeedEx{TargetFreshness: 1.1},
		polling.FeedEx{TargetFreshness: math.NaN()},
		polling.FeedEx{Min: -h}, polling.FeedEx{Min: 721 * h}, polling.FeedEx{Max: time.Millisecond},
		polling.FeedEx{Start: -1},
		polling.FeedEx{Min: 2 * h, Max: h}, polling.FeedEx{Start: time.Minute}, polling.FeedEx{Start: 17 * h},
	} {
		if err := p.Validate(); !errors.Is(err, polling.ErrSetting) {
			t.Errorf("%+v: %v, want an ErrSetting", p, err)
		}
	}
}

// Whatever the settings and the poll, the interval is within the range, and more new entries never
// make it longer.
func TestFeedExInvariants(t *testing.T) {
	span := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64(), rapid.Int64Range(1, int64(48*time.Hour)))
	rapid.Check(t, func(t *rapid.T) {
		p := polling.FeedEx{
			TargetFreshness: rapid.Float64Range(-1, 2).Draw(t, "target"),
			Min:             time.Duration(span.Draw(t, "min")),
			Max:             time.Duration(span.Draw(t, "max")),
			Start:           time.Duration(span.Draw(t, "start")),
		}
		poll := polling.Poll{Interval: time.Duration(span.Draw(t, "interval")),
			Listed: rapid.IntRange(0, 30).Draw(t, "listed")}
		last := time.Duration(math.MaxInt64)
		for poll.New = range poll.Listed + 1 {
			got := p.Interval(poll)
			if got <= 0 || p.First() <= 0 || got > p.Longest() || p.First() > p.Longest() {
				t.Fatalf("%+v after %+v: %v", p, poll, got)
			}
			if p.Validate() == nil && p.Min > 0 && p.Max > 0 && (got < p.Min || got > p.Max) {
				t.Fatalf("%+v after %+v: %v", p, poll, got)
			}
			if got > last {
				t.Fatalf("%+v after %+v: %v, with fewer new entries %v", p, poll, got, last)
			}
			last = got
		}
	})
}
