package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// A Line is the record of an entry in an export. Members are only ever added.
type Line struct {
	Entry
	Digest string `json:"digest"` // of the content, 40 hexadecimal digits; see docs/PROTOCOL.md
	// SHA256 is the fingerprint, 64 hexadecimal digits, also there.
	SHA256 string `json:"sha256,omitempty"`
	// Hidden says that the archive serves the entry to nobody but its owner.
	Hidden bool `json:"hidden,omitempty"`

	checked *checked // what Check made of the members above, nil before
}

// checked is the entry of a line, clean, with its identity: that takes as long to find as storing it half does.
type checked struct {
	entry    feed.Entry
	identity feed.Identity
}

// MaxLineBytes bounds a line: longer ones are no entries.
const MaxLineBytes = 16 << 20

// NewLine converts a record, hidden or not.
func NewLine(r *archive.Record, hidden bool) Line {
	return Line{Entry: NewEntry(r), Digest: r.Digest.String(), SHA256: r.Entry.Fingerprint().String(),
		Hidden: hidden}
}

// Append appends the line as an export has it, with a line feed at the end.
func (l *Line) Append(dst []byte) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(l)
	return b.Bytes(), err
}

// ParseLine reads a line that somebody exported and checks it.
func ParseLine(text []byte) (Line, error) {
	var l Line
	if err := json.Unmarshal(text, &l); err != nil {
		return Line{}, inWords(err)
	}
	return l, l.Check()
}

// Check says what is wrong with a line that somebody exported: the feed is none, or id or digest are not those
// of the content. A line that was checked is not to be changed.
func (l *Line) Check() error {
	u, err := feed.ParseURL(string(l.Feed))
	if err != nil {
		return err
	}
	l.Feed = u
	for _, t := range []*time.Time{&l.Published, &l.Updated, &l.Seen} {
		if y := t.Year(); !t.IsZero() && (y < 1 || y > 9999) {
			return fmt.Errorf("the year %d is none that feeds have", y)
		}
	}
	c := l.clean()
	switch {
	case l.ID != "" && l.ID != c.identity.ID.String():
		return errors.New("the id is not that of the content")
	case l.Digest != "" && l.Digest != c.identity.Digest.String(),
		l.SHA256 != "" && l.SHA256 != c.entry.Fingerprint().String():
		return errors.New("the digest is not that of the content: the line was changed")
	}
	l.checked = c
	return nil
}

func (l *Line) clean() *checked {
	c := &checked{entry: l.entry()}
	c.entry.Clean()
	c.identity = c.entry.Identity()
	return c
}

// Filling is the record that the line makes at now in an archive that takes it over: it was seen when its
// source saw it, but not in the future, and nobody has confirmed it here.
func (l *Line) Filling(now time.Time) archive.Record {
	c := l.checked
	if c == nil {
		c = l.clean()
	}
	seen := l.Seen
	if seen.IsZero() || seen.After(now) {
		seen = now
	}
	r := archive.RecordOf(c.entry, c.identity, seen, l.Source)
	r.Confirmed = false
	return r
}

// inWords says what is wrong with JSON.
func inWords(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s is a JSON %s", strings.TrimPrefix(wrong.Field, "Entry."), wrong.Value)
	case errors.As(err, new(*json.SyntaxError)):
		return fmt.Errorf("it is not JSON (%w)", err)
	}
	return err
}
