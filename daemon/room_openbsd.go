package daemon

import (
	"golang.org/x/sys/unix"
)

// roomOn is how many bytes may still be written to the disk that holds a directory, and how many it holds in all; 0
// where that is not known. Less than nothing is left where root has written to what is root's.
func roomOn(path string) (room, size int64) {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return 0, 0
	}
	return inBytes(uint64(max(0, st.F_bavail)), uint64(st.F_bsize)), inBytes(st.F_blocks, uint64(st.F_bsize))
}
