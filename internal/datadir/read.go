package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Small is how large a small file may be.
const Small = 1 << 20

// Read reads a file of a data directory, whose owner may have put anything there: a link is not followed, nothing is
// waited for, and no more than most bytes are read. The error wraps fs.ErrNotExist where there is none.
func Read(path string, most int64) ([]byte, error) {
	file, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: more than %d bytes", path, most)
	}
	return text, err
}

// openRegular opens a regular file, and says what directory it found that in.
func openRegular(path string) (file *os.File, dir fs.FileInfo, err error) {
	root, err := os.OpenRoot(filepath.Dir(path) + string(filepath.Separator)) // which does not wait for a pipe
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	dir, err = root.Stat(".")
	if err != nil {
		return nil, nil, err
	}
	is, err := root.Lstat(filepath.Base(path))
	if err == nil && !is.Mode().IsRegular() {
		err = fmt.Errorf("%s: no regular file", path)
	}
	if err != nil {
		return nil, nil, err
	}
	if file, err = root.OpenFile(filepath.Base(path), os.O_RDONLY|nonblock, 0); err != nil {
		return nil, nil, err
	}
	opened, err := file.Stat()
	if err == nil && !os.SameFile(is, opened) { // a link, put there meanwhile
		err = fmt.Errorf("%s: it was replaced meanwhile", path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, dir, nil
}
