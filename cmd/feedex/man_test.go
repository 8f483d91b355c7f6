package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manDir is where the man pages are kept. They are made here rather than by a program, so that the
// renderer stays out of the binary and the test and the generator cannot disagree:
//
//	go test ./cmd/feedex -run TestManPages -update
const manDir = "../../docs/man"

func TestManPages(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the pages name the paths of Linux: run it there")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	pages := manPages(t)
	if *update {
		if err := os.MkdirAll(manDir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, page := range pages {
			if err := os.WriteFile(filepath.Join(manDir, name), page, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, page := range pages {
		if kept, err := os.ReadFile(filepath.Join(manDir, name)); err != nil || !bytes.Equal(kept, page) {
			t.Errorf("%s is not up to date: run 'make man'", name)
		}
		block := false // as which lines of their own begin with four blanks
		for line := range strings.Lines(string(page)) {
			block = strings.HasPrefix(line, ".EX") || block && !strings.HasPrefix(line, ".EE")
			if !block && strings.HasPrefix(line, " ") {
				t.Errorf("%s runs together what stands below one another: %s", name, line)
			}
		}
	}
	kept, err := os.ReadDir(manDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range kept {
		if pages[file.Name()] == nil {
			t.Errorf("%s describes no command: remove it", file.Name())
		}
	}
}

// commandsFrom is a command and all below it, but for those that cobra adds.
func commandsFrom(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.Name() != "help" && sub.Name() != "completion" {
			list = append(list, commandsFrom(sub)...)
		}
	}
	return list
}

// manPages renders a page for each command.
func manPages(t *testing.T) map[string][]byte {
	pages := make(map[string][]byte)
	for _, c := range commandsFrom(newRoot()) {
		if end := c.Annotations[helpEnd]; end != "" {
			c.Long += "\n\n" + end
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		date := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
		var page bytes.Buffer
		header := &doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Date: &date, Source: "feedex",
			Manual: "feedex manual"}
		if err := doc.GenMan(c, header, &page); err != nil {
			t.Fatal(err)
		}
		pages[name+".1"] = page.Bytes()
	}
	return pages
}
