package polling_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"feedex/polling"
)

// every is a history of entries at equal distances, the last of them at clock(0), over so many days; the
// document lists 50.
func every(gap time.Duration, days int) polling.History {
	var times []int64
	for age := time.Duration(0); age <= time.Duration(days)*24*time.Hour; age += gap {
		times = append([]int64{day0 - int64(age/time.Second)}, times...)
	}
	return history(50, times)
}

// between is a history of an entry at each full hour of a week's days, and of a day's hours, before clock(0).
func between(weeks int, days func(time.Weekday) bool, from, to int) polling.History {
	var times []int64
	for t := day0 - int64(weeks)*7*86400; t < day0; t += 3600 {
		at := time.Unix(t, 0).UTC()
		if days(at.Weekday()) && at.Hour() >= from && at.Hour() < to {
			times = append(times, t)
		}
	}
	return history(50, times)
}

func anyDay(time.Weekday) bool { return true }

func TestAutoFollowsTheSquareRoot(t *testing.T) {
	const m, h = time.Minute, time.Hour
	for _, tc := range []struct {
		target, gap time.Duration
		days        int
	}{
		// Gaps that are no part of a day, so that every hour is about the same.
		{h, 53 * m, 28}, {h, 233 * m, 56}, {h, 967 * m, 160}, {h, 3847 * m, 600}, {4 * h, 53 * m, 28},
		{15 * m, 127 * m, 28},
	} {
		p := polling.Auto{TargetDelay: tc.target}
		got := p.Interval(polling.Poll{At: clock(0), Interval: h, History: every(tc.gap, tc.days)})
		// At a rate of r, entries have waited r*u*u/2 after u.
		want := math.Sqrt(2 * tc.target.Seconds() * tc.gap.Seconds())
		if math.Abs(got.Seconds()-want) > want/5 {
			t.Errorf("target %v, an entry every %v: %v, want %.0f s", tc.target, tc.gap, got, want)
		}
	}
}

// Of one entry, a day ago, the mean rate is half an entry a day; each hour was watched once.
func TestAutoOfOneEntry(t *testing.T) {
	got := polling.Auto{}.Interval(polling.Poll{At: clock(0), Interval: time.Hour,
		History: history(50, []int64{day0 - 86400})})
	rate := 0.5 / 86400
	hour := func(published float64) float64 { return (published + 3) / (rate*3600 + 3) }
	// clock(0) begins a Saturday, which was not watched; Friday was. A day old, it is not of lately.
	friday := (1.0 + 10) / (rate*86400 + 10)
	lately := 6 / (friday*rate*3600*(23*hour(0)+hour(1)) + 6)
	n, waited, u := 0.0, 0.0, 0.0
	for ; ; u++ {
		r := rate * lately * hour(0)
		if u < 3600 {
			r = rate * lately * hour(1) // the entry was published in this hour
		}
		if n, waited = n+r, waited+n+r/2; waited >= 3600 {
			break
		}
	}
	if math.Abs(got.Seconds()-u) > 2 {
		t.Errorf("%v, want %.0f s", got, u)
	}
}

func TestAutoKnowsHoursAndDays(t *testing.T) {
	const h = time.Hour
	p := polling.Auto{Range: polling.Range{Max: 48 * h}}
	at := func(hour int64, hist polling.History) time.Duration {
		return p.Interval(polling.Poll{At: clock(hour * 60), Interval: h, History: hist})
	}
	office := between(8, anyDay, 8, 16)
	if got := at(9, office); got < 60*time.Minute || got > 100*time.Minute {
		t.Errorf("in the hours in which it publishes: %v", got)
	}
	if got := at(17, office); got < 8*h || got > 17*h { // two hours and a half at the mean rate
		t.Errorf("in the evening: %v, want the next morning", got)
	}
	// clock(0) begins a Saturday.
	workdays := between(8, func(d time.Weekday) bool { return d != time.Saturday && d != time.Sunday }, 0, 24)
	if got := at(0, workdays); got < 4*h {
		t.Errorf("at the weekend: %v", got)
	}
	if got := at(50, workdays); got > 2*time.Hour {
		t.Errorf("on Monday: %v", got)
	}
}

func TestAutoTakesANewEntryAsEvidence(t *testing.T) {
	p := polling.Auto{}
	silent := every(10*24*time.Hour, 60)
	before := p.Interval(polling.Poll{At: clock(5000), Interval: time.Hour, History: silent})
	silent.Read(at(4980, 4990, 5000), 50)
	after := p.Interval(polling.Poll{At: clock(5000), Interval: time.Hour, New: 3, History: silent})
	if after > before*3/4 {
		t.Errorf("before %v, after three entries at once %v", before, after)
	}
}

func TestAutoFitsTheDocument(t *testing.T) {
	// A hundred entries an hour: ten fill half of the document in 6 minutes. The target is an hour in
	// all, which is reached after 8.5 minutes.
	p := polling.Auto{}
	h := every(36*time.Second, 3)
	poll := polling.Poll{At: clock(0), Interval: time.Hour, History: history(20, h.Times)}
	if got := p.Interval(poll); got < 5*time.Minute || got > 7*time.Minute {
		t.Errorf("half of the document: %v, want about 6m", got)
	}
	for _, poll.History.Window = range []int{2000, 0} {
		if got := p.Interval(poll); got < 8*time.Minute || got > 9*time.Minute {
			t.Errorf("a document that holds all, or nothing with a date: %v, want about 8m30s", got)
		}
	}
}

func TestAutoWithoutHistory(t *testing.T) {
	p := polling.Auto{Range: polling.Range{Max: 3 * time.Hour}}
	for interval, want := range map[time.Duration]time.Duration{
		0: time.Hour, time.Hour: 2 * time.Hour, 2 * time.Hour: 3 * time.Hour, 999 * time.Hour: 3 * time.Hour,
	} {
		if got := p.Interval(polling.Poll{At: clock(0), Interval: interval}); got != want {
			t.Errorf("after %v: %v, want %v", interval, got, want)
		}
	}
	const day = 24 * time.Hour
	for _, test := range []struct{ interval, unchanged, want time.Duration }{
		{0, 5 * time.Hour, time.Hour}, // never sooner for it
		{0, 20 * time.Hour, 2 * time.Hour},
		{0, 90 * day, 3 * time.Hour}, // nor more rarely than the owner wants
		{time.Hour, 5 * time.Hour, 2 * time.Hour},
		{time.Hour, day, 144 * time.Minute},
	} {
		if got := p.Interval(polling.Poll{At: clock(0), Interval: test.interval,
			Unchanged: test.unchanged}); got != test.want {
			t.Errorf("after %v, unchanged for %v: %v, want %v", test.interval, test.unchanged, got, test.want)
		}
	}
	poll := polling.Poll{At: clock(0), Interval: time.Hour,
		History: polling.History{Times: []int64{clock(0).Unix() - 3600}, Window: 1}}
	want := p.Interval(poll)
	if poll.Unchanged = 90 * day; p.Interval(poll) != want {
		t.Errorf("a feed of an hour ago whose Last-Modified is old: %v, want %v", p.Interval(poll), want)
	}
	if err := (polling.Auto{TargetDelay: -1}).Validate(); !errors.Is(err, polling.ErrSetting) {
		t.Errorf("a target below zero: %v", err)
	}
	if err := (polling.Auto{Range: polling.Range{Min: -1}}).Validate(); !errors.Is(err, polling.ErrSetting) {
		t.Errorf("a bound below zero: %v", err)
	}
	if err := (polling.Auto{}).Validate(); err != nil {
		t.Error(err)
	}
}
