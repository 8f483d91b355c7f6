package lan

import (
	"net/netip"
	"slices"
	"time"

	"feedex/protocol"
)

const (
	// maxNodes bounds the nodes that are remembered, and how many new ones are within an hour; maxPerAddress those at
	// one address.
	maxNodes      = 64
	maxPerAddress = 4
	// A node is asked for again, unless it was heard, when parts of its life are over, in percent (RFC 6762 §5.2).
	firstAgain, nextAgain, lastAgain = 80, 5, 95
)

// A knownNode announced itself.
type knownNode struct {
	announced
	id      protocol.NodeID
	expires time.Time
	again   time.Duration // the part of its life after which it is asked for, in percent
}

// askAt is when the node is to be asked for again.
func (k *knownNode) askAt() time.Time { return k.expires.Add(-k.life * (100 - k.again) / 100) }

// knownNodes are those that announced themselves.
type knownNodes struct {
	list []knownNode
	hour int64 // since 1970, of new ones
	new  int
}

// heard takes in what a node says of itself from an address, and reports whether that changed who there is, and whether
// there was no room for it.
func (s *knownNodes) heard(now time.Time, from netip.Addr, a announced) (changed, full bool) {
	id := protocol.NewNodeID(from, a.port)
	at := slices.IndexFunc(s.list, func(k knownNode) bool { return k.id == id })
	switch {
	case a.life <= 0: // goodbye
		if at < 0 || s.list[at].key != a.key {
			return false, false
		}
		s.list = slices.Delete(s.list, at, at+1)
		return true, false
	case at >= 0:
		changed = s.list[at].key != a.key
		s.list[at] = knownNode{a, id, now.Add(a.life), firstAgain}
		return changed, false
	}
	if hour := now.Unix() / 3600; hour != s.hour {
		s.hour, s.new = hour, 0
	}
	there := 0
	for i := range s.list {
		if s.list[i].id.Addr() == from {
			there++
		}
	}
	if len(s.list) >= maxNodes || s.new >= maxNodes || there >= maxPerAddress {
		return false, true
	}
	s.new++
	s.list = append(s.list, knownNode{a, id, now.Add(a.life), firstAgain})
	return true, false
}

// expire forgets the nodes that were not heard for their life, and those for which gone holds.
func (s *knownNodes) expire(now time.Time, gone func(netip.Addr) bool) (changed bool) {
	before := len(s.list)
	s.list = slices.DeleteFunc(s.list, func(k knownNode) bool { return !now.Before(k.expires) || gone(k.id.Addr()) })
	return len(s.list) != before
}

// doubt has the nodes be forgotten soon, unless they are heard again: they may have gone unheard.
func (s *knownNodes) doubt(now time.Time) {
	for i := range s.list {
		if soon := now.Add(hostLife); soon.Before(s.list[i].expires) {
			s.list[i].expires = soon
		}
	}
}

// fading reports whether one on the network is to be asked for again, and notes that it is.
func (s *knownNodes) fading(now time.Time, on *lanNetwork) (ask bool) {
	for i := range s.list {
		k := &s.list[i]
		for k.again <= lastAgain && on.has(k.id.Addr()) && !now.Before(k.askAt()) {
			k.again += nextAgain
			ask = true
		}
	}
	return ask
}

// fresh are those on a network that need not answer a query, with what is left of their life.
func (s *knownNodes) fresh(now time.Time, on *lanNetwork) (list []announced) {
	for _, k := range s.list {
		if left := k.expires.Sub(now); on.has(k.id.Addr()) && left > k.life/2 {
			k.life = left
			list = append(list, k.announced)
		}
	}
	return list
}

// next is when one of them is to be asked for again or forgotten; the zero time for never.
func (s *knownNodes) next() (at time.Time) {
	for i := range s.list {
		k := &s.list[i]
		due := k.expires
		if k.again <= lastAgain {
			due = k.askAt()
		}
		if at.IsZero() || due.Before(at) {
			at = due
		}
	}
	return at
}
