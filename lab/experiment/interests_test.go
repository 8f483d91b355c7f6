package experiment

import (
	"errors"
	"testing"
	"time"

	"feedex/lab/trace"
)

func TestInterestsReport(t *testing.T) {
	e := Interests{Seed: 1, Traces: embedded(t), Nodes: 16, Length: 6 * time.Hour, Every: time.Hour}
	r := ran(t, e.Run)
	isGolden(t, "interests.golden", r)
	rows := r.Result.(InterestResult).Rows
	if lone := rows[0]; lone.Lag != lone.Alone || lone.Feeds == 0 || lone.Coverage == 0 {
		t.Errorf("feeds that one node follows: %+v; want that all entries come by its own polls", lone)
	}
	if few := rows[1]; few.Lag >= few.Alone || few.Feeds == 0 {
		t.Errorf("feeds that a few follow: %+v; want that neighbors bring entries before own polls", few)
	}
}

func TestInterestsSettings(t *testing.T) {
	set := embedded(t)
	for _, e := range []Interests{
		{Traces: set, Nodes: 1},
		{Traces: set, Nodes: 3, Lists: trace.Lists{{0}, {0}}},
		{Traces: set, Length: 8 * time.Hour},
		{Traces: set, Volunteer: 1001},
		{Traces: &trace.Set{From: set.From, To: set.To}},
	} {
		if _, err := e.Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
			t.Errorf("%d nodes, %v: error %v", e.Nodes, e.Length, err)
		}
	}
}

// Volunteers poll what their neighbors alone follow.
func TestVolunteersGiveLoneFollowersCompany(t *testing.T) {
	t.Parallel()
	e := Interests{Seed: 1, Traces: embedded(t), Nodes: 12, Length: 48 * time.Hour, Volunteer: 200, NoEncoding: true}
	r := ran(t, e.Run)
	got := r.Result.(InterestResult)
	if got.Polled.Mean < got.Any.Mean+.02 {
		t.Errorf("somebody else polls %.3f of a node's feeds, and follows %.3f of them", got.Polled.Mean, got.Any.Mean)
	}
}

// The second best adds nothing to the first; the third, which shares less, does.
func TestTenBest(t *testing.T) {
	followers := [][]int{{0, 1, 2}, {0, 1, 2}, {0, 3}, {0}}
	if got := tenBest(followers, 0, []int{0, 1, 2, 3}); got != 3 {
		t.Errorf("the ten best follow %d of the feeds, want 3", got)
	}
	if got := tenBest([][]int{{0}}, 0, []int{0}); got != 0 {
		t.Errorf("of a feed that nobody else follows %d are covered", got)
	}
}
