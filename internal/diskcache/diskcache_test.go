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
	const most = 3*(3+block) + 1
	dir := filepath.Join(t.TempDir(), "pictures")
	open := func() *Files {
		t.Helper()
		c, err := Open(dir, most)
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
			size += info.Size() + block
		}
		if size > most || size != c.size {
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
	if err := c.Put("e", make([]byte, most-block+1)); err != nil {
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
	if freed, err := c.Clear(); err != nil || freed != 3+block {
		t.Errorf("all that is kept were %d bytes, %v", freed, err)
	}
	want(c, "")
}

// What cannot be removed is not forgotten: it takes room all the same.
func TestWhatStaysCounts(t *testing.T) {
	dir := t.TempDir()
	c, err := Open(dir, 3*(3+block))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Put("a", []byte("aaa")); err != nil {
		t.Fatal(err)
	}
	stuck := filepath.Join(dir, nameOf("a"))
	if err := os.Remove(stuck); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(stuck, "inside"), 0o700); err != nil { // which os.Remove leaves
		t.Fatal(err)
	}
	if freed, err := c.Clear(); err == nil || freed != 0 || c.size != 3+block {
		t.Errorf("%d bytes given back, %d counted, %v", freed, c.size, err)
	}
}

// What was used last by a clock that was ahead does not stay for ever.
func TestFilesOfATimeToCome(t *testing.T) {
	dir, ahead := t.TempDir(), time.Now().AddDate(10, 0, 0)
	for _, key := range []string{"a", "b", "c"} {
		c, err := Open(dir, 2*(1+block)+1)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Put(key, []byte(key)); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Get("a"); ok != (key != "c") {
			t.Errorf("with %s a is there: %v", key, ok)
		}
		if err := os.Chtimes(filepath.Join(dir, nameOf("a")), ahead, ahead); err != nil && key != "c" {
			t.Fatal(err)
		}
	}
}

// Without a directory nothing is kept.
func TestNoFiles(t *testing.T) {
	var c *Files
	if err := c.Put("a", []byte("a")); err != nil {
		t.Error(err)
	}
	if _, ok := c.Get("a"); ok {
		t.Error("something is kept")
	}
	if freed, err := c.Clear(); freed != 0 || err != nil {
		t.Errorf("%d bytes given back, %v", freed, err)
	}
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
