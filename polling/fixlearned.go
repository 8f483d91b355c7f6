package polling

import "time"

// FixLearned polls a feed at the mean interval between the entries of its first document, and never
// learns more (Urbansky §3.2). The zero value polls within the range of Urbansky.
type FixLearned struct{ Range }

// Interval is the interval that the first poll has shown, or an hour where there was none.
func (f FixLearned) Interval(p Poll) time.Duration {
	if u, known := meanGap(p.History.window()); known && p.Interval <= 0 {
		return f.clamp(u)
	}
	return f.keep(p)
}
