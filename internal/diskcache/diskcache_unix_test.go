//go:build unix

package diskcache

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Who reads a file waits for nobody else's, and has the whole of it where it is put anew meanwhile.
func TestReadingHoldsUpNobody(t *testing.T) {
	dir := t.TempDir()
	c, err := Open(dir, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	put := func(content string) {
		t.Helper()
		if err := c.Put("a", []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	for _, next := range []string{"", "anew", "bbb"} {
		put("aaa")
		slow := filepath.Join(dir, nameOf("a")) // which is read once somebody has written it
		if err := os.Remove(slow); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(slow, 0o600); err != nil {
			t.Fatal(err)
		}
		got := make(chan string)
		go func() {
			content, ok := c.Get("a")
			if !ok {
				content = nil
			}
			got <- string(content)
		}()
		w, err := os.OpenFile(slow, os.O_WRONLY, 0) // waits for who reads
		if err != nil {
			t.Fatal(err)
		}
		if free := c.mu.TryLock(); !free {
			t.Fatal("who reads a file has the lock")
		} else if c.mu.Unlock(); next != "" {
			put(next)
		}
		if _, err := w.WriteString("aaa"); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if content := <-got; content != "aaa" {
			t.Errorf("%q is read while %q is put there", content, next)
		}
		if next == "" {
			continue
		}
		if content, ok := c.Get("a"); !ok || string(content) != next {
			t.Errorf("%q, %v is kept, want %q", content, ok, next)
		}
	}
}
