package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

// writeTo writes to the file that the first argument names, standard output where it is "-" or there is none.
func writeTo(c *cobra.Command, args []string, write func(io.Writer) error) error {
	if len(args) == 0 || args[0] == "-" {
		return write(c.OutOrStdout())
	}
	return writeNew(args[0], write)
}

// writeNew writes a new file, for its owner alone, which has its name when it is complete. One that is there already is
// left alone.
func writeNew(path string, write func(io.Writer) error) (err error) {
	if path == "" {
		return errors.New("the name of the file is empty; without one it goes to standard output")
	}
	if _, err := os.Lstat(path); err == nil {
		return taken(fmt.Errorf("%s: %w", path, fs.ErrExist))
	}
	part := path + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
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
