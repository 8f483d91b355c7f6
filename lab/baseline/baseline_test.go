package baseline_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"feedex/lab/baseline"
	"feedex/polling"
)

var (
	_ polling.Policy = baseline.Literal{}
	_ polling.Policy = baseline.Miniflux{}
	_ polling.Policy = baseline.NewsBlur{}
	_ polling.Policy = baseline.CommaFeed{}
)

const (
	m = time.Minute
	h = time.Hour
	d = 24 * time.Hour
)

// after is a poll of a feed whose last entry is as old as silent, and each before by as much as gap; the
// document lists window of them.
func after(silent time.Duration, entries int, gap time.Duration, window int) polling.Poll {
	now := time.Date(2026, 7, 22, 0, 0, 0, 0, time.UTC)
	times := make([]int64, entries)
	for i := range times {
		times[entries-1-i] = now.Add(-silent - time.Duration(i)*gap).Unix()
	}
	return polling.Poll{At: now, Interval: h, History: polling.History{Times: times, Window: window}}
}

// found is the poll with so many of its entries new.
func found(p polling.Poll, entries int) polling.Poll {
	p.New = entries
	return p
}

func TestReaders(t *testing.T) {
	frequency := baseline.Miniflux{EntryFrequency: true}
	for name, tc := range map[string]struct {
		policy polling.Policy
		poll   polling.Poll
		want   time.Duration
	}{
		"Miniflux":                             {baseline.Miniflux{}, after(9*d, 3, d, 3), 2 * h},
		"Miniflux, a silent week":              {frequency, after(8*d, 9, h, 9), 25 * h},
		"Miniflux, one entry in a week":        {frequency, after(d, 9, 7*d, 9), 25 * h},
		"Miniflux, every 8 hours":              {frequency, after(h, 90, 8*h, 20), 9 * h},
		"Miniflux, every 90 minutes":           {frequency, after(h, 300, 90*m, 20), 2 * h}, // at the next full hour
		"Miniflux, every minute":               {frequency, after(m, 300, m, 20), h},
		"Miniflux, all at once":                {frequency, after(m, 5, 0, 5), 25 * h},
		"Miniflux, every 6 days":               {frequency, after(h, 9, 6*d, 9), 25 * h},
		"Miniflux, all of it new":              {frequency, found(after(h, 9, 8*h, 9), 9), 25 * h},
		"Miniflux, but for two":                {frequency, found(after(h, 9, 8*h, 9), 7), 9 * h},
		"FreshRSS":                             {baseline.FreshRSS(), after(9*d, 3, d, 3), 90 * m},
		"NetNewsWire":                          {baseline.NetNewsWire(), after(9*d, 3, d, 3), 2 * h},
		"tt-rss":                               {baseline.TinyTinyRSS(), after(9*d, 3, d, 3), 30*m + 15*time.Second},
		"newsboat":                             {baseline.Newsboat(), after(9*d, 3, d, 3), h},
		"CommaFeed, every 40 minutes":          {baseline.CommaFeed{}, after(m, 50, 40*m, 20), 20 * m},
		"CommaFeed, every 3 hours":             {baseline.CommaFeed{}, after(m, 50, 3*h, 20), h},
		"CommaFeed, every minute":              {baseline.CommaFeed{}, after(m, 50, m, 20), 5 * m},
		"CommaFeed, a silent week":             {baseline.CommaFeed{}, after(7*d, 50, m, 20), h},
		"CommaFeed, two silent weeks":          {baseline.CommaFeed{}, after(14*d, 50, m, 20), 2 * h},
		"CommaFeed, a silent month":            {baseline.CommaFeed{}, after(30*d, 50, m, 20), 4 * h},
		"CommaFeed, nothing ever":              {baseline.CommaFeed{}, after(0, 0, 0, 0), 4 * h},
		"CommaFeed, one entry":                 {baseline.CommaFeed{}, after(m, 1, 0, 1), h},
		"CommaFeed, only what the window says": {baseline.CommaFeed{}, after(m, 50, 40*m, 1), h},
	} {
		if got := tc.policy.Interval(tc.poll); got != tc.want || got > tc.policy.Longest() {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// Of gaps of an hour and, after it, of three the younger counts twice: 140 minutes. After ten hours of silence the
// silence is the youngest, and the hour is gone: 460 minutes.
func TestOutlook(t *testing.T) {
	p := after(0, 2, 3*h, 3)
	p.History.Times = append([]int64{p.History.Times[0] - 3600}, p.History.Times...)
	silent := p
	silent.At = silent.At.Add(10 * h)
	weighted := baseline.Weighted{}
	if got := weighted.Interval(found(p, 1)); got != 140*m {
		t.Errorf("weighted, with news: %v", got)
	}
	if got := weighted.Interval(silent); got != 460*m || len(silent.History.Times) != 3 {
		t.Errorf("weighted, in silence: %v, of %v", got, silent.History.Times)
	}
	if got := weighted.Interval(after(0, 1, 0, 1)); got != h {
		t.Errorf("weighted, of one entry: %v", got)
	}
	if got := weighted.Interval(found(after(0, 50, 0, 50), 50)); got != 2*m {
		t.Errorf("weighted, all at once: %v", got)
	}
	if got := weighted.Interval(after(90*d, 3, 9*d, 3)); got != 31*d || got != weighted.Longest() {
		t.Errorf("weighted, after months: %v", got)
	}
	both := baseline.Both{A: polling.Fixed{Every: h}, B: polling.Fixed{Every: 3 * h},
		Of: func(a, b time.Duration) time.Duration { return (a + b) / 2 }}
	if both.Interval(p) != 2*h || both.First() != 2*h || both.Longest() != 2*h {
		t.Errorf("the mean of two: %v, %v, %v", both.Interval(p), both.First(), both.Longest())
	}
}

func TestNewsBlur(t *testing.T) {
	p := baseline.NewsBlur{Rand: rand.New(rand.NewPCG(1, 2))}
	for name, tc := range map[string]struct {
		poll  polling.Poll
		least time.Duration
		most  time.Duration
	}{
		"one a day":          {after(h, 40, d, 20), 45 * m, 45 * m * 5 / 4},
		"one in two days":    {after(h, 40, 2*d, 20), 3 * h, 3 * h * 5 / 4},
		"one a week":         {after(h, 40, 7*d, 20), 4 * h, 5 * h}, // 5 of 30: 5 h, bounded
		"29 in a month":      {after(h, 29, d, 20), 12 * m, 15 * m},
		"silent":             {after(31*d, 40, d, 20), 4 * h, 5 * h},
		"nothing ever":       {after(0, 0, 0, 0), 4 * h, 5 * h},
		"silent for a while": {after(200*d, 40, d, 20), 4 * h, 5 * h},
	} {
		low, high := 99*h, time.Duration(0)
		for range 500 {
			i := p.Interval(tc.poll)
			low, high = min(low, i), max(high, i)
		}
		// The bounds, and most of the way between them.
		if low < tc.least || high > tc.most || high-low < (tc.most-tc.least)*9/10 || high > p.Longest() {
			t.Errorf("%s: %v to %v, want %v to %v", name, low, high, tc.least, tc.most)
		}
	}
}

func TestLiteral(t *testing.T) {
	p := baseline.Literal{}
	for _, tc := range []struct {
		poll polling.Poll
		want time.Duration
	}{
		{polling.Poll{Listed: 10, New: 10}, 2 * h},
		{polling.Poll{Interval: 2 * h, Listed: 10, New: 3}, 4 * h},
		{polling.Poll{Interval: 2 * h, Listed: 10, New: 1}, h},
		{polling.Poll{Interval: 2 * h, Listed: 10, New: 2}, 2 * h},
		{polling.Poll{Interval: 2 * h}, h},
		{polling.Poll{Interval: 30 * m}, 30 * m},
		{polling.Poll{Interval: 16 * h, Listed: 1, New: 1}, 16 * h},
	} {
		if got := p.Interval(tc.poll); got != tc.want {
			t.Errorf("%+v: %v, want %v", tc.poll, got, tc.want)
		}
	}
}
