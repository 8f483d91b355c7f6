package feed

import (
	"bytes"
	"crypto/sha1" // the protocol's digest, Paper §3.4; not used against forgery of a preimage
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
)

// ErrDigest is wrapped by the errors of ParseEntryID.
var ErrDigest = errors.New("want 40 hexadecimal digits")

// An EntryID tells whether two entries are the same one, whatever was edited since: the SHA-1 of the
// feed's URL and the entry's id or guid or, without one, of the feed's URL, the title and the link
// (Paper §3). docs/PROTOCOL.md specifies the hashed bytes.
type EntryID [sha1.Size]byte

// A Digest tells whether two versions of an entry are the same to the letter: the SHA-1 of all its
// fields. docs/PROTOCOL.md specifies the hashed bytes.
type Digest [sha1.Size]byte

// A Fingerprint is a Digest by SHA-256, of the feed's URL as well: what is to be signed, or compared with the word of
// strangers, needs a hash of which nobody makes two texts. The protocol's own identifiers are the paper's.
// docs/PROTOCOL.md specifies the hashed bytes.
type Fingerprint [sha256.Size]byte

// String is the fingerprint as 64 lower-case hexadecimal digits.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// Fingerprint computes the fingerprint of the entry.
func (e *Entry) Fingerprint() Fingerprint {
	b := AppendField(make([]byte, 0, e.fieldsBytes()+len(e.Feed)), string(e.Feed))
	return sha256.Sum256(e.appendRest(AppendField(b, e.ID)))
}

// An Identity is the identity of an entry and that of the version of it.
type Identity struct {
	ID     EntryID
	Digest Digest
	// Bare is a hash of what the digest is of, but for the entry's id. It tells entries of one publisher apart, which
	// could make two that have the same; it is nothing to be kept or sent.
	Bare uint64
	// Extras is the Sum of the entry's extras, which neither of the others is of.
	Extras ExtrasSum
}

// Identity computes all of it.
func (e *Entry) Identity() Identity {
	digest, bare := e.version()
	return Identity{e.EntryID(), digest, bare, e.Extras.Sum()}
}

// String is the id as 40 lower-case hexadecimal digits, as it goes over the wire.
func (id EntryID) String() string { return hex.EncodeToString(id[:]) }

// Compare orders ids by their bytes, for slices.SortFunc.
func (id EntryID) Compare(other EntryID) int { return bytes.Compare(id[:], other[:]) }

// String is the digest as 40 lower-case hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Compare orders digests by their bytes, for slices.SortFunc.
func (d Digest) Compare(other Digest) int { return bytes.Compare(d[:], other[:]) }

// ParseEntryID reads what EntryID.String writes.
func ParseEntryID(s string) (id EntryID, err error) {
	err = parseHex(id[:], s)
	return id, err
}

func parseHex(dst []byte, s string) error {
	if len(s) != 2*len(dst) {
		return fmt.Errorf("%w, got %d bytes", ErrDigest, len(s))
	}
	if _, err := hex.Decode(dst, []byte(s)); err != nil {
		return fmt.Errorf("%w: %v", ErrDigest, err)
	}
	return nil
}

// EntryID computes the entry's identity.
func (e *Entry) EntryID() EntryID {
	var buf [256]byte
	b := AppendField(buf[:0], string(e.Feed))
	if e.ID != "" {
		b = AppendField(b, "id")
		b = AppendField(b, e.ID)
	} else {
		b = AppendField(b, "title-link")
		b = AppendField(b, e.Title)
		b = AppendField(b, e.Link)
	}
	return sha1.Sum(b)
}

// Digest computes the digest of the entry's fields. The feed is not among them: it is in the EntryID
// and in the bundle's identifier.
func (e *Entry) Digest() Digest {
	digest, _ := e.version()
	return digest
}

// version is the digest of the entry, and its Identity.Bare.
func (e *Entry) version() (digest Digest, bare uint64) {
	// on the stack if it fits, and a short entry does not pay for clearing what a long one needs
	switch n := e.fieldsBytes(); {
	case n <= 1024:
		return e.hash(make([]byte, 0, 1024))
	case n <= 4096:
		return e.hash(make([]byte, 0, 4096))
	default:
		return e.hash(make([]byte, 0, n))
	}
}

// hash is version, with room for the fields in buf.
func (e *Entry) hash(buf []byte) (digest Digest, bare uint64) {
	buf = AppendField(buf, e.ID)
	id := len(buf)
	buf = e.appendRest(buf)
	return sha1.Sum(buf), xxhash.Sum64(buf[id:])
}

// fieldsBytes is about how many bytes the fields take that the digest is of.
func (e *Entry) fieldsBytes() int {
	return 256 + len(e.ID) + len(e.Title) + len(e.Link) + len(e.Summary) + len(e.Content)
}

// appendRest appends what the digest is of, but for the id, which comes first.
func (e *Entry) appendRest(b []byte) []byte {
	b = AppendField(b, e.Title)
	b = AppendField(b, e.Link)
	b = appendList(b, e.Authors)
	b = AppendField(b, seconds(e.Published))
	b = AppendField(b, seconds(e.Updated))
	b = AppendField(b, e.Summary)
	b = AppendField(b, e.Content)
	b = appendList(b, e.Categories)
	b = AppendField(b, strconv.Itoa(len(e.Enclosures)))
	for _, enc := range e.Enclosures {
		b = AppendField(b, enc.URL)
		b = AppendField(b, enc.Type)
		b = AppendField(b, strconv.FormatInt(enc.Length, 10))
	}
	if len(e.Rights) > 0 || e.CopiedFrom != (Original{}) {
		b = appendList(b, e.Rights)
		for _, s := range []string{e.CopiedFrom.ID, e.CopiedFrom.Title, e.CopiedFrom.URL} {
			b = AppendField(b, s)
		}
	}
	return b
}

// SameButDates reports whether the entry, had it these dates, would have the digest d: it is then the version
// that they and d are of, apart from its own dates.
func (e *Entry) SameButDates(d Digest, published, updated time.Time) bool {
	dated := *e
	dated.Published, dated.Updated = published, updated
	return dated.Digest() == d
}

// AppendField appends s with its length in front, "5:hello", so that no two lists of fields run
// together into the same bytes.
func AppendField(dst []byte, s string) []byte {
	if len(s) < 10 { // most fields of most entries
		dst = append(dst, '0'+byte(len(s)), ':')
	} else {
		dst = append(strconv.AppendUint(dst, uint64(len(s)), 10), ':')
	}
	return append(dst, s...)
}

// appendList appends the number of items and then each item.
func appendList(dst []byte, items []string) []byte {
	dst = AppendField(dst, strconv.Itoa(len(items)))
	for _, s := range items {
		dst = AppendField(dst, s)
	}
	return dst
}

// seconds is t as decimal Unix seconds, "" for the zero time.
func seconds(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.Unix(), 10)
}

// Clean brings every string of the entry into clean form and every time to whole seconds of UTC.
// An entry must be clean before its EntryID or Digest is taken.
func (e *Entry) Clean() {
	for _, s := range []*string{&e.ID, &e.Title, &e.Link, &e.Summary, &e.Content, &e.CopiedFrom.ID, &e.CopiedFrom.Title,
		&e.CopiedFrom.URL} {
		*s = Clean(*s)
	}
	cleanAll(e.Authors)
	cleanAll(e.Categories)
	cleanAll(e.Rights)
	for i := range e.Enclosures {
		e.Enclosures[i].URL = Clean(e.Enclosures[i].URL)
		e.Enclosures[i].Type = Clean(e.Enclosures[i].Type)
	}
	for _, t := range []*time.Time{&e.Published, &e.Updated} {
		if !t.IsZero() {
			*t = time.Unix(t.Unix(), 0).UTC()
		}
	}
	e.Extras.Clean()
}

func cleanAll(list []string) {
	for i, s := range list {
		list[i] = Clean(s)
	}
}

// Equal reports whether the two entries are the same to the letter, with what their digests do not count.
func (e *Entry) Equal(other *Entry) bool {
	return e.Feed == other.Feed && e.ID == other.ID && e.Title == other.Title && e.Link == other.Link &&
		e.Summary == other.Summary && e.Content == other.Content &&
		e.Published.Equal(other.Published) && e.Updated.Equal(other.Updated) &&
		slices.Equal(e.Authors, other.Authors) && slices.Equal(e.Categories, other.Categories) &&
		slices.Equal(e.Enclosures, other.Enclosures) && slices.Equal(e.Rights, other.Rights) &&
		e.CopiedFrom == other.CopiedFrom && e.Extras.Equal(&other.Extras)
}
