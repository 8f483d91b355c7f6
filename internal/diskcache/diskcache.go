// Package diskcache keeps files that may go in a directory of its own, up to so much room on the disk: those that
// nobody wanted for the longest time go first. What is lost, by a crash or by an owner who removes the directory, is
// fetched again.
package diskcache

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Files are those of a directory. They may be used by several goroutines at once. Nil Files keep nothing.
type Files struct {
	dir  string
	most int64

	mu    sync.Mutex
	size  int64
	order *list.List // of *file, the one used last in front
	files map[string]*list.Element
}

type file struct {
	name string
	size int64
	used time.Time // as its time of modification says, which outlives the process
}

// block is what a file takes besides its bytes: the rest of its last block, and its name.
const block = 4096

// room is how much room the file takes at most.
func (f *file) room() int64 { return f.size + block }

// usedEvery is how old the time of a file's last use may be on the disk.
const usedEvery = time.Hour

// part is in the names of files that are being written.
const part = ".part"

// Open opens the cache in a directory, made if there is none, whose files take at most so many bytes.
func Open(dir string, most int64) (*Files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []*file
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.Contains(e.Name(), part): // of a process that was killed
			_ = os.Remove(filepath.Join(dir, e.Name()))
		case len(e.Name()) == 2*sha256.Size:
			used := info.ModTime()
			if used.After(time.Now()) { // by a clock that was ahead: nothing that was used since would be later
				used = time.Time{}
			}
			found = append(found, &file{e.Name(), info.Size(), used})
		}
	}
	slices.SortFunc(found, func(a, b *file) int { return b.used.Compare(a.used) })
	c := &Files{dir: dir, most: most, order: list.New(), files: make(map[string]*list.Element)}
	for _, f := range found {
		c.files[f.name] = c.order.PushBack(f)
		c.size += f.room()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c, c.shrink(c.most)
}

// nameOf is the name of the file for a key.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// Get returns what is kept for a key.
func (c *Files) Get(key string) (content []byte, ok bool) {
	if c == nil {
		return nil, false
	}
	name := nameOf(key)
	c.mu.Lock()
	e := c.files[name]
	c.mu.Unlock()
	if e == nil {
		return nil, false
	}
	f := e.Value.(*file)
	path := filepath.Join(c.dir, name)
	content, err := os.ReadFile(path) // while others read theirs
	c.mu.Lock()
	defer c.mu.Unlock()
	switch whole := err == nil && int64(len(content)) == f.size; {
	case c.files[name] != e: // it was put anew meanwhile, or had to go
		return content, whole
	case !whole:
		_ = c.drop(e) // somebody else changed it
		return nil, false
	}
	c.order.MoveToFront(e)
	if now := time.Now(); now.Sub(f.used) >= usedEvery {
		f.used = now
		_ = os.Chtimes(path, now, now) // else it goes sooner than it should
	}
	return content, true
}

// Put keeps content for a key, in place of what was kept for it. What is larger than the whole cache is not kept.
func (c *Files) Put(key string, content []byte) error {
	if c == nil || int64(len(content)) > c.most-block {
		return nil
	}
	name := nameOf(key)
	if err := os.MkdirAll(c.dir, 0o700); err != nil { // its owner may have removed it
		return err
	}
	temp, err := os.CreateTemp(c.dir, name[:16]+part+"*")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Close())

	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		if e := c.files[name]; e != nil {
			err = c.drop(e)
		}
	}
	if err == nil {
		err = os.Rename(temp.Name(), filepath.Join(c.dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	f := &file{name, int64(len(content)), time.Now()}
	c.files[name] = c.order.PushFront(f)
	c.size += f.room()
	return c.shrink(c.most)
}

// Clear removes all files, for the sake of what may not go, and returns how many bytes that gave back.
func (c *Files) Clear() (freed int64, err error) {
	if c == nil {
		return 0, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.size
	err = c.shrink(0)
	return before - c.size, err
}

// shrink removes files until the others fit into so many bytes.
func (c *Files) shrink(most int64) error {
	for c.size > most {
		if err := c.drop(c.order.Back()); err != nil {
			return err
		}
	}
	return nil
}

// drop removes a file. One that cannot be removed still counts.
func (c *Files) drop(e *list.Element) error {
	f := e.Value.(*file)
	if err := os.Remove(filepath.Join(c.dir, f.name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	c.order.Remove(e)
	delete(c.files, f.name)
	c.size -= f.room()
	return nil
}
