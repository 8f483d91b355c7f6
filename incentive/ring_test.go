package incentive

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"feedex/protocol"
)

// ringNode is node number i of a graph.
func ringNode(i int) protocol.NodeID {
	id, err := protocol.ParseNodeID(fmt.Sprintf("192.0.2.%d:7790", i+1))
	if err != nil {
		panic(err)
	}
	return id
}

func TestRings(t *testing.T) {
	a, p, q, r := ringNode(0), ringNode(1), ringNode(2), ringNode(3)
	for name, c := range map[string]struct {
		askers []protocol.NodeID
		wishes map[protocol.NodeID]int
		giver  protocol.NodeID
	}{
		"nobody has anything":       {[]protocol.NodeID{p, q}, nil, protocol.NodeID{}},
		"nobody waits":              {nil, map[protocol.NodeID]int{p: 3}, protocol.NodeID{}},
		"the asker has it":          {nil, map[protocol.NodeID]int{a: 1}, a},
		"two are better than three": {[]protocol.NodeID{p}, map[protocol.NodeID]int{a: 1, p: 9}, a},
		"one that waits has it":     {[]protocol.NodeID{p, q}, map[protocol.NodeID]int{q: 1}, q},
		"who has most": {[]protocol.NodeID{p, q, r},
			map[protocol.NodeID]int{p: 1, q: 5, r: 4}, q},
		"the first of those who have most":   {[]protocol.NodeID{r, q, p}, map[protocol.NodeID]int{p: 2, q: 2}, q},
		"who has it waits for somebody else": {[]protocol.NodeID{p}, map[protocol.NodeID]int{q: 1}, protocol.NodeID{}},
	} {
		giver, found := FindRing(a, c.askers, func(id protocol.NodeID) int { return c.wishes[id] })
		if giver != c.giver || found == giver.IsZero() {
			t.Errorf("%s: found %v, %s; want %s", name, found, giver, c.giver)
		}
	}
}

// In any network of wishes, the node that is asked finds a ring exactly where the one that asks is part of one of two
// or three with it, and what is found is one.
func TestEveryRingIsFoundByWhoIsAskedLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(t, "nodes")
		wish := make([][]bool, n) // wish[a][b]: a wishes for something that b has, and asked b
		for a := range wish {
			wish[a] = make([]bool, n)
			for b := range wish[a] {
				wish[a][b] = a != b && rapid.Bool().Draw(t, fmt.Sprint(a, " of ", b))
			}
		}
		for we := range n {
			for asker := range n {
				if !wish[asker][we] {
					continue
				}
				two, three := wish[we][asker], false
				var askers []protocol.NodeID
				for p := range n {
					if wish[p][asker] {
						askers = append(askers, ringNode(p))
						three = three || wish[we][p]
					}
				}
				giver, found := FindRing(ringNode(asker), askers, func(id protocol.NodeID) int {
					for p := range n {
						if id == ringNode(p) && wish[we][p] {
							return 1
						}
					}
					return 0
				})
				if found != (two || three) {
					t.Fatalf("%d, asked by %d, found %v; rings of two %v, of three %v", we, asker, found, two, three)
				}
				switch {
				case !found:
				case two && giver != ringNode(asker):
					t.Fatalf("%d, asked by %d, passed over a ring of two", we, asker)
				case !two && !slices.Contains(askers, giver):
					t.Fatalf("%d, asked by %d, found a ring over %s, which does not wait", we, asker, giver)
				}
			}
		}
	})
}
