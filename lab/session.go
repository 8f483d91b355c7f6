package lab

import (
	"time"

	"feedex/node"
)

// A Session is one stay of a host in the network. Its times count from the World's start.
type Session struct {
	From, To time.Duration // To is Never while it lasts
	Served   time.Duration // when it first had EnoughNeighbors, Never if it had not
}

// EnoughNeighbors is with how many a node looks for no more. Paper Table 2, minimum neighbors.
const EnoughNeighbors = 8

// Sessions are the host's stays, in order.
func (h *Host) Sessions() []Session { return h.sessions }

// Links is how many neighbors the host has now, by what its node tells.
func (h *Host) Links() int { return h.links }

// noted takes in what the node tells.
func (h *Host) noted(note node.Note) {
	switch note := note.(type) {
	case node.Arrived:
		h.arrived(note)
	case node.Linked:
		h.links++
		if s := &h.sessions[len(h.sessions)-1]; h.links >= EnoughNeighbors && s.Served == never {
			s.Served = h.world.now
		}
	case node.Unlinked:
		h.links--
	}
}
