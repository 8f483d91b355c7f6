package incentive

import (
	"slices"
	"time"
)

const (
	day = 24 * time.Hour
	// capFactor and capFree say how many entries of one feed earn for one neighbor in a day: twice as
	// many as the feed brings, and a few more.
	capFactor = 2
	capFree   = 5
	// maxSharers bounds how many are known to share one feed: neighbors, and those with keys at an address as one.
	maxSharers = 256
)

// A dailyCap is how much of one feed comes in, and what its sharers earned with it today. Without it a
// neighbor could earn as much as it likes by inventing entries, or by splitting them.
//
// The feed's own rate, as far as one neighbor is concerned, is what came in the last seven days by ways that do not
// lead over it, together with what own polls confirmed of the rest: a flood must not raise the cap that is to hold it.
// Offers of the same by others say nothing, for they may have it from the flooder.
type dailyCap struct {
	first   int64 // the day of the first entry
	total   week  // entries stored
	sharers []sharer
	brought []bringer // of few of the sharers: polls confirm most entries within the hour
	free    int       // capFree
}

// A sharer is one neighbor's part in a feed. There is one for each neighbor and feed, which can be tens of thousands.
type sharer struct {
	holder uint32 // its number
	today  int32  // the day of earned
	earned int32  // entries
}

// A bringer is a sharer by way of which entries came first that no own poll confirmed.
type bringer struct {
	holder uint32
	week   week
}

// known is h's part, nil where it has none. The pointer is good until a part is made.
func (p *dailyCap) known(h uint32) *sharer {
	for i := range p.sharers {
		if p.sharers[i].holder == h {
			return &p.sharers[i]
		}
	}
	return nil
}

// sharer is h's part, which may be new.
func (p *dailyCap) sharer(h uint32) *sharer {
	if s := p.known(h); s != nil {
		return s
	}
	if len(p.sharers) >= maxSharers {
		p.forget(p.sharers[0].holder)
		p.sharers = slices.Delete(p.sharers, 0, 1)
	}
	p.sharers = append(p.sharers, sharer{holder: h})
	return &p.sharers[len(p.sharers)-1]
}

// broughtBy returns the entries that h brought, nil for none. The pointer is good until somebody else brings something.
func (p *dailyCap) broughtBy(h uint32) *week {
	for i := range p.brought {
		if p.brought[i].holder == h {
			return &p.brought[i].week
		}
	}
	return nil
}

// bring counts entries that came by way of h.
func (p *dailyCap) bring(today int64, entries int, h uint32) {
	if entries == 0 {
		return
	}
	w := p.broughtBy(h)
	if w == nil {
		p.brought = slices.DeleteFunc(p.brought, func(b bringer) bool { return b.week.sum(today) == 0 })
		p.brought = append(p.brought, bringer{holder: h})
		w = &p.brought[len(p.brought)-1].week
	}
	w.add(today, entries)
}

// forget drops what h brought.
func (p *dailyCap) forget(h uint32) {
	p.brought = slices.DeleteFunc(p.brought, func(b bringer) bool { return b.holder == h })
}

// stored counts entries that came from h, or from an own poll where h is nobody.
func (p *dailyCap) stored(today int64, entries int, h uint32) {
	if p.total.sum(today) == 0 {
		p.first = today
	}
	p.total.add(today, entries)
	if h != nobody {
		p.sharer(h)
		p.bring(today, entries, h)
	}
}

// passed counts entries that came by way of h, if it shares the feed.
func (p *dailyCap) passed(today int64, entries int, h uint32) {
	if p.known(h) != nil {
		p.bring(today, entries, h)
	}
}

// confirmed counts entries that came by way of h, if it shares the feed, and that an own poll, or a way apart, has
// shown.
func (p *dailyCap) confirmed(today int64, entries int, h uint32) {
	if w := p.broughtBy(h); w != nil {
		w.take(today, entries)
	}
}

// earn is how many of the entries still earn for h today, and counts them.
func (p *dailyCap) earn(today int64, entries int, h uint32) int {
	s := p.sharer(h)
	if today > int64(s.today) {
		s.today, s.earned = int32(today), 0
	}
	entries = max(min(entries, p.cap(today, s)-int(s.earned)), 0)
	s.earned += int32(entries)
	return entries
}

// cap is how many entries may earn for the sharer in a day.
func (p *dailyCap) cap(today int64, s *sharer) int {
	days := min(max(today-p.first+1, 1), int64(len(p.total.count)))
	others := p.total.sum(today)
	if w := p.broughtBy(s.holder); w != nil {
		others = max(others-w.sum(today), 0)
	}
	return capFactor*others/int(days) + p.free
}

// A week counts by day and forgets what is older than seven days.
type week struct {
	last  int32 // the latest day
	count [7]int32
}

// add counts n more today.
func (w *week) add(today int64, n int) {
	w.rollOver(today)
	*w.on(int64(w.last)) += int32(n)
}

// take counts n less, the latest days first.
func (w *week) take(today int64, n int) {
	w.rollOver(today)
	for d := range int64(len(w.count)) {
		c := w.on(int64(w.last) + int64(len(w.count)) - d)
		less := min(n, int(*c))
		*c -= int32(less)
		n -= less
	}
}

// sum is the count of the week that ends today.
func (w *week) sum(today int64) int {
	w.rollOver(today)
	sum := 0
	for _, c := range w.count {
		sum += int(c)
	}
	return sum
}

// rollOver clears the days that passed since the latest. A clock that is set back changes nothing.
func (w *week) rollOver(today int64) {
	if today-int64(w.last) > int64(len(w.count)) {
		w.last = int32(today) - int32(len(w.count))
	}
	for int64(w.last) < today {
		w.last++
		*w.on(int64(w.last)) = 0
	}
}

// on is the count of a day.
func (w *week) on(d int64) *int32 { return &w.count[d%int64(len(w.count))] }

// dayOf numbers the days, in UTC.
func dayOf(t time.Time) int64 { return max(t.Unix()/int64(day/time.Second), 0) }
