package polling

import "time"

// Fixed polls a feed at one interval, whatever it publishes. It is what Paper §4.3 measures with, and
// what most readers do.
type Fixed struct {
	// Every is the time from one poll to the next. Default DefaultStart, range 1 s to 30 days. A
	// publisher that asks for more is given more by the node.
	Every time.Duration
}

// Interval is the fixed interval.
func (p Fixed) Interval(Poll) time.Duration { return p.First() }

// First is the fixed interval.
func (p Fixed) First() time.Duration {
	if p.Every <= 0 {
		return DefaultStart
	}
	return p.Every
}

// Longest is the fixed interval.
func (p Fixed) Longest() time.Duration { return p.First() }

// Validate reports a setting that is out of range as an ErrSetting.
func (p Fixed) Validate() error { return checkInterval("interval", p.Every) }
