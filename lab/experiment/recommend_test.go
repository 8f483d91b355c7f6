package experiment

import (
	"errors"
	"reflect"
	"testing"

	"feedex/lab/trace"
)

func TestRecommendingReport(t *testing.T) {
	e := Recommending{Seed: 1, Traces: embedded(t), Lists: trace.SyntheticLists(1, 40), Seeds: 2, Volunteer: 20}
	r := ran(t, e.Run)
	if again, err := e.Run(t.Context(), nil); err != nil || !reflect.DeepEqual(r, again) {
		t.Errorf("equal settings give %+v and %+v, %v", r, again, err)
	}
	rows := r.Result.([]RecommendingRow)
	for _, row := range rows[:len(rows)-1] {
		best := rows[len(rows)-1].Precision.Mean
		if row.Ranking != "popularity, all lists" && row.Precision.Mean > best {
			t.Errorf("%s: %.3f is more than the %.3f that adverts hold", row.Ranking, row.Precision.Mean, best)
		}
	}
}

func TestRecommendingSettings(t *testing.T) {
	set := embedded(t)
	for _, e := range []Recommending{
		{Traces: set, Seeds: -1},
		{Traces: set, Seeds: 1001},
		{Traces: set, Volunteer: 1001},
		{Traces: set, Lists: trace.Lists{{0}}},
	} {
		if _, err := e.Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
			t.Errorf("%+v: error %v", e, err)
		}
	}
}
