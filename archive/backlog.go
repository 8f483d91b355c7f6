package archive

import (
	"fmt"
	"strconv"
	"strings"

	"feedex/feed"
)

// A Backlog says how many of the entries that there are of a feed when somebody begins to follow it are unread to them,
// the latest: a number, or one of the values below.
type Backlog int32

const (
	// UsualBacklog is FirstUnread, where nobody said anything.
	UsualBacklog Backlog = 0
	// NoBacklog leaves none unread.
	NoBacklog Backlog = -1
	// WholeBacklog leaves all unread, as many as a document may hold.
	WholeBacklog Backlog = feed.MaxEntries
)

// FirstUnread is how many of a feed's entries of the time before it was followed are unread, as if they had just been
// published, where nobody said otherwise.
const FirstUnread = 20

// allText stands for WholeBacklog.
const allText = "all"

// ParseBacklog reads a number of entries, or "all".
func ParseBacklog(s string) (Backlog, error) {
	s = strings.TrimSpace(s)
	if s == allText {
		return WholeBacklog, nil
	}
	n, err := strconv.Atoi(s)
	switch {
	case err != nil || n < 0 || n > feed.MaxEntries:
		return 0, fmt.Errorf("%.40q: want a number of entries from 0 to %d, or %q", s, feed.MaxEntries, allText)
	case n == 0:
		return NoBacklog, nil
	}
	return Backlog(n), nil
}

// Unread is the number of entries.
func (b Backlog) Unread() int {
	switch {
	case b == UsualBacklog:
		return FirstUnread
	case b < 0:
		return 0
	}
	return int(b)
}

// String is the number or "all", as ParseBacklog reads it.
func (b Backlog) String() string {
	if b >= WholeBacklog {
		return allText
	}
	return strconv.Itoa(b.Unread())
}

// MarshalText implements encoding.TextMarshaler.
func (b Backlog) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Backlog) UnmarshalText(text []byte) (err error) {
	*b, err = ParseBacklog(string(text))
	return err
}
