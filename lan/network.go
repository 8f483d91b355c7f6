package lan

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"time"

	"feedex/feed"
)

// A lanNetwork is one that this machine is on, by an interface with an address that is not public.
type lanNetwork struct {
	index int          // of the interface
	at    netip.Prefix // our address there, and how long the network's is

	unsaid   int           // announcements of our own accord that are yet to be made
	sayAt    time.Time     // when the next is
	said     time.Time     // when we announced ourselves last
	answerAt time.Time     // when a query is to be answered; zero for none
	asked    time.Time     // when we queried last
	askAt    time.Time     // when the next query is due
	pause    time.Duration // from that to the one after
}

const (
	maxNetworks = 16
	// sayings is how often a node announces itself where it comes to a network (RFC 6762 §8.3).
	sayings = 2
	// leastPause is the least time between two announcements there (§6), and two queries, of which each next is after
	// twice the time, up to mostPause (§5.2).
	leastPause = time.Second
	mostPause  = time.Hour
	// Who answers, or comes to a network, waits for a moment between these (§6, §5.2).
	leastDelay, mostDelay = 20 * time.Millisecond, 120 * time.Millisecond
)

// delay is a moment that is not that of others.
func delay() time.Duration { return leastDelay + rand.N(mostDelay-leastDelay) }

// newNetwork is a network to which the node just came.
func newNetwork(now time.Time, index int, at netip.Prefix) *lanNetwork {
	first := now.Add(delay())
	return &lanNetwork{index: index, at: at, unsaid: sayings, sayAt: first, askAt: first, pause: leastPause}
}

// has reports whether an address is that of another machine on the network.
func (n *lanNetwork) has(a netip.Addr) bool {
	first := n.at.Masked().Addr().As4()
	last := first
	for bit := n.at.Bits(); bit < 32; bit++ {
		last[bit/8] |= 0x80 >> (bit % 8)
	}
	return n.at.Contains(a) && a != n.at.Addr() && a != netip.AddrFrom4(first) && a != netip.AddrFrom4(last)
}

// toSay reports whether the node is to announce itself now, and notes that it does.
func (n *lanNetwork) toSay(now time.Time) bool {
	due := n.unsaid > 0 && !now.Before(n.sayAt)
	if due {
		n.unsaid--
		n.sayAt = now.Add(leastPause)
	}
	if due || !n.answerAt.IsZero() && !now.Before(n.answerAt) {
		n.said, n.answerAt = now, time.Time{}
		return true
	}
	return false
}

// answerSoon notes a query that is to be answered.
func (n *lanNetwork) answerSoon(now time.Time) {
	if n.answerAt.IsZero() {
		n.answerAt = now.Add(delay())
		if soonest := n.said.Add(leastPause); n.answerAt.Before(soonest) {
			n.answerAt = soonest
		}
	}
}

// toAsk reports whether to query now, and notes that it is done.
func (n *lanNetwork) toAsk(now time.Time) bool {
	if now.Before(n.askAt) {
		return false
	}
	n.asked, n.askAt = now, now.Add(n.pause)
	n.pause = min(2*n.pause, mostPause)
	return true
}

// askSoon has a query made as soon as one may be.
func (n *lanNetwork) askSoon(now time.Time) {
	soonest := n.asked.Add(leastPause)
	if soonest.Before(now) {
		soonest = now
	}
	if soonest.Before(n.askAt) {
		n.askAt = soonest
	}
}

// next is when the node has something to say there.
func (n *lanNetwork) next() time.Time {
	at := n.askAt
	if n.unsaid > 0 && n.sayAt.Before(at) {
		at = n.sayAt
	}
	if !n.answerAt.IsZero() && n.answerAt.Before(at) {
		at = n.answerAt
	}
	return at
}

// An inter is an interface of this machine and its address on a network.
type inter struct {
	index int
	at    netip.Prefix
}

// usual are the networks of this machine: of interfaces that are up, no tunnels, and take multicasts, with addresses
// that are not public. Where those are, as on a rented server, whoever is on the network is a stranger.
func usual() (list []inter, err error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	const wanted, unwanted = net.FlagUp | net.FlagMulticast, net.FlagLoopback | net.FlagPointToPoint
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil || i.Flags&wanted != wanted || i.Flags&unwanted != 0 {
			continue // what vanishes meanwhile has none
		}
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err == nil && p.Addr().Is4() && p.Bits() <= 30 && !feed.PublicAddr(p.Addr()) && len(list) < maxNetworks {
				list = append(list, inter{i.Index, p})
			}
		}
	}
	return list, nil
}

// cameTo brings the networks up to date, and reports whether that changed them.
func (r *Responder) cameTo(now time.Time, list []inter) (changed bool) {
	var networks []*lanNetwork
	for _, i := range list {
		if r.config.At.IsValid() && !r.config.At.IsUnspecified() && i.at.Addr() != r.config.At {
			continue
		}
		at := slices.IndexFunc(r.networks, func(n *lanNetwork) bool { return n.index == i.index && n.at == i.at })
		if at < 0 {
			networks, changed = append(networks, newNetwork(now, i.index, i.at)), true
			continue
		}
		networks = append(networks, r.networks[at])
	}
	changed = changed || len(networks) != len(r.networks)
	r.networks = networks
	return changed
}
