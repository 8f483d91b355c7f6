package node

import (
	"time"

	"feedex/incentive"
)

const (
	// banFor is how long a neighbor that gave way to another is not taken back.
	banFor = time.Hour
	// connectsAnHour is how many connects of one holder an hour are not a storm.
	connectsAnHour = 20
)

// bans are the holders that were sent away and stay out for a while, and how often each has connected within the hour.
type bans struct {
	until    map[incentive.Holder]time.Time // when they end
	hour     int64                          // since 1970, of connects
	connects map[incentive.Holder]int
}

func newBans() bans {
	return bans{until: make(map[incentive.Holder]time.Time), connects: make(map[incentive.Holder]int)}
}

// maxBans bounds the holders that are remembered of either kind.
const maxBans = 4096

// countConnect counts a connect, and reports whether there were too many of this holder within the hour.
func (b *bans) countConnect(now time.Time, h incentive.Holder) bool {
	if hour := now.Unix() / 3600; hour != b.hour || len(b.connects) >= maxBans {
		b.hour = hour
		clear(b.connects)
	}
	b.connects[h]++
	return b.connects[h] > connectsAnHour
}

// banned reports whether the holder was sent away lately.
func (b *bans) banned(now time.Time, h incentive.Holder) bool {
	until, ok := b.until[h]
	if ok && !now.Before(until) {
		delete(b.until, h)
		return false
	}
	return ok
}

// ban keeps the holder out for a while.
func (b *bans) ban(now time.Time, h incentive.Holder) {
	if len(b.until) >= maxBans {
		clear(b.until)
	}
	b.until[h] = now.Add(banFor)
}
