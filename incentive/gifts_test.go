package incentive

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/protocol"
)

func giftHolder(t interface{ Fatal(...any) }, text string) Holder {
	id, err := protocol.ParseNodeID(text)
	if err != nil {
		t.Fatal(err)
	}
	return HolderOf(id)
}

func TestGiftsAreBounded(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a, b := giftHolder(t, "8.8.8.8:7790"), giftHolder(t, "9.9.9.9:7790")
	g := NewGifts(Config{Gifts: 100, Gift: 1000})
	steps := []struct {
		after time.Duration
		to    Holder
		left  int64 // before it is given anything
		give  int64
	}{
		{0, a, 1000, 900},
		{0, a, 100, 100},
		{0, giftHolder(t, "8.8.8.8:9999"), 0, 0}, // a port is nobody of its own
		{0, b, 1000, 1000},
		{time.Hour, a, 500, 300}, // 2,400 and an hour's less 2,000
		{0, b, 200, 200},
		{0, b, 0, 0},
		{30 * time.Minute, b, 50, 0},
		{48 * time.Hour, b, 1000, 0},
	}
	for i, s := range steps {
		now = now.Add(s.after)
		if left := g.Left(now, s.to); left != s.left {
			t.Fatalf("step %d: %d left, want %d", i+1, left, s.left)
		}
		g.Give(now, s.to, s.give)
	}
	if g := NewGifts(Config{}); g.Left(now, a) != DefaultGift || g.left > 10_000_000 || g.left < 9_999_000 {
		t.Errorf("by default %d, %d in all", g.Left(now, a), g.left)
	}
	for _, none := range []Config{{Gifts: -1}, {Gift: -1}} {
		if left := NewGifts(none).Left(now, a); left != 0 {
			t.Errorf("%+v gives %d bytes", none, left)
		}
	}
}

// Within an hour something is given to so many and no more, who may still have the rest of theirs.
func TestHowManyAreGivenTo(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	g := NewGifts(Config{Gifts: 1_000_000, Gift: 10})
	g.Give(now, holder(maxGifted+1), 0) // who got nothing takes no place
	for i := range maxGifted {
		if left := g.Left(now, holder(i)); left != 10 {
			t.Fatalf("%d are left for number %d", left, i)
		}
		g.Give(now, holder(i), 1)
	}
	for _, after := range []time.Duration{0, time.Minute, 59 * time.Minute} {
		at := now.Add(after)
		if one, more := g.Left(at, holder(0)), g.Left(at, holder(maxGifted)); one != 9 || more != 0 {
			t.Errorf("after %v %d are left for the first, and %d for one more", after, one, more)
		}
	}
	if left := g.Left(now.Add(time.Hour), holder(maxGifted)); left != 10 {
		t.Errorf("an hour later %d are left for it", left)
	}
}

// What an hour brings hardly depends on how often somebody asks.
func TestGiftsOfAnHour(t *testing.T) {
	for _, every := range []time.Duration{time.Second / 20, time.Second, time.Hour} {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		g := NewGifts(Config{Gifts: 36_000, Gift: 1_000_000})
		g.Give(now, holder(1), g.Left(now, holder(1)))
		for end := now.Add(time.Hour); now.Before(end); {
			now = now.Add(every)
			g.Left(now, holder(2))
		}
		if left := g.Left(now, holder(2)); left < 32_000 || left > 36_000 {
			t.Errorf("asked every %v there are %d after an hour", every, left)
		}
	}
}

// However they ask, nobody gets more than the bounds allow, and nodes that got something are remembered in bounded
// room.
func TestGiftsOfADay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewGifts(Config{Gifts: 1000, Gift: 3000})
		begun := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		now, all := begun, int64(0)
		for range rapid.IntRange(1, 200).Draw(rt, "asks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3600).Draw(rt, "seconds")) * time.Second)
			h := giftHolder(rt, rapid.SampledFrom([]string{"8.8.8.8:7790", "9.9.9.9:7790", "[2600::1]:7790"}).Draw(rt,
				"who"))
			give := min(g.Left(now, h), rapid.Int64Range(0, 5000).Draw(rt, "wants"))
			g.Give(now, h, give)
			if all += give; g.given[h] > 3000 {
				rt.Fatalf("one got %d in an hour", g.given[h])
			}
		}
		if most := 24_000 + int64(1000*now.Sub(begun).Hours()) + 1; all > most {
			rt.Fatalf("%d given, at most %d may be", all, most)
		}
	})
}
