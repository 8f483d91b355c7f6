package daemon

import (
	"math"
	"testing"
)

// Room is told in bytes however large a disk says that it is: one that is taken for full has entries purged.
func TestRoomOnADisk(t *testing.T) {
	for _, c := range []struct {
		blocks, size uint64
		want         int64
	}{
		{0, 4096, 0}, {1 << 20, 4096, 1 << 32}, {1 << 49, 4096, 1 << 61},
		{1 << 51, 4096, mostRoom}, {1 << 52, 4096, mostRoom}, {math.MaxUint64, 1 << 20, mostRoom},
	} {
		if got := inBytes(c.blocks, c.size); got != c.want {
			t.Errorf("%d blocks of %d bytes: %d, want %d", c.blocks, c.size, got, c.want)
		}
	}
}
