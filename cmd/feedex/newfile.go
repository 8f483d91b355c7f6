package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"feedex/internal/rename"
)

// writeTo writes to the file that the first argument names, standard output where it is "-" or there is none.
func writeTo(c *cobra.Command, args []string, write func(io.Writer) error) error {
	if len(args) == 0 || args[0] == "-" {
		return write(c.OutOrStdout())
	}
	return writeNew(args[0], write)
}

// errOvertaken is for a file that another process began to write meanwhile.
var errOvertaken = errors.New("another feedex began to write the same file: let one end before the next begins")

// writeNew writes a new file, for its owner alone, which has its name when it is complete. One that is there already is
// left alone. What was left by a process that was killed goes, and so does what another one still writes, which fails
// then.
func writeNew(path string, write func(io.Writer) error) (err error) {
	if path == "" {
		return errors.New("the name of the file is empty; without one it goes to standard output")
	}
	if _, err := os.Lstat(path); err == nil {
		return taken(fmt.Errorf("%s: %w", path, fs.ErrExist))
	}
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	is, statErr := file.Stat()
	at, missing := os.Lstat(part)
	own := statErr == nil && missing == nil && os.SameFile(is, at)
	if err == nil && !own {
		err = errOvertaken
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = rename.To(part, path)
	}
	if err != nil && own {
		os.Remove(part)
	}
	return err
}

// taken says what to do where an error is that a file is there already.
func taken(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w; choose another name, or remove it first", err)
	}
	return err
}
