package courtesy

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// epoch is when tests begin.
var epoch = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// spend makes requests as fast as the budget lets, and returns when each was made.
func spend(b *Budget, now time.Time, requests int) (after []time.Duration) {
	begun := now
	for range requests {
		if ready := b.Ready(); ready.After(now) {
			now = ready
		}
		b.Take(now)
		after = append(after, now.Sub(begun))
	}
	return after
}

func TestBudgetOfAnUnknownHost(t *testing.T) {
	var b Budget
	got := spend(&b, epoch, Burst+3)
	for i, after := range got {
		if want := max(0, time.Duration(i-Burst+1)*FirstGap); after != want {
			t.Errorf("request %d after %v, want %v", i+1, after, want)
		}
	}
	// After a pause the bucket is full again, and not fuller.
	got = spend(&b, epoch.Add(24*time.Hour), Burst+1)
	if got[Burst-1] != 0 || got[Burst] != FirstGap {
		t.Errorf("after a day: %v", got)
	}
}

func TestRefusalHalvesWhatAHostTakes(t *testing.T) {
	var b Budget
	spend(&b, epoch, 2)
	b.Refused(epoch, 30*time.Minute)
	if want := epoch.Add(30 * time.Minute); !b.Until.Equal(want) || !b.Ready().Equal(want) {
		t.Errorf("ready at %v, want %v", b.Ready(), want)
	}
	got := spend(&b, b.Ready(), 3)
	if got[1] != 2*FirstGap || got[2] != 4*FirstGap {
		t.Errorf("after the rest %v, want one request each %v", got, 2*FirstGap)
	}
	answers := 0
	for ; b.Learned(); answers++ {
		b.Answered()
	}
	if answers != 35 {
		t.Errorf("one refusal is made up for by %d answers, want 35", answers)
	}
	for range 1000 {
		b.Answered()
	}
	if b.Gap != ShortestGap {
		t.Errorf("after many answers the gap is %v, want %v", b.Gap, ShortestGap)
	}
}

func TestRefusalsThatDoNotSayHowLong(t *testing.T) {
	var b Budget
	now := epoch
	for _, want := range []time.Duration{firstRest, 2 * firstRest, 4 * firstRest} {
		b.Refused(now, 0)
		if got := b.Until.Sub(now); got != want {
			t.Errorf("left alone for %v, want %v", got, want)
		}
		now = b.Until
	}
	for range 20 {
		b.Refused(now, 0)
	}
	if b.Gap != longestGap || b.Rest != longestRest {
		t.Errorf("at worst gap %v, rest %v", b.Gap, b.Rest)
	}
	// The time that it said once counts when it says nothing.
	b = Budget{}
	b.Refused(now, time.Hour)
	now = b.Until
	b.Refused(now, 0)
	if got := b.Until.Sub(now); got != 2*time.Hour {
		t.Errorf("left alone for %v, want twice what it said", got)
	}
	b.Refused(now, time.Minute)
	if got := b.Until.Sub(now); got != 2*time.Hour {
		t.Errorf("a shorter word takes back a longer one: %v", got)
	}
}

// What is kept of a host is that it takes less than one that is not known, and not that it takes as much.
func TestOnlySlownessIsLearned(t *testing.T) {
	for gap, want := range map[time.Duration]bool{0: false, ShortestGap: false, FirstGap: false, FirstGap + 1: true} {
		if got := (Budget{Gap: gap}).Learned(); got != want {
			t.Errorf("with a gap of %v it is worth remembering: %v", gap, got)
		}
	}
}

// Whatever happens: no request before Ready, gap and rest within their bounds, and in the long run no more than
// a burst and one request each gap.
func TestBudgetHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Budget
		now := epoch
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "wait")))
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				wait := time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "retry after"))
				b.Refused(now, wait)
				if b.Ready().Before(now.Add(wait)) {
					t.Fatalf("told to wait for %v, ready in %v", wait, b.Ready().Sub(now))
				}
			case 1:
				b.Answered()
			default:
				if !b.Ready().After(now) {
					b.Take(now)
				}
			}
			if b.gap() < ShortestGap || b.gap() > longestGap || b.Rest > longestRest {
				t.Fatalf("gap %v, rest %v", b.gap(), b.Rest)
			}
		}
		if ready := b.Ready(); ready.After(now) {
			now = ready
		}
		if got := spend(&b, now, Burst+1); got[Burst] < b.gap() {
			t.Fatalf("%d requests within %v, a gap is %v", Burst+1, got[Burst], b.gap())
		}
	})
}
