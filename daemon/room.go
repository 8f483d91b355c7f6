package daemon

import "math/bits"

// mostRoom is more than there is on any disk, and leaves some for sums.
const mostRoom = 1 << 62

// inBytes is how many bytes are in so many blocks, up to mostRoom: some disks of a network say that they never end.
func inBytes(blocks, size uint64) int64 {
	if beyond, bytes := bits.Mul64(blocks, size); beyond == 0 && bytes < mostRoom {
		return int64(bytes)
	}
	return mostRoom
}
