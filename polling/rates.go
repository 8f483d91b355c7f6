package polling

import "math"

// How much evidence a profile starts with: so many entries, as if published at the mean rate, in each hour
// of the day, in each day of the week, and lately. With fewer it follows chance, with more it learns late.
const (
	hourEvidence   = 3
	dayEvidence    = 10
	latelyEvidence = 6
)

// Spans in seconds.
const (
	hour   = 60 * 60
	day    = 24 * hour
	week   = 7 * day
	lately = day // how far that goes back
)

// rates say how often a feed may be expected to publish: its mean rate, how much more or less is usual at that
// hour of the day and on that day of the week, UTC, and how much more or less it was lately.
type rates struct {
	mean   float64 // entries a second
	hour   [24]float64
	day    [7]float64 // from Thursday on, as Unix time does
	lately float64
}

// ratesOf learns the rates from when entries were published until now, ascending, of which there is one at
// least.
func ratesOf(times []int64, now int64) rates {
	begin := times[0]
	span := max(now-begin, hour)
	r := rates{mean: (float64(len(times)) - .5) / float64(span)} // the first begins the span

	// For how long each hour and each day was watched: in whole weeks, and in the rest of one.
	weeks := float64(span / week)
	var watchedHour, publishedHour [24]float64
	var watchedDay, publishedDay [7]float64
	for h := range watchedHour {
		watchedHour[h] = weeks * 7 * hour
	}
	for d := range watchedDay {
		watchedDay[d] = weeks * day
	}
	for t, end := begin, begin+span%week; t < end; {
		next := min(end, nextHour(t))
		watchedHour[hourOf(t)] += float64(next - t)
		watchedDay[dayOf(t)] += float64(next - t)
		t = next
	}
	since, latest := now-min(span, lately), 0.0
	for _, t := range times {
		publishedHour[hourOf(t)]++
		publishedDay[dayOf(t)]++
		if t > since {
			latest++
		}
	}
	for h := range r.hour {
		r.hour[h] = share(publishedHour[h], float64(r.mean*watchedHour[h]), hourEvidence)
	}
	for d := range r.day {
		r.day[d] = share(publishedDay[d], float64(r.mean*watchedDay[d]), dayEvidence)
	}
	r.lately = 1
	expected := 0.0
	for t := since; t < now; {
		next := min(now, nextHour(t))
		expected += float64(r.at(t) * float64(next-t))
		t = next
	}
	r.lately = share(latest, expected, latelyEvidence)
	return r
}

// share is the number published as a share of the number to be expected, with evidence that it is 1.
func share(published, expected, evidence float64) float64 {
	return (published + evidence) / (expected + evidence)
}

// at is the rate to be expected at t, in entries a second. It is the same until the next full hour, and
// above 0.
func (r *rates) at(t int64) float64 {
	return r.mean * r.lately * r.hour[hourOf(t)] * r.day[dayOf(t)]
}

// never is more seconds than any interval has.
const never = math.MaxInt64

// until is in how many seconds from now the entries expected since then have waited for target seconds in all,
// and in how many there are full of them; never where that is after longest.
func (r *rates) until(now, longest int64, target, full float64) (waited, filled int64) {
	waited, filled = never, never
	// From full hour to full hour, in each of which the rate is constant: n entries are expected by
	// then, and have waited for sum seconds.
	n, sum := 0.0, 0.0
	for t := now; t < now+longest && max(waited, filled) == never; {
		rate, next := r.at(t), nextHour(t)
		whole := float64(next - t)
		// After x seconds more it is sum + n*x + rate*x*x/2, and n + rate*x.
		enough := (math.Sqrt(float64(n*n)+float64(2*rate*(target-sum))) - n) / rate
		if waited == never && enough <= whole {
			waited = t - now + int64(enough)
		}
		if x := (full - n) / rate; filled == never && x <= whole {
			filled = t - now + int64(x)
		}
		sum += float64(n*whole) + float64(rate*whole*whole/2)
		n += float64(rate * whole)
		t = next
	}
	return waited, filled
}

// hourOf is the hour of the day at t, in Unix seconds.
func hourOf(t int64) int64 { return floorDiv(t, hour) - 24*floorDiv(t, day) }

// dayOf is the day of the week at t, where 0 is Thursday.
func dayOf(t int64) int64 { return floorDiv(t, day) - 7*floorDiv(t, week) }

// nextHour is the first full hour after t.
func nextHour(t int64) int64 { return (floorDiv(t, hour) + 1) * hour }

// floorDiv is a/b, rounded down, for b above 0.
func floorDiv(a, b int64) int64 {
	if q := a / b; a%b >= 0 {
		return q
	} else {
		return q - 1
	}
}
