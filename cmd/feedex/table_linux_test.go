package main

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A table may be as wide as the terminal that it is written to.
func TestWidthOfATerminal(t *testing.T) {
	t.Setenv("COLUMNS", "")
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this system gives out no terminals, mount devpts: %v", err)
	}
	defer f.Close()
	for columns, want := range map[uint16]int{0: usualWidth, 132: 132, 40: 40} {
		if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
			t.Fatal(err)
		}
		if got := widthOf(f); got != want {
			t.Errorf("on %d columns: %d, want %d", columns, got, want)
		}
	}
	t.Setenv("COLUMNS", "100")
	if got := widthOf(f); got != 100 {
		t.Errorf("COLUMNS does not go first: %d", got)
	}
}
