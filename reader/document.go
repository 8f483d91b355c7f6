package reader

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/safehtml"
)

// A document is a feed as it is about to be written, in any format.
type document struct {
	id        string // the same in every format
	name      string // title as published, may hold markup; "" where it is not known
	site      string // "" for none
	via       string // where it is published, "" for what is made here
	self      string // where it is served
	hub       string // what pushes it to subscribers (WebSub), "" for none
	search    string // where the description of a search is, "" for none
	archived  bool   // it is an archive document (RFC 5005 §4)
	current   string // of an archive document: where the newest entries are
	prev      string // the archive document with what came before, "" for none
	next      string // the one with what came after, "" for none
	about     string // what the publisher says of it, as published
	language  string // that it is in, "" where unknown
	picture   string // the address of one that stands for it, "" for none
	updated   time.Time
	generator string // our version
	// titles are those of the feeds that the entries are of, as published, where these are several.
	titles map[feed.URL]string
	safe   *safehtml.Sanitizer
}

// records are entries as they come out of the archive. An error is the last thing that comes.
type records = iter.Seq2[archive.Record, error]

// A format is how documents are written.
type format struct {
	name      string // as in addresses
	mediaType string
	charset   string // "; charset=utf-8" where the media type has that parameter
	write     func(w *bufio.Writer, d *document, entries records) error
}

// formats are the formats, the usual one first.
func formats() []format {
	return []format{
		{"atom", atomType, "; charset=utf-8", writeAtom},
		{"rss", rssType, "; charset=utf-8", writeRSS},
		{"json", jsonType, "", writeJSON},
	}
}

// formatOf is the format of that name.
func formatOf(name string) (format, bool) {
	for _, f := range formats() {
		if f.name == name {
			return f, true
		}
	}
	return format{}, false
}

// to writes the document. It holds one entry in memory at a time.
func (f format) to(w io.Writer, d *document, entries records) error {
	out := bufio.NewWriterSize(w, 32<<10)
	if err := f.write(out, d, shown(entries)); err != nil {
		return err
	}
	return out.Flush()
}

// fitting are the entries that fit into a document of MaxBytes, those that come first before others. An entry of a
// megabyte may be ten in the document, since HTML is escaped anew there, and takes a tenth of a second to write: once
// as much text as the document may have was tried in vain, no other long one is.
func (h *handler) fitting(f format, d *document, entries records) records {
	return func(yield func(archive.Record, error) bool) {
		head := f.size(d, each(nil))
		room, left, vain := h.MaxBytes-head, 0, 0
		for r, err := range entries {
			if err == nil {
				text, size := len(r.Entry.Summary)+len(r.Entry.Content), room+1
				if text <= h.MaxBytes/longPart || vain < h.MaxBytes {
					if size = f.size(d, each([]archive.Record{r})) - head + 1; size > room { // the comma, in JSON
						vain += min(text, h.MaxBytes/2)
					}
				}
				if size > room {
					left++
					continue
				}
				room -= size
			}
			if !yield(r, err) {
				return
			}
		}
		if left > 0 {
			h.Log.Warn("entries are left out of a document: they are too large", "feed", d.self, "entries", left)
		}
	}
}

// longPart is the part of MaxBytes from which on a text is long, as 1/longPart.
const longPart = 64

// size is how large the document is with these entries, in bytes.
func (f format) size(d *document, entries records) int {
	var n byteCount
	_ = f.to(&n, d, entries) // which cannot fail: they are there
	return int(n)
}

// A byteCount counts what is written.
type byteCount int

func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}

// shown is the entries as readers may take them, but for their HTML.
func shown(entries records) records {
	return func(yield func(archive.Record, error) bool) {
		for r, err := range entries {
			safehtml.Entry(&r.Entry)
			if !yield(r, err) {
				return
			}
		}
	}
}

// title is the name of the feed: its id where nobody knows one.
func (d *document) title() string { return cmp.Or(safehtml.Label(d.name), safehtml.Inert(d.id)) }

// aboutIt is what the publisher says of the feed, as text.
func (d *document) aboutIt() string { return safehtml.Inert(d.safe.Text(d.about)) }

// feedTitle is the name of the feed of an entry, where the document is of several.
func (d *document) feedTitle(u feed.URL) string {
	return cmp.Or(safehtml.Label(d.titles[u]), safehtml.Inert(string(u)))
}

// authors are those of an entry. Where none is named its feed stands in, if the document is of several.
func (d *document) authors(e *feed.Entry) []string {
	if len(e.Authors) > 0 || d.titles == nil {
		return e.Authors
	}
	return []string{d.feedTitle(e.Feed)}
}

// base is the address to which those in an entry's HTML are relative.
func base(e *feed.Entry) string { return cmp.Or(e.Link, string(e.Feed)) }

// published is when the publisher says that the entry was, the zero time where that is not known or in the future.
func published(r *archive.Record) time.Time {
	if p := r.Entry.Published; !p.After(r.Seen.Add(feed.Ahead)) {
		return p
	}
	return time.Time{}
}

// writing is raised when the same entries are written differently, so that readers fetch them again.
const writing = 8

// etag is a strong entity tag: it covers all that the bytes of the document depend on, given that they are the
// same as long as the version and what else there is are. It tells the version that it is of, so that one
// that comes back says what is new since (baseOf).
func (d *document) etag(v archive.FeedVersion, more ...string) string {
	return `"` + strconv.FormatInt(v.Arrived, 10) + "." + strconv.FormatInt(v.Changed, 10) + "-" + d.hash(more) + `"`
}

// hash covers what does not follow from the version of the entries.
func (d *document) hash(more []string) string {
	var b []byte
	for _, s := range append([]string{strconv.Itoa(writing), d.generator, d.id, d.name, d.site, d.self, d.hub,
		d.current, d.about, d.language, d.picture}, more...) {
		b = feed.AppendField(b, s)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// baseOf is the version that an entity tag is of, if it is one of this document's.
func (d *document) baseOf(etag string, more ...string) (v archive.FeedVersion, ok bool) {
	numbers, hash, _ := strings.Cut(strings.Trim(etag, `"`), "-")
	arrived, changed, _ := strings.Cut(numbers, ".")
	if hash != d.hash(more) {
		return v, false
	}
	var err1, err2 error
	v.Arrived, err1 = strconv.ParseInt(arrived, 10, 64)
	v.Changed, err2 = strconv.ParseInt(changed, 10, 64)
	return v, err1 == nil && err2 == nil
}
