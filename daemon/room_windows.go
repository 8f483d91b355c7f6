package daemon

import (
	"golang.org/x/sys/windows"
)

// roomOn is how many bytes may still be written to the disk that holds a directory, and how many it holds in all; 0
// where that is not known.
func roomOn(path string) (room, size int64) {
	name, err := windows.UTF16PtrFromString(path)
	var free, all uint64
	if err != nil || windows.GetDiskFreeSpaceEx(name, &free, &all, nil) != nil {
		return 0, 0
	}
	return inBytes(free, 1), inBytes(all, 1)
}
