package node

import (
	"encoding/binary"
	"slices"

	"feedex/protocol"
)

// offered are the latest dids that a neighbor offered or delivered: it need not be offered them. A node has one for
// each neighbor, so that it keeps no more of a did than its first eight bytes. Who makes another did that begins
// alike makes both.
type offered struct {
	dids []uint64
	next int // the oldest, once there are offeredWindow
}

// offeredWindow is how many of a neighbor's own offers are remembered.
const offeredWindow = 256

func (o *offered) add(did protocol.DID) {
	switch {
	case o.has(did):
	case len(o.dids) < offeredWindow:
		o.dids = append(o.dids, eightOf(did))
	default:
		o.dids[o.next] = eightOf(did)
		o.next = (o.next + 1) % offeredWindow
	}
}

func (o *offered) has(did protocol.DID) bool { return slices.Contains(o.dids, eightOf(did)) }

func eightOf(did protocol.DID) uint64 { return binary.LittleEndian.Uint64(did[:]) }
