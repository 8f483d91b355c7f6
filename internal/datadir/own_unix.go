//go:build unix

package datadir

import (
	"os"
	"syscall"
)

// nonblock opens a pipe without waiting, where that is a matter.
const nonblock = syscall.O_NONBLOCK

// Own gives a file of root's in a data directory to whom the directory belongs, where root asks: the node runs as that
// user, and could not open it. A link is left alone, because that user may have put it there to be given what it leads
// to, and the directory is the one that the file was found in, whatever takes its name meanwhile. SQLite must not have
// the file open in this process, which would give up its locks.
func Own(path string) {
	if os.Geteuid() != 0 {
		return
	}
	file, dir, err := openRegular(path)
	if err != nil {
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return
	}
	is, ok1 := info.Sys().(*syscall.Stat_t)
	of, ok2 := dir.Sys().(*syscall.Stat_t)
	if ok1 && ok2 && is.Uid == 0 && is.Nlink == 1 {
		_ = file.Chown(int(of.Uid), int(of.Gid)) // what that is for fails later, and says so
	}
}
