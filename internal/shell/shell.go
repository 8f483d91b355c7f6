// Package shell writes words of commands that somebody may copy.
package shell

import (
	"runtime"
	"strings"
)

// Quote is s as one word of the shell that systems have, in quotes where it needs some: that of POSIX, or those of
// Windows.
func Quote(s string) string {
	if runtime.GOOS == "windows" {
		return windows(s)
	}
	return posix(s)
}

func posix(s string) string {
	if plain(s, "/._-+=:,@") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// windows is a word for cmd.exe, which knows double quotes alone, and for PowerShell. What the latter reads within
// those is in its single quotes.
func windows(s string) string {
	switch {
	case plain(s, `/._-+=:\`):
		return s
	case strings.ContainsAny(s, "\"$`"):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	case strings.HasSuffix(s, `\`): // which would stand for the quote behind it
		s += `\`
	}
	return `"` + s + `"`
}

// plain reports whether s is one word as it is, of letters of ASCII, digits and some other characters.
func plain(s, others string) bool {
	special := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune(others, r))
	}
	return s != "" && !strings.ContainsFunc(s, special)
}
