package polling_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/polling"
)

// day0 is a midnight, in UTC.
const day0 int64 = 1_783_123_200

// at is day0, that many minutes later.
func at(minutes ...int64) []int64 {
	for i := range minutes {
		minutes[i] = day0 + minutes[i]*60
	}
	return minutes
}

func clock(minute int64) time.Time { return time.Unix(day0+minute*60, 0) }

func history(window int, times []int64) polling.History {
	return polling.History{Times: times, Window: window}
}

// The intervals, computed by hand from the equations of Urbansky §3.
func TestLearnedIntervals(t *testing.T) {
	const m, h, d = time.Minute, time.Hour, 24 * time.Hour
	// Gaps of 10, 20, 30 and 60 minutes: 120 in all, 30 on average.
	five := at(0, 10, 30, 60, 120)
	older := at(-1000, -900, 0, 10, 30, 60, 120)
	var (
		fix  = polling.FixLearned{}
		mav  = polling.MovingAverage{}
		rate = polling.PostRate{}
	)
	for name, tc := range map[string]struct {
		policy polling.Policy
		poll   polling.Poll
		want   time.Duration
	}{
		"fix learned, first document": {fix,
			polling.Poll{At: clock(130), New: 5, History: history(5, five)}, 30 * m},
		"fix learned, of the window only": {fix,
			polling.Poll{At: clock(130), New: 5, History: history(5, older)}, 30 * m},
		"fix learned, later documents": {fix, polling.Poll{At: clock(999), Interval: 42 * m,
			New: 5, History: history(5, five)}, 42 * m},
		"fix learned, one entry":         {fix, polling.Poll{At: clock(9), New: 1, History: history(1, at(0))}, h},
		"fix learned, an empty document": {fix, polling.Poll{At: clock(9)}, h},
		"fix learned, all at once": {fix,
			polling.Poll{At: clock(9), New: 3, History: history(3, at(5, 5, 5))}, 2 * m},
		"fix learned, once a decade": {fix,
			polling.Poll{At: clock(9), New: 2, History: history(2, at(-5_000_000, 5))}, 31 * d},
		"moving average, something new": {mav, polling.Poll{At: clock(130), Interval: h,
			New: 1, History: history(5, five)}, 30 * m},
		"moving average, first document": {mav,
			polling.Poll{At: clock(130), New: 5, History: history(5, five)}, 30 * m},
		// 30 - 10/4 + 30/4
		"moving average, nothing new": {mav, polling.Poll{At: clock(150), Interval: 30 * m,
			History: history(5, five)}, 35 * m},
		// 30 - 10/4 + 1600/4
		"moving average, nothing for long": {mav, polling.Poll{At: clock(1720), Interval: h, History: history(5, five)},
			427*m + 30*time.Second},
		// 30 - 10/4 + 2/4
		"moving average, virtual too soon": {mav, polling.Poll{At: clock(122), Interval: m,
			History: history(5, five)}, 28 * m},
		// 60 - 60 + 40
		"moving average, two entries": {mav, polling.Poll{At: clock(100), Interval: h,
			History: history(2, at(0, 60))}, 40 * m},
		"moving average, one entry": {mav, polling.Poll{At: clock(100), Interval: 3 * h,
			History: history(1, at(0))}, 3 * h},
		"moving average, after a restart": {mav, polling.Poll{At: clock(100), Interval: 5 * h}, 5 * h},
		"moving average, silent for years": {mav, polling.Poll{At: clock(5_000_000), Interval: h,
			History: history(5, five)}, 31 * d},
		// 30 - 10/4 + 0
		"moving average, a wrong clock": {mav, polling.Poll{At: clock(-5000), Interval: h, History: history(5, five)},
			27*m + 30*time.Second},
		// Two entries in two days, at 01:00 each day: the rate of that minute is 1 a day.
		"post rate, at the hour it knows": {rate,
			polling.Poll{At: clock(2 * 1440), History: history(2, at(60, 1500))}, h},
		// Two hours on, two entries make less than one a day: one each of the next two days.
		"post rate, a little later": {rate,
			polling.Poll{At: clock(2*1440 + 120), History: history(2, at(60, 1500))}, 47 * h},
		// Four entries in a day: any of them is one.
		"post rate, four a day": {rate,
			polling.Poll{At: clock(1440), History: history(4, at(0, 300, 600, 900))}, 300 * m},
		"post rate, of all history": {rate,
			polling.Poll{At: clock(1440), History: history(1, at(0, 300, 600, 900))}, 300 * m},
		"post rate, after a first day": {rate,
			polling.Poll{At: clock(901), History: history(4, at(0, 300, 600, 900))}, 539 * m},
		// Two entries in ten days: ten must be counted, all of five days; the fifth begins with the one at 00:30.
		"post rate, once in five days": {rate, polling.Poll{At: clock(14400), History: history(2, at(10, 30))}, 4*d +
			30*m},
		"post rate, once in a lifetime": {rate,
			polling.Poll{At: clock(1440 * 9000), History: history(1, at(10))}, 31 * d},
		"post rate, all in one minute": {rate, polling.Poll{At: clock(9), History: history(3, at(10, 10, 10))}, 2 * m},
		"post rate, no history":        {rate, polling.Poll{At: clock(9), Interval: 7 * h}, 7 * h},
		"post rate, the first, empty":  {rate, polling.Poll{At: clock(9)}, h},
		"bounds": {polling.MovingAverage{Range: polling.Range{Min: h}},
			polling.Poll{At: clock(130), New: 1, History: history(5, five)}, h},
		"bounds, settings changed": {polling.FixLearned{Range: polling.Range{Max: h}},
			polling.Poll{At: clock(130), Interval: 9 * h}, h},
	} {
		if got := tc.policy.Interval(tc.poll); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// Urbansky's Figure 1: while nothing is published, each interval is a little longer than the last, and
// with the next entries it is short again.
func TestMovingAverageFollowsTheFeed(t *testing.T) {
	p := polling.Poll{At: clock(40), New: 5, History: history(5, at(0, 10, 20, 30, 40))}
	u := polling.MovingAverage{}.Interval(p)
	p.New = 0
	for range 8 {
		p.At, p.Interval = p.At.Add(u), u
		next := polling.MovingAverage{}.Interval(p)
		if next < u || next > 2*u {
			t.Errorf("after %v without an entry: %v, after %v before", p.At.Sub(clock(40)), next, u)
		}
		u = next
	}
	if u < 20*time.Minute {
		t.Errorf("after eight polls for nothing: %v", u)
	}
	end := p.At.Unix()
	p.New, p.History = 5, history(5, []int64{end - 2400, end - 1800, end - 1200, end - 600, end})
	if u = (polling.MovingAverage{}).Interval(p); u != 10*time.Minute {
		t.Errorf("with entries every ten minutes again: %v", u)
	}
}

func TestRange(t *testing.T) {
	const h = time.Hour
	for b, first := range map[polling.Range]time.Duration{
		{}: h, {Min: 2 * h}: 2 * h, {Max: h / 2}: h / 2, {Max: time.Minute}: time.Minute, {Min: 900 * h}: 900 * h,
		{Min: -h, Max: -h}: h,
	} {
		if got := b.First(); got != first {
			t.Errorf("%+v begins with %v, want %v", b, got, first)
		}
	}
	if got := (polling.Range{}).Longest(); got != 31*24*h {
		t.Errorf("waits at most %v", got)
	}
	for _, b := range []polling.Range{{}, {Min: h}, {Max: time.Second}, {Min: h, Max: h}} {
		if err := b.Validate(); err != nil {
			t.Errorf("%+v: %v", b, err)
		}
	}
	for _, b := range []polling.Range{{Min: -1}, {Max: -1}, {Min: 721 * h}, {Max: 721 * h}, {Min: 2 * h, Max: h}} {
		if err := b.Validate(); !errors.Is(err, polling.ErrSetting) {
			t.Errorf("%+v: %v, want an ErrSetting", b, err)
		}
	}
}

// Whatever a feed did, the interval is within the range; but that half of the document goes before the least of Auto.
func TestLearnedIntervalsInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := polling.Range{
			Min: time.Duration(rapid.Int64Range(-1, int64(48*time.Hour)).Draw(t, "min")),
			Max: time.Duration(rapid.Int64Range(-1, int64(99*time.Hour)).Draw(t, "max")),
		}
		var h polling.History
		h.Read(rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(-1<<40, 1<<40), rapid.Int64Range(0, 99999)), 0, 30).Draw(t,
			"times"), 99)
		poll := polling.Poll{
			At: time.Unix(rapid.OneOf(rapid.Int64Range(-1<<40, 1<<40),
				rapid.Int64Range(0, 999999)).Draw(t, "now"), 0),
			Interval: time.Duration(rapid.Int64Range(0, int64(99*time.Hour)).Draw(t, "interval")),
			New:      rapid.IntRange(0, 2).Draw(t, "new"), History: h,
		}
		for _, p := range []polling.Policy{polling.FixLearned{Range: b}, polling.MovingAverage{Range: b},
			polling.PostRate{Range: b}, polling.Auto{Range: b}} {
			got, least := p.Interval(poll), b.Min
			if _, auto := p.(polling.Auto); auto {
				least = min(least, 2*time.Minute)
			}
			if got <= 0 || got > p.Longest() || b.Min > 0 && b.Max >= b.Min && got < least {
				t.Fatalf("%T%+v after %+v: %v", p, b, poll, got)
			}
		}
	})
}
