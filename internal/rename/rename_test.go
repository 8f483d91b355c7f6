package rename

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A rename waits for who has the file open on Windows, but not for ever, and for nothing else.
func TestWhatIsWaitedFor(t *testing.T) {
	denied := &os.LinkError{Op: "rename", Err: syscall.Errno(5)}
	shared := fmt.Errorf("x: %w", &os.LinkError{Op: "rename", Err: syscall.Errno(32)})
	missing := &os.LinkError{Op: "rename", Err: syscall.Errno(2)}
	for _, c := range []struct {
		name    string
		faults  []error // one after another, the last for good
		windows bool
		want    error
		tried   int
	}{
		{"at once", []error{nil}, true, nil, 1},
		{"held for a moment", []error{denied, shared, nil}, true, nil, 3},
		{"held for good", []error{shared}, true, shared, tries},
		{"missing", []error{missing}, true, missing, 1},
		{"held, elsewhere", []error{denied, nil}, false, denied, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun, tried := time.Now(), 0
			err := insist(func() error {
				tried++
				return c.faults[min(tried, len(c.faults))-1]
			}, c.windows)
			if !errors.Is(err, c.want) || tried != c.tried || time.Since(begun) != time.Duration(c.tried-1)*tick {
				t.Errorf("%s: %v after %d tries in %v, want %v after %d", c.name, err, tried, time.Since(begun), c.want,
					c.tried)
			}
		})
	}
}

// What has the name makes way.
func TestTo(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "new"), filepath.Join(dir, "file")
	err := errors.Join(os.WriteFile(from, []byte("new"), 0o600), os.WriteFile(to, nil, 0o600), To(from, to))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(to); string(text) != "new" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
