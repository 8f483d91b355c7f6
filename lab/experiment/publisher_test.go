package experiment

import (
	"errors"
	"slices"
	"testing"
	"time"

	"feedex/lab/trace"
)

// Every node asks the publisher of a feed for itself, as rarely as its policy says; a flash crowd that comes with lists
// asks less at first.
func TestPublishers(t *testing.T) {
	s := Publishers{Seed: 1, Traces: embedded(t), Feeds: 2, Length: 2 * day, Sizes: []int{1, 5}, Times: 12}
	r := ran(t, s.Run)
	isGolden(t, "publisher.golden", r)
	result := r.Result.(PublisherResult)
	for _, row := range result.Steady {
		each := row.Requests / float64(row.Nodes)
		if row.Policy == "FeedTree" {
			if want := 48 * float64(min(row.Nodes, 3)); row.Requests < want-1 || row.Requests > want+1 {
				t.Errorf("by FeedTree's rule %+v", row)
			}
			continue
		}
		if each > 25 || row.Policy == "Fix 1h" && each < 23 || row.Most > row.Nodes {
			t.Errorf("%+v", row)
		}
		if told := map[string]float64{"Auto, told 4h": 6, "Auto, told 24h": 1}[row.Policy]; told > 0 && each > told {
			t.Errorf("%+v, want %v requests a node and day at most", row, told)
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

// By FeedTree's rule one subscriber polls every half hour, two twice as often in all, and of more the three that came
// first. What they find, all have; what was in no document that was polled is lost.
func TestPollByFeedTree(t *testing.T) {
	start := time.Date(2026, 7, 4, 0, 0, 0, 0, time.UTC)
	f := trace.Timeline{Name: "a", Window: 2}
	for _, minute := range []int64{-1, 65, 66, 67, 95} {
		f.Times = append(f.Times, start.Unix()+60*minute)
	}
	const m = time.Minute
	first := []time.Duration{5 * m, 10 * m, 20 * m, 45 * m, 55 * m}
	for nodes, want := range map[int]struct {
		polls []int
		late  []lateEntry
		same  int
	}{
		1: {[]int{5, 35, 65, 95, 125}, []lateEntry{{65 * m, 0}, {67 * m, 28 * m}, {95 * m, 0}}, 2},
		2: {[]int{5, 10, 35, 40, 65, 70, 95, 100, 125, 130},
			[]lateEntry{{65 * m, 0}, {66 * m, 4 * m}, {67 * m, 3 * m}, {95 * m, 0}}, 4},
		5: {[]int{5, 10, 20, 35, 40, 50, 65, 70, 80, 95, 100, 110, 125, 130, 140},
			[]lateEntry{{65 * m, 0}, {66 * m, 4 * m}, {67 * m, 3 * m}, {95 * m, 0}}, 6},
	} {
		var list []feedTreeNode
		for _, at := range first[:nodes] {
			list = append(list, feedTreeNode{at, -1})
		}
		var polls []int
		same := 0
		late := pollByFeedTree(&f, list, start, 150*m, func(now time.Duration, is bool) {
			polls = append(polls, int(now/m))
			if is {
				same++
			}
		})
		if !slices.Equal(polls, want.polls) || !slices.Equal(late, want.late) || same != want.same {
			t.Errorf("%d nodes poll at %v, %d times in vain, and find %v; want %+v", nodes, polls, same, late, want)
		}
	}
}
