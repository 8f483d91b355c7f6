// Package rename gives files that are complete their names.
package rename

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"
)

// A rename is tried so often, and a tick apart. All of it takes as long as a person waits gladly.
const (
	tries = 20
	tick  = 50 * time.Millisecond
)

// To renames a file, in place of what has the name. On Windows it waits while another program has one of the two open,
// as those do for a moment that look for viruses in what is new or make an index of it.
func To(from, to string) error {
	return insist(func() error { return os.Rename(from, to) }, runtime.GOOS == "windows")
}

func insist(rename func() error, windows bool) error {
	for n := 1; ; n++ {
		err := rename()
		if n == tries || !windows || !isHeld(err) {
			return err
		}
		time.Sleep(tick)
	}
}

// isHeld reports whether an error of Windows may be that somebody has the file open: ERROR_ACCESS_DENIED or
// ERROR_SHARING_VIOLATION.
func isHeld(err error) bool {
	var is syscall.Errno
	return errors.As(err, &is) && (is == 5 || is == 32)
}
