package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedex/lab/report"
)

// Of few channels and nodes, no choice of pollers that is as large is better than the one by the multiplier, whatever
// the weights.
func TestPollersAreOptimal(t *testing.T) {
	cost := func(weights []float64, pollers []int) (total float64) {
		for i, n := range pollers {
			total += weights[i] / float64(n)
		}
		return total
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		const nodes = 5
		weights := []float64{rng.Float64() * 9, rng.Float64() * 9, rng.Float64(), rng.ExpFloat64() * 20}
		budget := 4 + rng.IntN(17)
		got, beyond := pollersUpTo(weights, nodes, func(n []int) bool { return sum(n) <= budget })
		if sum(got) != budget || budget < 4*nodes && sum(beyond) <= budget {
			t.Fatalf("%v pollers of weights %v, and beyond that %v, for %d polls", got, weights, beyond, budget)
		}
		for choice := range nodes * nodes * nodes * nodes {
			other := []int{1 + choice%5, 1 + choice/5%5, 1 + choice/25%5, 1 + choice/125}
			if sum(other) <= budget && cost(weights, other) < cost(weights, got)-1e-9 {
				t.Fatalf("of weights %v %v pollers cost %v and %v cost %v", weights, got, cost(weights, got), other,
					cost(weights, other))
			}
		}
	}
}

// Each objective is the best at what it is for, and none costs more than legacy RSS.
func TestObjectives(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var channels []followed
	for range 60 {
		channels = append(channels, followed{0, 1 + rng.IntN(90), math.Exp(6 + 7*rng.Float64())})
	}
	const target = 40
	list := objectives(channels, 128, 1800, target)
	by := make(map[string]CoronaObjective)
	for _, o := range list {
		by[o.Scheme] = o
	}
	each, lite, fair, fast := by["each follower polls"], by["Corona-Lite"], by["Corona-Fair"], by["Corona-Fast"]
	for _, o := range list[1:] {
		if o.Scheme != "Corona-Fast" && (o.Requests > each.Requests || o.Requests < each.Requests-.1) {
			t.Errorf("%s has a load of %.2f, legacy RSS of %.2f", o.Scheme, o.Requests, each.Requests)
		}
		if o.Scheme != "Corona-Lite" && o.Requests >= lite.Requests && o.Detection < lite.Detection {
			t.Errorf("%s detects updates sooner than Corona-Lite: %+v, %+v", o.Scheme, o, lite)
		}
		if o.Scheme != "Corona-Fair" && o.Ratio < fair.Ratio {
			t.Errorf("%s has a lesser ratio than Corona-Fair: %+v, %+v", o.Scheme, o, fair)
		}
	}
	if each.Detection < 1.1*lite.Detection {
		t.Errorf("polls by all followers, %+v, are as good as the optimum, %+v", each, lite)
	}
	if fast.Detection > target || fast.Detection < .97*target || fast.Requests >= lite.Requests {
		t.Errorf("for a target of %d s: %+v", target, fast)
	}
	if root, log := by["Corona-Fair-Sqrt"], by["Corona-Fair-Log"]; !(lite.Detection <= log.Detection &&
		log.Detection <= root.Detection && root.Detection <= fair.Detection) {
		t.Errorf("detection times are not in the order of what they take account of: %+v", list)
	}
}

// Channels stand by how many follow them, whatever their order; those without an update have no detection time.
func TestRankTable(t *testing.T) {
	var channels []followed
	lite := CoronaObjective{}
	row := CoronaRow{Every: time.Hour}
	for i, n := range []int{2, 9, 4, 6, 1} {
		channels = append(channels, followed{index: i, subscribers: n})
		lite.pollers, lite.late = append(lite.pollers, n/2), append(lite.late, float64(n))
		row.channels = append(row.channels, meanLateness{alone: float64(10 * n), exchange: float64(n)})
	}
	row.channels[1] = meanLateness{math.NaN(), math.NaN()}
	want := [][]string{{"1", "1", "9.0", "4.0", report.Unknown, report.Unknown, "9.0"},
		{"2-3", "2", "5.0", "2.5", "50", "5.0", "5.0"}, {"4-5", "2", "1.5", "0.5", "15", "1.5", "1.5"}}
	if got := rankTable(channels, lite, row).Rows; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("rows %v, want %v", got, want)
	}
	for channels, want := range map[int][]int{1: {1}, 2: {1, 2}, 3: {1, 3}, 100: {1, 3, 10, 30, 100}} {
		if got := ranks(channels); !slices.Equal(got, want) {
			t.Errorf("ranks of %d channels: %v, want %v", channels, got, want)
		}
	}
}
