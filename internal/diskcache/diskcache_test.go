package diskcache

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What was used last stays, also in the next process, and nothing is beyond the bound.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pictures")
	open := func() *Files {
		t.Helper()
		c, err := Open(dir, 10)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	want := func(c *Files, keys string) {
		t.Helper()
		for _, key := range "abcdef" {
			content, ok := c.Get(string(key))
			if ok != strings.ContainsRune(keys, key) || ok && string(content) != strings.Repeat(string(key), 3) {
				t.Errorf("%c: %q, %v; kept are %q", key, content, ok, keys)
			}
		}
		var size int64
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if size > 10 || size != c.size {
			t.Errorf("%d bytes on the disk, %d counted", size, c.size)
		}
	}
	put := func(c *Files, key string) {
		t.Helper()
		if err := c.Put(key, []byte(strings.Repeat(key, 3))); err != nil {
			t.Fatal(err)
		}
	}
	c := open()
	for _, key := range []string{"a", "b", "c", "c"} {
		put(c, key)
	}
	want(c, "abc")
	c.Get("a")
	put(c, "d")
	want(c, "acd")
	if err := c.Put("e", make([]byte, 11)); err != nil {
		t.Errorf("what is too large: %v", err)
	}
	want(c, "acd")

	// In the next process a was used long ago, c was damaged, and a file was being written.
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, nameOf("a")), old, old); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"0123456789abcdef.part1": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c = open()
	put(c, "f")
	want(c, "cdf")
	if err := os.WriteFile(filepath.Join(dir, nameOf("c")), []byte("c"), 0o600); err != nil {
		t.Fatal(err)
	}
	if content, ok := c.Get("c"); ok {
		t.Errorf("one that was cut off is %q", content)
	}
	want(c, "df")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get("d"); ok {
		t.Error("a directory that is gone keeps something")
	}
	put(c, "e")
	want(c, "e")
}

// A key is no path.
func TestKeysAreNoPaths(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(outside, "cache")
	c, err := Open(dir, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"../evil", "/etc/passwd", "", strings.Repeat("x", 5000), "a\x00b"} {
		if err := c.Put(key, []byte(key)); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.Get(key); !ok || !bytes.Equal(got, []byte(key)) {
			t.Errorf("%.20q: %.20q, %v", key, got, ok)
		}
	}
	if files, err := os.ReadDir(outside); err != nil || len(files) != 1 {
		t.Errorf("outside are %v, %v", files, err)
	}
}
