package actor

import (
	"math/rand/v2"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// Eclipser is a FreeRider that names only those of its own kind to callers that ask it for nodes (row 11 of `feedex lab
// attacks`), or the nodes that its master wants to be called (row 18 of `feedex lab attacks`).
func Eclipser(n *node.Node, rng *rand.Rand, named []protocol.NodeID) Participant {
	e := &eclipser{rng: rng, named: named, asked: make(map[uint64]protocol.NodeID)}
	e.habit = habit{node: n, change: func(effect node.Effect) node.Effect {
		if e.withhold(effect) {
			return nil
		}
		return e.answer(effect)
	}}
	return e
}

type eclipser struct {
	habit
	rng   *rand.Rand
	named []protocol.NodeID
	asked map[uint64]protocol.NodeID // callers that asked for nodes, by tag
}

// Step implements Participant.
func (e *eclipser) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	asked, _ := ev.(node.Asked)
	if _, ok := asked.Call.(protocol.GetNeighbors); ok {
		e.asked[asked.Tag] = asked.From
	}
	return e.habit.Step(dst, now, ev)
}

// answer names others than the node does.
func (e *eclipser) answer(effect node.Effect) node.Effect {
	r, ok := effect.(node.Respond)
	from, asked := e.asked[r.Tag]
	if !ok || !asked {
		return effect
	}
	delete(e.asked, r.Tag)
	if r.Fault != nil || len(e.named) == 0 {
		return r
	}
	var list protocol.NodeList
	for _, i := range e.rng.Perm(len(e.named))[:min(len(e.named), protocol.MaxNeighborList)] {
		if e.named[i] != from {
			list = append(list, e.named[i])
		}
	}
	r.Reply = list
	return r
}
