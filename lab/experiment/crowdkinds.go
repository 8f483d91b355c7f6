package experiment

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"feedex/lab"
	"feedex/lab/actor"
	"feedex/node"
	"feedex/protocol"
)

// Nodes that take without giving poll nothing: what they have is what neighbors brought.
func pollsNothing(_ *crowd, _ *lab.World, _ int, m *lab.Member) { m.NoPolls = true }

func freeRides(_ int, n *node.Node, _ *rand.Rand) actor.Participant { return actor.FreeRider(n) }

var (
	freeRiders = kind{name: "free riders", member: pollsNothing, act: freeRides}
	echoers    = kind{name: "echoers", member: pollsNothing,
		act: func(_ int, n *node.Node, _ *rand.Rand) actor.Participant { return actor.Echoer(n, actor.None) }}
	// Of those with excuses each has one of its own.
	excusers = kind{name: "echoers with excuses", member: pollsNothing,
		act: func(i int, n *node.Node, _ *rand.Rand) actor.Participant {
			return actor.Echoer(n, actor.Lost+actor.Excuse(i)%(actor.Excuses-actor.Lost))
		}}
	breakers = kind{name: "breakers", member: pollsNothing,
		act: func(_ int, n *node.Node, _ *rand.Rand) actor.Participant { return actor.Breaker(n) }}
	liars = kind{name: "liars", act: freeRides, member: func(_ *crowd, w *lab.World, _ int, m *lab.Member) {
		m.NoPolls, m.Feeds = true, everything(w)
	}}
	// Rejoiners leave every hour and come back on another port, or at another address of their /24.
	portRejoiners = kind{name: "rejoiners, port", member: pollsNothing, act: freeRides,
		joined: rejoin(func(id protocol.NodeID, count int) protocol.NodeID {
			return protocol.NewNodeID(id.Addr(), protocol.DefaultPort+uint16(count))
		})}
	addressRejoiners = kind{name: "rejoiners, address", member: pollsNothing, act: freeRides,
		joined: rejoin(func(id protocol.NodeID, count int) protocol.NodeID {
			a := id.Addr().As4()
			a[3] = byte(7 + count)
			return protocol.NewNodeID(netip.AddrFrom4(a), id.Port())
		})}
)

// forgers invent so many entries an hour each, from a time on.
func forgers(anHour float64, from time.Time) kind {
	return kind{name: fmt.Sprintf("forgers, %g/h", anHour),
		act: func(i int, n *node.Node, _ *rand.Rand) actor.Participant {
			return actor.Forger(n, fmt.Sprintf("forger %d", i), anHour, from)
		}}
}

const (
	// rejoinEvery is how often a rejoiner leaves, and awayFor how long it stays away.
	rejoinEvery = time.Hour
	awayFor     = 30 * time.Second
)

// rejoin has a host leave and return at another address, which next gives, hour after hour.
func rejoin(next func(id protocol.NodeID, count int) protocol.NodeID) func(*crowd, *lab.World, *lab.Host, *rand.Rand) {
	return func(_ *crowd, w *lab.World, h *lab.Host, rng *rand.Rand) {
		first, count := h.ID, 0
		var leave func()
		leave = func() {
			h.Leave()
			w.At(w.Now().Add(awayFor), func() {
				count++
				if err := h.Move(next(first, count)); err != nil {
					panic(err) // nobody else is in that network
				}
				if err := h.Return(); err != nil {
					panic(err) // it started before
				}
				w.At(w.Now().Add(rejoinEvery), leave)
			})
		}
		w.At(w.Now().Add(within(rng, rejoinEvery)), leave)
	}
}
