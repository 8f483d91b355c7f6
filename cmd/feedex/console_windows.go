package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// takesEscapes reports whether a terminal takes escape sequences. A console of Windows does once it is asked to.
func takesEscapes(terminal *os.File) bool {
	var mode uint32
	console := windows.Handle(terminal.Fd())
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
