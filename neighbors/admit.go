package neighbors

import (
	"errors"
	"net/netip"

	"feedex/feed"
	"feedex/protocol"
)

// Reasons for which Admit declines.
var (
	ErrFull    = errors.New("has all the neighbors it can serve")
	ErrCrowded = errors.New("has two neighbors on that network already")
)

// maxPerNetwork is the most neighbors on one network: an attacker with one host, or one small network,
// must not own all places.
const maxPerNetwork = 2

// Admit says why id cannot become a neighbor now, or nil. One that is a neighbor already may connect
// again.
func (t *Table) Admit(id protocol.NodeID) error {
	if t.byID[id] != nil {
		return nil
	}
	if t.crowded(id) {
		return ErrCrowded // before ErrFull: no place that somebody gives up is for it either
	}
	if len(t.list) >= t.config.Max {
		return ErrFull
	}
	return nil
}

// crowded reports whether the network of id has all the places that one network gets.
func (t *Table) crowded(id protocol.NodeID) bool {
	if t.config.AllowLocal && !feed.PublicAddr(id.Addr()) {
		return false
	}
	same := 0
	for _, n := range t.list {
		if Network(n.ID.Addr()) == Network(id.Addr()) {
			same++
		}
	}
	return same >= maxPerNetwork
}

// Network is the network that stands for one owner as far as addresses tell: /24 for IPv4, /48 for
// IPv6.
func Network(a netip.Addr) netip.Prefix {
	bits := 48
	if a.Is4() {
		bits = 24
	}
	p, _ := a.Prefix(bits)
	return p
}
