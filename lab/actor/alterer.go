package actor

import (
	"slices"
	"strings"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Alterer passes on what others bring with another text, under the ids that the entries have (row 5 of
// `feedex lab attacks`). Those of one name write the same, and so stand by each other.
func Alterer(n *node.Node, name string) Participant {
	a := &alterer{mark: altered + name + ")", false: make(map[protocol.DID]protocol.DID)}
	a.habit = habit{node: n, change: a.alter}
	return a
}

type alterer struct {
	habit
	mark  string
	false map[protocol.DID]protocol.DID // by the true one, of what was brought
}

const altered = " (altered by "

// Altered reports whether an Alterer had the entry.
func Altered(e *feed.Entry) bool { return strings.Contains(e.Title, altered) }

// Step implements Participant.
func (a *alterer) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	asked, _ := ev.(node.Asked)
	if put, ok := asked.Call.(protocol.PutEntries); ok {
		a.false[put.Bundle.DID] = a.altered(put.Bundle).DID
	}
	return a.habit.Step(dst, now, ev)
}

// alter lies where it offers and where it delivers.
func (a *alterer) alter(e node.Effect) node.Effect {
	call, ok := e.(node.Call)
	if !ok {
		return e
	}
	switch c := call.Call.(type) {
	case protocol.CheckDID:
		if did, ok := a.false[c.DID]; ok {
			c.DID = did
		}
		call.Call = c
	case protocol.CheckDIDs:
		dids := slices.Clone(c.DIDs)
		for i := range dids {
			if did, ok := a.false[dids[i]]; ok {
				dids[i] = did
			}
		}
		call.Call = protocol.CheckDIDs{DIDs: dids}
	case protocol.PutEntries:
		if _, ok := a.false[c.Bundle.DID]; ok {
			call.Call = protocol.PutEntries{Bundle: a.altered(c.Bundle)}
		}
	}
	return call
}

func (a *alterer) altered(b *protocol.Bundle) *protocol.Bundle {
	entries := slices.Clone(b.Entries)
	for i := range entries {
		if !Altered(&entries[i]) {
			entries[i].Title += a.mark
		}
	}
	other := protocol.NewBundle(b.Feed, entries)
	other.Path = b.Path
	return other
}
