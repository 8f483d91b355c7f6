package exchange

import (
	"encoding/binary"
	"testing"

	"feedex/protocol"
)

// A neighbor's latest offers are remembered, each once, and no others.
func TestOfferedAreTheLatest(t *testing.T) {
	var o Offered
	did := func(i int) (d protocol.DID) {
		binary.BigEndian.PutUint32(d[:], uint32(i))
		return d
	}
	for i := range 3 * offeredWindow {
		o.Add(did(i))
		o.Add(did(max(0, i-offeredWindow/2))) // again: it takes no place
		for _, j := range []int{i, i - offeredWindow + 1, i - offeredWindow, i + 1} {
			if want := j >= 0 && j <= i && j > i-offeredWindow; j >= 0 && o.has(did(j)) != want {
				t.Fatalf("after %d: has %d is %v", i, j, !want)
			}
		}
	}
}
