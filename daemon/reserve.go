package daemon

import (
	crand "crypto/rand"
	"os"
	"path/filepath"
)

// ReserveBytes is how much of the disk a node of its own sets aside. To delete something from the archive takes room
// first: the log of SQLite, which may have 32 MiB that are still to be brought into the file, and the log of a step.
const ReserveBytes = 40 << 20

// A reserve is a file that holds nothing but room: it is given up when the disk is full and something is to be purged.
type reserve struct {
	path  string
	bytes int64
}

func reserveIn(data string, bytes int64) reserve {
	return reserve{filepath.Join(data, "reserve"), bytes}
}

// take makes the file if it is not there and there is to be one. Where there is no room for it, there is none.
func (r reserve) take() {
	if info, err := os.Stat(r.path); r.bytes == 0 || err == nil && info.Size() == r.bytes {
		return
	}
	if r.write() != nil {
		r.release()
	}
}

func (r reserve) write() error {
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	noise := make([]byte, 1<<20)
	for written := int64(0); written < r.bytes; written += int64(len(noise)) {
		crand.Read(noise) // a disk that compresses would store zeros, or a repetition, in no room
		if _, err := f.Write(noise[:min(int64(len(noise)), r.bytes-written)]); err != nil {
			return err
		}
	}
	return f.Sync()
}

// release gives the room up, and reports whether there was any.
func (r reserve) release() bool { return os.Remove(r.path) == nil }
