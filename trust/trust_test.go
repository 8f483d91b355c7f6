package trust

import (
	"crypto/sha1"
	"fmt"
	"net/netip"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

const news feed.URL = "https://news.example.com/feed"

var now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// id is a node in a network of its own.
func id(i int) protocol.NodeID {
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{20, byte(i >> 8), byte(i), 7}), 7790)
}

// beside is another node of that network.
func beside(i int) protocol.NodeID {
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{20, byte(i >> 8), byte(i), 8}), 7790)
}

// way is a path by the nodes of these numbers.
func way(nodes ...int) (via []protocol.NodeID) {
	for _, i := range nodes {
		via = append(via, id(i))
	}
	return via
}

// heard are witnesses of which the nodes from 1 to n have earned as many entries each by now.
func heard(n, entries int) *Witnesses {
	w := new(Witnesses)
	for i := range n {
		for range entries {
			w.Earned(now, id(i+1))
		}
	}
	return w
}

func did(i int) protocol.DID { return sha1.Sum(fmt.Append(nil, i)) }
