package experiment

import (
	"errors"
	"testing"
	"time"
)

// Every node asks the publisher of a feed for itself, as rarely as its policy says; a flash crowd that comes with lists
// asks less at first.
func TestPublishers(t *testing.T) {
	s := Publishers{Seed: 1, Traces: embedded(t), Feeds: 2, Length: 2 * day, Sizes: []int{1, 5}, Times: 12}
	r, err := s.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	isGolden(t, "publisher.golden", r)
	result := r.Result.(PublisherResult)
	for _, row := range result.Steady {
		each := row.Requests / float64(row.Nodes)
		if each > 25 || row.Policy == "Fix 1h" && each < 23 || row.Most > row.Nodes {
			t.Errorf("%+v", row)
		}
	}
	for _, row := range result.Flash {
		if row.Nodes != s.Times || row.Before <= 0 || row.During < row.Before || row.After < row.During {
			t.Errorf("%+v", row)
		}
	}
	if waived, made := result.Flash[0], result.Flash[1]; !waived.Waived || made.Waived || waived.During >= made.During {
		t.Errorf("first polls waived %+v, made %+v", waived, made)
	}
}

func TestPublishersSettings(t *testing.T) {
	set := embedded(t)
	for _, bad := range []Publishers{{Traces: set, Length: time.Hour}, {Traces: set, Feeds: -1},
		{Traces: set, Sizes: []int{0}}} {
		if _, err := bad.Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
			t.Errorf("%+v: %v, want an ErrSetting", bad, err)
		}
	}
}
