package polling_test

import (
	"errors"
	"testing"
	"time"

	"feedex/polling"
)

func TestPolicyByName(t *testing.T) {
	const m, h = time.Minute, time.Hour
	bounds := polling.Range{Min: 20 * m, Max: 9 * h}
	set := polling.Settings{Range: bounds, Every: 3 * h, TargetFreshness: 0.3, Start: 30 * m, TargetDelay: 2 * h}
	adaptive := polling.FeedEx{TargetFreshness: 0.3, Min: 20 * m, Max: 9 * h, Start: 30 * m}
	sooner := adaptive
	sooner.TargetFreshness = 0.1
	for text, want := range map[string]polling.Policy{
		"auto":           polling.Auto{Range: bounds, TargetDelay: 2 * h},
		"auto:15m":       polling.Auto{Range: bounds, TargetDelay: 15 * m},
		"feedex":         adaptive,
		"feedex:0.1":     sooner,
		"fixed":          polling.Fixed{Every: 3 * h},
		"fixed:90s":      polling.Fixed{Every: 90 * time.Second},
		"90s":            polling.Fixed{Every: 90 * time.Second},
		"fix-learned":    polling.FixLearned{Range: bounds},
		"moving-average": polling.MovingAverage{Range: bounds},
		"post-rate":      polling.PostRate{Range: bounds},
	} {
		if got, err := set.Policy(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "Auto", "hourly", "auto:", "auto:soon", "auto:0s", "feedex:0", "feedex:x",
		"fixed:", "post-rate:1h", "0s"} {
		if got, err := set.Policy(text); !errors.Is(err, polling.ErrPolicy) {
			t.Errorf("%q: %+v, %v, want an ErrPolicy", text, got, err)
		}
	}
	for _, text := range []string{"auto:31d", "auto:721h", "auto:-1h", "feedex:1.5", "feedex:NaN", "fixed:1ms", "-1h"} {
		if got, err := set.Policy(text); !errors.Is(err, polling.ErrSetting) && !errors.Is(err, polling.ErrPolicy) {
			t.Errorf("%q: %+v, %v, want an error", text, got, err)
		}
	}
	for _, name := range polling.Names() {
		if _, err := (polling.Settings{}).Policy(name); err != nil {
			t.Errorf("%q with defaults: %v", name, err)
		}
	}
}
