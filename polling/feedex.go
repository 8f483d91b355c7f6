package polling

import (
	"errors"
	"fmt"
	"time"
)

// Defaults of FeedEx. The bounds are the shortest and the longest interval of the paper's evaluation
// (Paper §4.3), where nodes that polled every 16 hours and exchanged still saw more than 90% of all
// entries; 30 minutes is also about the least that publishers put up with. The start reaches both
// bounds by whole steps: two halvings down, three doublings up.
const (
	DefaultMin   = 30 * time.Minute
	DefaultMax   = 16 * time.Hour
	DefaultStart = 2 * time.Hour
	// DefaultTarget is the target for the share of entries in a document that are new. At a fifth
	// the feed may publish five times as fast before an entry comes and goes between two polls.
	DefaultTarget = 0.2
)

// Range of all intervals that may be set.
const (
	shortest = time.Second
	longest  = 30 * 24 * time.Hour
)

// ErrSetting is wrapped by the errors of Validate.
var ErrSetting = errors.New("setting out of range")

// FeedEx adapts the interval to the feed (Paper §3.3): it halves it where more of the document is
// new than the target wants, and doubles it where less is. It comes to rest around the interval in
// which the target's share of the document is published. The zero value polls by the defaults.
//
// Differs from the paper: its text halves the interval if the freshness rate f is below the target f_t and doubles it
// if f is above. This rule contradicts its own intuition two paragraphs earlier, "if fetching is too frequent, a
// fetched document contains few new entries. On the other hand, if fetching is too infrequent, most of the entries are
// likely to be new", and has no point of rest: a shorter interval makes f smaller still. A quiet feed would end at Min,
// polled without end for nothing, a busy one at Max, its entries lost. We follow the intuition. Hence it is a target
// close to 0, not to 1, that brings new entries early.
type FeedEx struct {
	// TargetFreshness is f_t, the wanted share of new entries in a document. Default
	// DefaultTarget, range 0 to 1; 0 means the default.
	TargetFreshness float64
	// Min and Max bound the interval: T_min and T_max. Defaults DefaultMin and DefaultMax, or the
	// other bound if that crosses them; range 1 s to 30 days, Min at most Max.
	Min, Max time.Duration
	// Start is the interval of a feed that was never polled. Default DefaultStart, or the nearer of
	// the range; range Min to Max.
	Start time.Duration
}

// Interval halves, doubles or keeps the interval that led to the poll. A poll that found nothing
// changed (HTTP 304) has f = 0. The first poll, to which everything is new, says nothing about the
// feed and is followed by First.
func (p FeedEx) Interval(poll Poll) time.Duration {
	p = p.withDefaults()
	if poll.Interval <= 0 {
		return p.Start
	}
	t := p.clamp(poll.Interval)
	switch f := freshness(poll); {
	case f > p.TargetFreshness:
		t = max(t/2, p.Min)
	case f < p.TargetFreshness && t > p.Max/2:
		t = p.Max
	case f < p.TargetFreshness:
		t *= 2
	}
	return t
}

// First is the interval to start from.
func (p FeedEx) First() time.Duration { return p.withDefaults().Start }

// Longest is Max.
func (p FeedEx) Longest() time.Duration { return p.withDefaults().Max }

// freshness is the share of new entries in the document.
func freshness(poll Poll) float64 {
	if poll.Listed <= 0 {
		return 0
	}
	return float64(poll.New) / float64(poll.Listed)
}

// Validate reports the first setting that is out of range as an ErrSetting.
func (p FeedEx) Validate() error {
	// The comparison is false for a NaN.
	if !(p.TargetFreshness >= 0 && p.TargetFreshness <= 1) {
		return fmt.Errorf("%w: target freshness is %v, want 0 to 1", ErrSetting, p.TargetFreshness)
	}
	for _, field := range []struct {
		name  string
		value time.Duration
	}{{"shortest interval", p.Min}, {"longest interval", p.Max}, {"first interval", p.Start}} {
		if err := checkInterval(field.name, field.value); err != nil {
			return err
		}
	}
	given := p
	p = p.withDefaults()
	switch {
	case given.Min > p.Max:
		return fmt.Errorf("%w: shortest interval is %v, longest is %v", ErrSetting, given.Min, p.Max)
	case given.Start != 0 && given.Start != p.Start:
		return fmt.Errorf("%w: first interval is %v, want %v to %v", ErrSetting, given.Start, p.Min, p.Max)
	}
	return nil
}

// withDefaults is the policy with its zero fields at their defaults, and with no setting that could
// make an interval zero. Where the range cross, Max holds.
func (p FeedEx) withDefaults() FeedEx {
	p.TargetFreshness = orDefault(p.TargetFreshness, DefaultTarget)
	p.Max = orDefault(p.Max, max(DefaultMax, p.Min))
	p.Min = min(orDefault(p.Min, DefaultMin), p.Max)
	p.Start = p.clamp(orDefault(p.Start, DefaultStart))
	return p
}

func orDefault[T float64 | time.Duration](value, fallback T) T {
	if value > 0 {
		return value
	}
	return fallback
}

// clamp brings an interval within the range.
func (p FeedEx) clamp(t time.Duration) time.Duration { return min(max(t, p.Min), p.Max) }

// checkInterval reports an interval that is set, but out of range.
func checkInterval(name string, t time.Duration) error {
	if t != 0 && (t < shortest || t > longest) {
		return fmt.Errorf("%w: %s is %v, want %v to %v", ErrSetting, name, t, shortest, longest)
	}
	return nil
}
