package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Of two processes that write one file at the same time the first fails, and the file is that of the second.
func TestTwoWriteAFileAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open stays where it is")
	}
	path := filepath.Join(t.TempDir(), "file")
	says := func(text string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}
	}
	err := writeNew(path, func(w io.Writer) error {
		return errors.Join(says("the first")(w), writeNew(path, says("the second")), says(" goes on")(w))
	})
	text, readErr := os.ReadFile(path)
	if !errors.Is(err, errOvertaken) || readErr != nil || string(text) != "the second" {
		t.Errorf("the first ends with %v, and the file holds %q, %v", err, text, readErr)
	}
	if files, _ := filepath.Glob(path + "*"); len(files) != 1 {
		t.Errorf("there are %q", files)
	}
}
