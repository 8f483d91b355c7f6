package experiment

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"feedex/lab"
	"feedex/lab/report"
	"feedex/protocol"
)

// Conditions are what the nodes of an experiment live among, beside what is published. The zero value is the paper's
// world: nothing is lost or slow, publishers and the reference node always answer, and each node is in a network of its
// own.
type Conditions struct {
	lab.Links
	lab.Conduct
	// Unable is the share of the members whose polls all fail: a seventh of the paper's machines could fetch hardly
	// anything.
	Unable float64
	// ReferenceDown is the share of the time in which the reference node cannot poll.
	ReferenceDown float64
	// Networks has nodes share networks as those of people do: of 64 providers (/16) the k-th has 1/k as many as the
	// first, each in 32 parts (/24).
	Networks bool
	// Interests has nodes follow the feeds of subscription lists, in place of so many at random.
	Interests bool
}

// Real are conditions that are worse than most that a node meets, all together: messages take a second, one in a
// hundred is lost, and homes send half a megabit a second; half as many hosts as feeds, of which a tenth throttles and
// which are down for a hundredth of the time, as the reference node is; half of the feeds say how long they need not be
// asked, and a tenth of the entries is edited.
func Real() Conditions {
	return Conditions{
		Links:         lab.Links{Delay: time.Second, Loss: .01, Uplink: 64_000},
		Conduct:       lab.Conduct{PerHost: 2, Hinting: .5, Failing: .01, Throttling: .1, Edited: .1},
		ReferenceDown: .01, Networks: true,
	}
}

// text says what is otherwise than in the paper's world, a line for the network and one for the publishers.
func (c Conditions) text() (lines []string) {
	say := func(parts ...string) {
		lines = append(lines, strings.Join(parts, "; ")+".")
	}
	if l := c.Links; l.Delay != 0 || l.Loss != 0 {
		say(fmt.Sprintf("Messages take %v one way, the median of the links; %s of them are lost", l.Delay,
			report.Percent(l.Loss)))
	}
	if c.Uplink != 0 {
		say(fmt.Sprintf("A node sends %d bytes a second", c.Uplink))
	}
	if c.Networks {
		say("Nodes share networks: 64 providers (/16) by Zipf's law, in 32 parts (/24) each")
	}
	if d := c.Conduct; d != (lab.Conduct{}) {
		say(fmt.Sprintf("Feeds to a host: %d on average", max(1, d.PerHost)),
			fmt.Sprintf("%s of the hosts throttle, and they are down for %s of the time", report.Percent(d.Throttling),
				report.Percent(d.Failing)),
			fmt.Sprintf("%s of the feeds say how long they need not be asked", report.Percent(d.Hinting)),
			fmt.Sprintf("%s of the entries are edited", report.Percent(d.Edited)))
		if d.Stale != 0 {
			say(fmt.Sprintf("Publishers answer by caches of which each keeps a copy for %v", d.Stale))
		}
	}
	if c.Unable != 0 {
		say(fmt.Sprintf("Of the nodes %s reach no publisher", report.Percent(c.Unable)))
	}
	if c.ReferenceDown != 0 {
		say(fmt.Sprintf("The reference node is down for %s of the time", report.Percent(c.ReferenceDown)))
	}
	return lines
}

// sharedNetwork is the address of member number i where nodes share networks.
func sharedNetwork(seed lab.Seed, i int) protocol.NodeID {
	const providers, parts, perPart = 64, 32, 250
	rng := seed.Stream(fmt.Sprintf("network of machine %d", i))
	provider := lab.ByZipf(providers, rng.Float64())
	// Which number it has is its own, so that no two have one address and port.
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{20, byte(provider), byte(rng.IntN(parts)), byte(1 + i%perPart)}),
		protocol.DefaultPort+uint16(i/perPart))
}
