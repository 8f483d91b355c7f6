package archive

import (
	"fmt"
	"slices"

	"feedex/feed"
)

// Sharing is what of the owner's marks of a feed is told to neighbors who tell theirs. It is nothing while they do not
// hear of the feed.
type Sharing int

// What is told. Labels are told by who tells stars too: they say more of their owner than stars do.
const (
	SharesNothing Sharing = iota
	SharesStars
	SharesLabels
)

var sharings = []string{"nothing", "stars", "labels"}

// ParseSharing reads what String writes.
func ParseSharing(s string) (Sharing, error) {
	if i := slices.Index(sharings, s); i >= 0 {
		return Sharing(i), nil
	}
	return 0, fmt.Errorf("%q: want nothing, stars, or labels, which are told along with stars", s)
}

func (s Sharing) String() string { return sharings[min(max(s, 0), SharesLabels)] }

// MarshalText implements encoding.TextMarshaler.
func (s Sharing) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Sharing) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSharing(string(text))
	return err
}

// A Labelled is a label that the owner gave an entry.
type Labelled struct {
	Name  string
	Entry feed.EntryID
}
