package courtesy

import (
	"time"

	"feedex/internal/when"
)

// How requests to a public host are rationed.
const (
	// Burst is how many requests may follow one another without a pause, where there were none for long.
	Burst = 5
	// FirstGap is the time between requests in the long run to a host that is not known yet, ShortestGap
	// and longestGap are what it may become.
	FirstGap    = 10 * time.Second
	ShortestGap = 2 * time.Second
	longestGap  = time.Hour
	// firstRest is for how long a host that refuses, and does not say, is left alone; longestRest is the
	// longest that this becomes.
	firstRest   = 10 * time.Minute
	longestRest = 24 * time.Hour

	// forgetting is the share of Gap and Rest that one answer takes off, as 1/forgetting.
	forgetting = 50
)

// A Budget is how many requests a host takes, as far as its answers have shown: a bucket of Burst tokens, one
// for each request, that gets a new one every Gap. A refusal (RFC 6585 §4) empties it and doubles the gap; each
// answer shortens the gap by a fiftieth, so that it takes 35 answers to make up for one refusal. The zero
// value is that of a host that is not known.
type Budget struct {
	// Gap is the time between requests in the long run; 0 is FirstGap.
	Gap time.Duration
	// Rest is for how long the host was left alone at its last refusal, less what was forgotten since.
	Rest time.Duration
	// Until is when the host may be asked again after a refusal.
	Until time.Time
	// Spent is when the bucket will be full again, if there are no more requests.
	Spent time.Time
	// Forbids says that the host answers 403 where others answer 429: it did, and after a rest no more.
	Forbids bool
}

// Ready is when the next request may be made; it may be past.
func (b Budget) Ready() time.Time {
	return when.Later(b.Spent.Add(-(Burst-1)*b.gap()), b.Until)
}

// Take makes a request now.
func (b *Budget) Take(now time.Time) {
	b.Spent = when.Later(b.Spent, now).Add(b.gap())
}

// Answered takes note of an answer that is no refusal.
func (b *Budget) Answered() {
	b.Gap = max(b.gap()-b.gap()/forgetting, ShortestGap)
	b.Rest -= b.Rest / forgetting
}

// Refused takes note that the host wants fewer requests, and is to be left alone for so long. Where it did not
// say, 0, it is left alone twice as long as the last time.
func (b *Budget) Refused(now time.Time, retryAfter time.Duration) {
	b.Gap = min(2*b.gap(), longestGap)
	if retryAfter <= 0 {
		retryAfter = min(max(2*b.Rest, firstRest), longestRest)
	}
	b.Rest = min(retryAfter, longestRest)
	b.Until = when.Later(b.Until, now.Add(retryAfter))
	b.Spent = when.Later(b.Spent, b.Until.Add((Burst-1)*b.Gap))
}

// Learned reports whether there is anything to remember of the host beyond a restart: it is slower than one
// that is not known.
func (b Budget) Learned() bool { return b.Gap > FirstGap }

func (b Budget) gap() time.Duration {
	if b.Gap <= 0 {
		return FirstGap
	}
	return b.Gap
}
