package main

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A table may be as wide as the terminal that it is written to.
func TestWidthOfATerminal(t *testing.T) {
	t.Setenv("COLUMNS", "")
	f := openTerminal(t)
	for columns, want := range map[uint16]int{0: usualWidth, 132: 132, 40: 40} {
		resize(t, f, columns, 24)
		if got := widthOf(f); got != want {
			t.Errorf("on %d columns: %d, want %d", columns, got, want)
		}
	}
	t.Setenv("COLUMNS", "100")
	if got := widthOf(f); got != 100 {
		t.Errorf("COLUMNS does not go first: %d", got)
	}
}

// A picture that does not fit on its terminal would smear when it is drawn over: there lines do.
func TestRoomForTheDemonstration(t *testing.T) {
	f := openTerminal(t)
	for size, want := range map[[2]uint16]bool{{0, 0}: true, {80, 24}: true, {80, 18}: true, {80, 17}: false,
		{79, 24}: false} {
		resize(t, f, size[0], size[1])
		t.Setenv("TERM", "xterm")
		if got := hasRoom(f); got != want {
			t.Errorf("%v: %v, want %v", size, got, want)
		}
		if t.Setenv("TERM", "dumb"); hasRoom(f) {
			t.Errorf("%v: a dumb terminal has its cursor moved", size)
		}
	}
}

// openTerminal is a terminal, of no size yet.
func openTerminal(t *testing.T) *os.File {
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this system gives out no terminals, mount devpts: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func resize(t *testing.T, f *os.File, columns, lines uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: lines, Col: columns}); err != nil {
		t.Fatal(err)
	}
}
