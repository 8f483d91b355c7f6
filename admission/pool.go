// Package admission shares a bounded number of places among callers from many networks, so that none with many
// addresses keeps the others out: connections of a server, callers that wait to be called back, calls of a minute, the
// memory that long messages take.
//
// The shares are max-min fair (Bertsekas and Gallager, Data Networks, §6.5.2), by the tree of addresses: first among
// regions, then among the networks of a region, then among the hosts of a network. A caller that asks while all places
// are taken gets that of somebody who has more, and of their places the one that has kept us waiting for longest.
package admission

import (
	"net/netip"
	"time"
)

// A SharedPool has a bounded number of places. T is the type of the thing that a place is given to. The pool has no
// clock, and is not safe for concurrent use.
type SharedPool[T any] struct {
	capacity int
	patience time.Duration
	taken    int // of the capacity
	places   []*Place[T]
	holders  map[netip.Prefix]*holder
}

// A Place is one of a SharedPool, which somebody holds.
type Place[T any] struct {
	Of T

	weight  int // of the capacity
	waits   time.Time
	holders [levels]*holder
	at      int // in SharedPool.places, -1 where it is held no more
}

// A holder is a region, a network or a host that holds something.
type holder struct {
	prefix netip.Prefix
	weight int // of all its places
	places int
}

// NewSharedPool makes a pool of so many places. Among callers that hold equally much, one that has kept us waiting for
// longer than patience gives way to a newcomer.
func NewSharedPool[T any](capacity int, patience time.Duration) *SharedPool[T] {
	return &SharedPool[T]{capacity: capacity, patience: patience, holders: make(map[netip.Prefix]*holder)}
}

// Enter gives a place of some weight at now to a newcomer from an address, and we wait for it from then on. Places that
// were given up for it are held by nobody any more. Where the place is nil there is none: nobody has more, nor keeps us
// waiting.
func (p *SharedPool[T]) Enter(now time.Time, from netip.Addr, weight int, of T) (place *Place[T], gaveUp []*Place[T]) {
	place = &Place[T]{Of: of, waits: now, holders: p.holdersOf(from), at: -1}
	if gaveUp, ok := p.Grow(now, place, weight); ok {
		return place, gaveUp
	}
	return nil, nil
}

// Grow makes a place heavier, as Enter gives one, and reports whether that is possible; it stays as it is otherwise.
func (p *SharedPool[T]) Grow(now time.Time, place *Place[T], weight int) (gaveUp []*Place[T], ok bool) {
	held := place.at >= 0
	if held {
		p.remove(place)
	}
	before := place.weight
	place.weight += weight
	p.add(place)
	for p.taken > p.capacity {
		victim := p.victim(place)
		if victim == nil || !p.givesWay(now, victim, place) {
			for _, v := range gaveUp { // in vain
				p.add(v)
			}
			p.remove(place)
			if place.weight = before; held {
				p.add(place)
			}
			return nil, false
		}
		p.remove(victim)
		gaveUp = append(gaveUp, victim)
	}
	return gaveUp, true
}

// Leave gives a place back, and reports whether it was held until now.
func (p *SharedPool[T]) Leave(place *Place[T]) (held bool) {
	if held = place.at >= 0; held {
		p.remove(place)
	}
	return held
}

// Move has a place count for another address.
func (p *SharedPool[T]) Move(place *Place[T], from netip.Addr) {
	held := place.at >= 0
	if held {
		p.remove(place)
	}
	if place.holders = p.holdersOf(from); held {
		p.add(place)
	}
}

// Len is how many places are held.
func (p *SharedPool[T]) Len() int { return len(p.places) }

// Await says that we wait for the place's holder since a time.
func (pl *Place[T]) Await(since time.Time) { pl.waits = since }

// Serve says that the holder waits for us.
func (pl *Place[T]) Serve() { pl.waits = time.Time{} }

// Waits is since when we wait for the holder, the zero time where it waits for us.
func (pl *Place[T]) Waits() time.Time { return pl.waits }

// victim is the place that gives way where one must: of the region, network and host that hold most the one that keeps
// us waiting for longest. It is nil where there is none but newcomer.
func (p *SharedPool[T]) victim(newcomer *Place[T]) (worst *Place[T]) {
	for _, pl := range p.places {
		if pl != newcomer && (worst == nil || pl.before(worst)) {
			worst = pl
		}
	}
	return worst
}

// before reports whether a place goes before another one.
func (pl *Place[T]) before(other *Place[T]) bool {
	for i, h := range pl.holders {
		if o := other.holders[i]; h.weight != o.weight {
			return h.weight > o.weight
		}
	}
	switch {
	case pl.waits.IsZero() || other.waits.IsZero():
		return !pl.waits.IsZero()
	default:
		return pl.waits.Before(other.waits)
	}
}

// givesWay reports whether a place may be given up for another: by a caller that holds more at the first level at which
// the two are different, and where they hold the same, or are one host, by one that keeps us waiting for too long.
func (p *SharedPool[T]) givesWay(now time.Time, victim, newcomer *Place[T]) bool {
	for i, h := range victim.holders {
		if o := newcomer.holders[i]; h != o && h.weight != o.weight {
			return h.weight > o.weight
		} else if h != o {
			break
		}
	}
	return !victim.waits.IsZero() && now.Sub(victim.waits) >= p.patience
}

func (p *SharedPool[T]) holdersOf(a netip.Addr) (all [levels]*holder) {
	for i, prefix := range prefixes(a) {
		if all[i] = p.holders[prefix]; all[i] == nil {
			all[i] = &holder{prefix: prefix}
		}
	}
	return all
}

func (p *SharedPool[T]) add(pl *Place[T]) {
	pl.at = len(p.places)
	p.places = append(p.places, pl)
	p.taken += pl.weight
	for i, h := range pl.holders {
		if known := p.holders[h.prefix]; known != nil {
			h, pl.holders[i] = known, known
		}
		p.holders[h.prefix] = h
		h.weight += pl.weight
		h.places++
	}
}

func (p *SharedPool[T]) remove(pl *Place[T]) {
	last := p.places[len(p.places)-1]
	p.places[pl.at], last.at = last, pl.at
	p.places[len(p.places)-1] = nil
	p.places = p.places[:len(p.places)-1]
	pl.at = -1
	p.taken -= pl.weight
	for _, h := range pl.holders {
		h.weight -= pl.weight
		if h.places--; h.places == 0 {
			delete(p.holders, h.prefix)
		}
	}
}
