package experiment

import (
	"feedex/lab"
	"feedex/protocol"
)

// Nearness is where the other subscribers of a feed are from the node that asks: what a query can come by at all.
type Nearness struct {
	Neighbors float64                `json:"neighbors"` // of the node that asks
	Alike     float64                `json:"alike"`     // of these, subscribers of the feed
	Others    float64                `json:"others"`    // other subscribers of the feed
	Within    [len(nearHops)]float64 `json:"within"`    // the share of them within so many hops
	Nodes     [len(nearHops)]float64 `json:"nodes"`     // all nodes within so many hops
}

// nearHops are the hops that Nearness tells of, those of the queries.
var nearHops = [...]int{1, 2, 3, 4, 5}

// nearness looks at the neighborhoods of the nodes that ask, as they are now.
func nearness(w *lab.World, searches []search) (n Nearness) {
	byID := make(map[protocol.NodeID]*lab.Host)
	for _, h := range w.Hosts() {
		byID[h.ID] = h
	}
	peers := make(map[*lab.Host][]*lab.Host)
	for _, h := range w.Hosts() {
		for _, p := range h.Node().Neighbors() {
			peers[h] = append(peers[h], byID[p.ID])
		}
	}
	each := 1 / float64(len(searches))
	for _, s := range searches {
		far := distances(peers, s.asker)
		n.Neighbors += each * float64(len(peers[s.asker]))
		n.Others += each * float64(len(s.others))
		for i, hops := range nearHops {
			near := 0.0
			for _, h := range s.others {
				if d, ok := far[h]; ok && d <= hops {
					near++
				}
			}
			n.Within[i] += each * near / float64(len(s.others))
			if hops == 1 {
				n.Alike += each * near
			}
			for _, d := range far {
				if d <= hops {
					n.Nodes[i] += each
				}
			}
		}
	}
	return n
}

// distances are how many hops it is from one host to the others, as far as nearHops goes.
func distances(peers map[*lab.Host][]*lab.Host, from *lab.Host) map[*lab.Host]int {
	far := map[*lab.Host]int{from: 0}
	edge := []*lab.Host{from}
	for hops := 1; hops <= nearHops[len(nearHops)-1]; hops++ {
		var next []*lab.Host
		for _, h := range edge {
			for _, p := range peers[h] {
				if _, known := far[p]; !known {
					far[p] = hops
					next = append(next, p)
				}
			}
		}
		edge = next
	}
	delete(far, from)
	return far
}
