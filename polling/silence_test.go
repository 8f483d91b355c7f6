package polling_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/polling"
)

func TestWhoHearsNobodyPollsAfterItsInterval(t *testing.T) {
	const interval = 4 * time.Hour
	var alone polling.Silence
	if due := alone.Due(interval, 1); !due.Equal(time.Time{}.Add(interval)) {
		t.Errorf("the zero Silence: due at %v", due)
	}
	alone.Polled(clock(0), interval, 1)
	if due := alone.Due(interval, 1); !due.Equal(clock(240)) {
		t.Errorf("alone: due at %v", due)
	}
	late := alone
	late.Heard(clock(60), clock(29)) // more than half of an even share of an hour ago
	if due := late.Due(interval, 4); !due.Equal(clock(240)) {
		t.Errorf("news that come too late: due at %v", due)
	}
	early := alone
	early.Heard(clock(60), clock(59))
	if due := early.Due(interval, 4); due.Equal(clock(240)) {
		t.Error("news in time move nothing")
	}
	tuned := alone
	tuned.Polled(clock(240), interval, 4)
	waits := tuned.Due(interval, 4).Sub(tuned.Began)
	tuned.Polled(clock(480), interval, 1)
	if again := tuned.Due(interval, 4).Sub(tuned.Began); again != waits {
		t.Errorf("after a turn alone it waits for %v beside the same others, before for %v", again, waits)
	}
}

func TestWhatIsNews(t *testing.T) {
	var s polling.Silence
	s.Polled(clock(0), time.Hour, 1)
	for _, tc := range []struct {
		now, at time.Time
		want    bool
	}{
		{clock(5), clock(4), true},
		{clock(5), clock(4), false},                        // by another way
		{clock(5), clock(4).Add(20 * time.Second), false},  // no later than the delay of such news
		{clock(20), clock(2), false},                       // before the latest
		{clock(21), clock(20).Add(59 * time.Second), true}, // long after it
	} {
		if got := s.Heard(tc.now, tc.at); got != tc.want {
			t.Errorf("a poll at %v, heard of at %v: news %v", tc.at, tc.now, got)
		}
	}
}

// Whatever a node hears it polls no earlier than after three quarters of its interval, and no later than a tenth after
// it.
func TestNothingHeardRemovesAPoll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now := polling.Silence{}, clock(0)
		interval := time.Duration(rapid.Int64Range(int64(time.Minute), int64(30*24*time.Hour)).Draw(t, "interval"))
		drawn := func(name string, low, high time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(int64(low), int64(high)).Draw(t, name))
		}
		pollers := rapid.IntRange(1, 1025)
		s.Polled(now, interval, pollers.Draw(t, "pollers"))
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			now = now.Add(drawn("passes", 0, interval/4))
			if rapid.Bool().Draw(t, "polls") {
				s.Polled(now, interval, pollers.Draw(t, "pollers"))
			} else {
				s.Heard(now, now.Add(-drawn("age", -interval, interval)))
				s.Ahead = drawn("ahead", -interval, interval)
			}
			due := s.Due(interval, pollers.Draw(t, "pollers")).Sub(s.Began)
			if part := float64(due) / float64(interval); part < .75-1e-6 || part > 1.1+1e-6 {
				t.Fatalf("due after %.3f of the interval", part)
			}
		}
	})
}

func TestWhoHasWaitedLongestPollsFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const interval = 16 * time.Hour
		pollers := rapid.IntRange(2, 1000).Draw(t, "pollers")
		began := rapid.Int64Range(0, 900)
		first, second := polling.Silence{}, polling.Silence{}
		a := began.Draw(t, "first")
		b := rapid.Int64Range(a, 900).Draw(t, "second")
		first.Polled(clock(a), interval, pollers)
		second.Polled(clock(b), interval, pollers)
		heard := clock(b + rapid.Int64Range(1, 60).Draw(t, "heard after"))
		first.Heard(heard, heard.Add(-time.Second))
		second.Heard(heard, heard.Add(-time.Second))
		if d := second.Due(interval, pollers).Sub(first.Due(interval, pollers)); d < 0 {
			t.Errorf("who began %d minutes later polls %v earlier", b-a, -d)
		}
	})
}

// Who polled together with somebody moves away from there once, and no bound moves.
func TestWhoPollsTogetherGoesApart(t *testing.T) {
	const interval, pollers = 8 * time.Hour, 4
	var s polling.Silence
	s.Polled(clock(0), interval, pollers)
	if far := s.Aside(clock(31), interval, pollers); far != 0 {
		t.Errorf("half an hour apart is together: moves by %v", far)
	}
	far := s.Aside(clock(29), interval, pollers)
	if far != interval/10 {
		t.Fatalf("moves by %v", far)
	}
	stays := s.Due(interval, pollers)
	s.Ahead = -far
	if moved := s.Due(interval, pollers); moved.Sub(stays) != far {
		t.Errorf("%v behind: due at %v in place of %v", far, moved, stays)
	}
	if again := s.Aside(clock(29), interval, pollers); again != 0 {
		t.Errorf("moves again, by %v", again)
	}
	if s.Ahead = -interval; s.Due(interval, pollers).Sub(clock(0)) != interval*11/10 {
		t.Errorf("far behind: due at %v", s.Due(interval, pollers))
	}
	if s.Polled(clock(500), interval, pollers); s.Ahead != 0 {
		t.Errorf("ahead by %v after its turn", s.Ahead)
	}
}

// Nodes that hear of one another poll at even distances, and no more often than their intervals say, although nobody
// tells them when; where a fifth of the news is lost that is still so by and large.
func TestPollsFollowOneAnotherEvenly(t *testing.T) {
	const warm, measured = 3, 8
	for _, tc := range []struct {
		nodes    int
		interval time.Duration
		lost     float64
		uneven   float64 // the most that the gaps' deviation may be of their mean
		surplus  float64 // the most that requests may differ from one in a node's interval
	}{
		{nodes: 2, interval: 4 * time.Hour, uneven: .3, surplus: .03},
		{nodes: 8, interval: 4 * time.Hour, uneven: .3, surplus: .03},
		{nodes: 46, interval: 4 * time.Hour, uneven: .3, surplus: .03},
		{nodes: 46, interval: 20 * time.Minute, uneven: .45, surplus: .03}, // news takes its time
		{nodes: 8, interval: 4 * time.Hour, lost: .2, uneven: .6, surplus: .05},
		{nodes: 46, interval: 4 * time.Hour, lost: .2, uneven: .6, surplus: .05},
	} {
		t.Run(fmt.Sprintf("%d nodes, %v, %v lost", tc.nodes, tc.interval, tc.lost), func(t *testing.T) {
			polls := chorus(tc.nodes, tc.lost, tc.interval, warm+measured)
			var gaps, squares float64
			count := 0
			for i := 1; i < len(polls); i++ {
				if polls[i] >= warm*tc.interval {
					gap := (polls[i] - polls[i-1]).Seconds()
					gaps, squares, count = gaps+gap, squares+gap*gap, count+1
				}
			}
			mean := gaps / float64(count)
			if cv := math.Sqrt(squares/float64(count)-mean*mean) / mean; cv > tc.uneven {
				t.Errorf("the gaps between polls deviate by %.2f of their mean, want %v at most", cv, tc.uneven)
			}
			if part := float64(count) / float64(measured*tc.nodes); math.Abs(part-1) > tc.surplus {
				t.Errorf("%.3f requests in a node's interval", part)
			}
		})
	}
}

// chorus has nodes poll one feed for so many intervals, and returns when they did, from the begin. Each hears of polls
// of the others two seconds later, but for those that are lost.
func chorus(nodes int, lost float64, interval time.Duration, intervals int) (polls []time.Duration) {
	const delay = 2 * time.Second
	type news struct {
		at, poll time.Time
		by       int
	}
	rng := rand.New(rand.NewPCG(1, 2))
	list, start := make([]polling.Silence, nodes), clock(0)
	for i := range list { // at moments of their own
		list[i].Began = start.Add(-time.Duration(rng.Int64N(int64(interval))))
		list[i].Latest = start
	}
	var spread []news // oldest first
	for {
		next := 0
		for i := range list {
			if list[i].Due(interval, nodes).Before(list[next].Due(interval, nodes)) {
				next = i
			}
		}
		now := list[next].Due(interval, nodes)
		if now.Sub(start) > time.Duration(intervals)*interval {
			return polls
		}
		if len(spread) > 0 && !now.Before(spread[0].at) {
			for i := range list {
				if i != spread[0].by && rng.Float64() >= lost {
					list[i].Heard(spread[0].at, spread[0].poll)
				}
			}
			spread = spread[1:]
			continue
		}
		list[next].Polled(now, interval, nodes)
		polls = append(polls, now.Sub(start))
		spread = append(spread, news{now.Add(delay), now, next})
	}
}
