package node

import (
	"bytes"
	"encoding/binary"

	"feedex/protocol"
)

// offered are the latest dids that a neighbor offered or delivered, or said that it has: it need not be offered them. A
// node has one for each neighbor, so that it keeps no more of a did than its first eight bytes. An attacker that makes
// another did that begins alike makes both.
type offered struct {
	dids   []uint64
	firsts []byte // the first byte of each: a did that is not there is told by these, which are found fast
	next   int    // the oldest, once there are offeredWindow
}

// offeredWindow is how many of a neighbor's dids are remembered.
const offeredWindow = 256

func (o *offered) add(did protocol.DID) {
	switch {
	case o.has(did):
	case len(o.dids) < offeredWindow:
		o.dids, o.firsts = append(o.dids, eightOf(did)), append(o.firsts, did[0])
	default:
		o.dids[o.next], o.firsts[o.next] = eightOf(did), did[0]
		o.next = (o.next + 1) % offeredWindow
	}
}

func (o *offered) has(did protocol.DID) bool {
	for from := 0; ; from++ {
		i := bytes.IndexByte(o.firsts[from:], did[0])
		if i < 0 {
			return false
		}
		if from += i; o.dids[from] == eightOf(did) {
			return true
		}
	}
}

func eightOf(did protocol.DID) uint64 { return binary.LittleEndian.Uint64(did[:]) }
