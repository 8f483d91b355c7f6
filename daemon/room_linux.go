package daemon

import (
	"golang.org/x/sys/unix"
)

// roomOn is how many bytes may still be written to the disk that holds a directory, and how many it holds in all; 0
// where that is not known. Linux counts in fragments, which blocks of FUSE may be larger than.
func roomOn(path string) (room, size int64) {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return 0, 0
	}
	return inBytes(st.Bavail, uint64(st.Frsize)), inBytes(st.Blocks, uint64(st.Frsize))
}
