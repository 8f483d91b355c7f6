package incentive

import "time"

const (
	// DefaultGifts is the amount that a node gives away in an hour, in bytes: 10 MB within a day.
	DefaultGifts = 10_000_000 / 24
	// DefaultGift is how much of it one address may have within an hour.
	DefaultGift = 1_000_000
	// savedHours is how many hours' gifts may be given at once, after a time in which nobody asked.
	savedHours = 24
	// maxGifted bounds to how many holders something is given within an hour.
	maxGifted = 10_000
)

// Gifts bounds what a node gives to nodes that have no account with it, or whose account allows no more.
//
// Paper §3.6: "C needs to find either an altruistic S that unconditionally uploads to C or a circular dependency of
// requests."
type Gifts struct {
	hourly, each int64 // bytes an hour
	left         int64 // bytes, up to savedHours
	at           time.Time
	hour         int64            // since 1970
	given        map[Holder]int64 // within that hour
}

// NewGifts returns what may be given away by c, all of it still there.
func NewGifts(c Config) *Gifts {
	hourly, each := c.Gifts, c.Gift
	if hourly == 0 {
		hourly = DefaultGifts
	}
	if each == 0 {
		each = DefaultGift
	}
	hourly, each = max(hourly, 0), max(each, 0)
	return &Gifts{hourly: hourly, each: each, left: hourly * savedHours, given: make(map[Holder]int64)}
}

// Left is how many bytes the holder may still be given at now.
func (g *Gifts) Left(now time.Time, h Holder) int64 {
	g.rollOver(now)
	if _, ok := g.given[h]; !ok && len(g.given) >= maxGifted {
		return 0
	}
	return max(0, min(g.left, g.each-g.given[h]))
}

// Give counts bytes that the holder was given.
func (g *Gifts) Give(now time.Time, h Holder, bytes int64) {
	g.rollOver(now)
	if bytes > 0 {
		g.left -= bytes
		g.given[h] += bytes
	}
}

// rollOver adds what the time since the last one brings. A clock that went back brings nothing.
func (g *Gifts) rollOver(now time.Time) {
	if hour := now.Unix() / 3600; hour != g.hour {
		g.hour = hour
		clear(g.given)
	}
	if g.at.IsZero() {
		g.at = now
	}
	passed := min(now.Sub(g.at), savedHours*time.Hour)
	if fresh := int64(float64(g.hourly) * passed.Hours()); fresh > 0 {
		g.left, g.at = min(g.left+fresh, g.hourly*savedHours), now
	}
}
