package exchange

import (
	"testing"

	"pgregory.net/rapid"

	"feedex/protocol"
)

// A window knows what a list of the latest knows, whatever comes, again and again, and with hashes alike.
func TestWindowIsAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 40).Draw(t, "size")
		w := newWindow(size)
		var list []int
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 60), 0, 200).Draw(t, "dids") {
			known := false
			for _, j := range list {
				known = known || i == j
			}
			if w.Has(alike(i)) != known {
				t.Fatalf("has %d: %v, of %v", i, !known, list)
			}
			old, pushed := w.add(alike(i))
			if !known {
				list = append(list, i)
			}
			if full := len(list) > size; pushed != full || full && old != alike(list[0]) {
				t.Fatalf("adding %d pushed out %v, %v, of %v", i, old, pushed, list)
			}
			list = list[max(0, len(list)-size):]
		}
	})
}

// alike is a did of which many have one hash.
func alike(i int) (d protocol.DID) {
	d[0], d[19] = byte(i%3), byte(i)
	return d
}
