//go:build linux || darwin || freebsd

package daemon

import (
	"golang.org/x/sys/unix"
)

// roomOn is how many bytes may still be written to the disk that holds a directory, and how many it holds in all; 0
// where that is not known.
func roomOn(path string) (room, size int64) {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return 0, 0
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize)
}
