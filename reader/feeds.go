package reader

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"math"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/internal/shell"
	"feedex/protocol"
	"feedex/safehtml"
	"feedex/syncapi"
)

const (
	// feedPath is the path in front of a feed's URL.
	feedPath = "/feed/"
	// feedsPath is the path in front of a feed's number.
	feedsPath = "/feeds/"
)

const (
	// Window is how many entries a feed's own document holds, those that arrived last. It is ten times what
	// publishers usually list, and thus a fortnight of a busy feed: a reader that asks for it less often follows its
	// prev-archive links. A bound there must be, since most readers take the whole document again whenever it has
	// changed, and read all of it.
	Window = 200
	// maxEdits is how many older entries it holds besides because they were changed lately (RFC 5005 §4.1).
	maxEdits = 50
)

// serveFeed serves the feed of a URL as Atom.
func (h *handler) serveFeed(w http.ResponseWriter, r *http.Request, asked string) {
	urls := FeedURLs(asked)
	if len(urls) == 0 {
		say(w, http.StatusBadRequest, "%q is not the URL of a feed: it begins with http:// or https://.", asked)
		return
	}
	for _, u := range urls {
		c, err := h.Source.Channel(r.Context(), u)
		if err != nil {
			h.fail(w, "read feed", err)
			return
		}
		if c.Number > 0 {
			h.serveChannel(w, r, formats()[0], &c, feedPath+string(u))
			return
		}
	}
	say(w, http.StatusNotFound, "This node has nothing of %s yet. To follow the feed:\n\n\tfeedex subscribe %s",
		urls[0], shell.Quote(string(urls[0])))
}

// isNumbered reports whether a path names a document of a feed by the feed's number.
func isNumbered(path string) bool {
	_, ok := formatOf(extension(path))
	return ok && strings.HasPrefix(path, feedsPath)
}

// extension is the part behind the last dot of a path's last part.
func extension(asked string) string { return strings.TrimPrefix(path.Ext(asked), ".") }

// serveNumbered serves the feed of a number, as in 7.atom, or one of its archive documents, as in 7/3.atom.
func (h *handler) serveNumbered(w http.ResponseWriter, r *http.Request, asked string) {
	f, ok := formatOf(extension(asked))
	name, page, paged := strings.Cut(strings.TrimSuffix(asked, path.Ext(asked)), "/")
	number, _, _ := strings.Cut(name, "-")
	n, err := strconv.ParseInt(number, 10, 64)
	ref, err2 := parseBlock(page)
	if err = errors.Join(err, err2); !ok || err != nil || n < 1 || paged != (ref.Block > 0) {
		say(w, http.StatusNotFound,
			"There is nothing here. A feed is at %s<its number>.atom, .rss or .json.", feedsPath)
		return
	}
	c, err := h.Source.ChannelNumber(r.Context(), n)
	switch {
	case err != nil:
		h.fail(w, "read feed", err)
	case c.Number == 0 || subtle.ConstantTimeCompare([]byte(feedsPath+name), []byte(channelPath(&c))) == 0:
		say(w, http.StatusNotFound, "This node has no feed of that number.")
	case paged:
		h.serveBlock(w, r, f, &c, ref)
	default:
		h.serveChannel(w, r, f, &c, feedsPath+asked)
	}
}

// ChannelKey is the key that the address of a feed by its number has besides, where its URL is a secret: numbers can be
// guessed, and other users of the machine may ask; "" for others. A reader that knows the URL gets it from there.
func ChannelKey(u feed.URL) string {
	if !u.Secret() {
		return ""
	}
	sum := sha256.Sum256([]byte("feedex address of " + u))
	return hex.EncodeToString(sum[:16])
}

// channelPath is where a feed is by its number, without a format.
func channelPath(c *archive.Channel) string {
	path := feedsPath + strconv.FormatInt(c.Number, 10)
	if key := ChannelKey(c.URL); key != "" {
		path += "-" + key
	}
	return path
}

// document is the feed as a document, but for its entries and what leads to others.
func (h *handler) document(r *http.Request, c *archive.Channel, self string) *document {
	d := &document{
		id: string(c.URL), name: c.Title, site: safehtml.Link(c.Link), via: string(c.URL),
		self: origin(r) + self, updated: changedAt(c.Version), generator: h.Version, safe: h.safe,
		about: c.About, language: c.Language, picture: safehtml.Link(string(c.Icon)),
	}
	if c.Version.Empty() && !c.Since.IsZero() {
		d.updated = c.Since
	}
	return d
}

// ServeDocument implements Handler. Its entries have the ids that they will have in the archive.
func (h *handler) ServeDocument(w http.ResponseWriter, r *http.Request, doc *feed.Document) {
	now := time.Now()
	list := make([]archive.Record, len(doc.Entries))
	for i, e := range doc.Entries {
		list[i] = archive.NewRecord(e, now, protocol.NodeID{})
	}
	d := h.document(r, &archive.Channel{URL: doc.Feed, Title: doc.Title, Link: doc.Link,
		About: doc.Description, Language: doc.Language, Icon: doc.Icon,
		Version: archive.FeedVersion{At: now}}, feedPath+string(doc.Feed))
	w.Header().Set("Cache-Control", "private, no-store")
	h.send(w, r, formats()[0], d, false, each(list))
}

// changedAt is when the version came to be, 1970 where there are no entries: Atom wants a time.
func changedAt(v archive.FeedVersion) time.Time {
	if v.At.IsZero() {
		return time.Unix(0, 0)
	}
	return v.At
}

// hub is where subscribers to documents are pushed what is new, "" where nobody does.
func (h *handler) hub(r *http.Request) string {
	if h.Hub == nil {
		return ""
	}
	return origin(r) + hubPath
}

// origin is the handler itself, as the client knows it. HTTP/1.0 does not say the host.
func origin(r *http.Request) string {
	host := r.Host
	if own, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && host == "" {
		host = own.String()
	}
	return syncapi.Scheme(r) + "://" + host
}

// serveChannel serves a feed's own document, which RFC 5005 calls the subscription document.
func (h *handler) serveChannel(w http.ResponseWriter, r *http.Request, f format, c *archive.Channel, self string) {
	d := h.document(r, c, self)
	d.hub = h.hub(r)
	since := ""
	if c.Version.Empty() {
		since = timestamp(d.updated)
	}
	etag := d.etag(c.Version, since)
	if h.unchanged(w, r, etag, c.Version.At) {
		return
	}
	seqs, err := h.Source.Newest(r.Context(), c.Number, Window)
	if err != nil {
		h.fail(w, "read feed", err)
		return
	}
	first := int64(math.MaxInt64)
	if len(seqs) > 0 {
		first = seqs[len(seqs)-1]
	}
	last, err := h.Source.LastBlock(r.Context(), c.Number)
	if err != nil {
		h.fail(w, "read feed", err)
		return
	}
	d.prev = h.blockURL(r, c, last, f)
	delta := false
	version := func(tag string) (archive.FeedVersion, bool) { return d.baseOf(tag, since) }
	if base, tag, ok := deltaBase(r, version); ok && before(base, c.Version) {
		seqs, delta, err = h.newSince(r.Context(), c, seqs, base)
		if delta && len(seqs) == 0 { // entries went, and none came: for a reader that wants what came nothing changed
			w.Header().Set("ETag", tag)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		if delta {
			markDelta(w.Header(), tag)
		}
	}
	if !delta && err == nil {
		var edits []int64
		edits, err = h.Source.Changed(r.Context(), c.Number, archive.FeedVersion{}, first-1, maxEdits)
		seqs = append(seqs, edits...)
	}
	if err != nil {
		h.fail(w, "read feed", err)
		return
	}
	h.send(w, r, f, d, delta, h.Source.Records(r.Context(), seqs))
}

// unchanged sets what an answer says about its version, and answers where the condition of the request has that be all.
func (h *handler) unchanged(w http.ResponseWriter, r *http.Request, etag string, modified time.Time) bool {
	header := w.Header()
	header.Set("ETag", etag)
	header.Set("Cache-Control", "private, no-cache") // keep it, but ask
	header.Add("Vary", "A-IM")
	if settled(modified, time.Now()) {
		header.Set("Last-Modified", modified.UTC().Format(http.TimeFormat))
	} else {
		modified = time.Time{}
	}
	code := precondition(r.Header, etag, modified)
	if code == http.StatusOK {
		return false
	}
	w.WriteHeader(code)
	return true
}

// send writes the document as it comes out of the archive. When that fails midway the connection is
// broken off, so that no reader takes the part for the whole.
func (h *handler) send(w http.ResponseWriter, r *http.Request, f format, d *document, delta bool, entries records) {
	header := w.Header()
	header.Set("Content-Type", f.mediaType+f.charset)
	header.Add("Link", "<"+d.self+`>; rel="self"`)
	if d.hub != "" {
		header.Add("Link", "<"+d.hub+`>; rel="hub"`)
	}
	if r.Method == http.MethodHead {
		return
	}
	if h.MaxBytes > 0 {
		entries = h.fitting(f, d, entries)
	}
	out := &starting{w: w, code: http.StatusOK}
	if delta {
		out.code = http.StatusIMUsed
	}
	err := f.to(out, d, entries)
	switch {
	case err == nil:
	case !out.started:
		for _, name := range []string{"ETag", "Last-Modified", "IM", "Delta-Base", "Link"} {
			header.Del(name)
		}
		h.fail(w, "read entries", err)
	default:
		if r.Context().Err() == nil {
			h.Log.Warn("feed broken off", "feed", d.self, "err", err)
		}
		panic(http.ErrAbortHandler)
	}
}

// A starting writer knows whether anything was written.
type starting struct {
	w       http.ResponseWriter
	code    int // of the answer
	started bool
}

func (s *starting) Write(p []byte) (int, error) {
	if !s.started {
		s.started = true
		s.w.WriteHeader(s.code)
	}
	return s.w.Write(p)
}

// before reports whether what a version is of became what another is of.
func before(v, other archive.FeedVersion) bool {
	return v.Arrived <= other.Arrived && v.Changed <= other.Changed
}

// newSince are those entries of a feed's own document that arrived or changed after a version. ok is false where these
// are as many as the document holds, or more.
func (h *handler) newSince(ctx context.Context, c *archive.Channel, window []int64,
	base archive.FeedVersion) (seqs []int64, ok bool, err error) {
	first := int64(math.MaxInt64)
	in := make(map[int64]bool, len(window))
	for _, seq := range window {
		first = seq
		if in[seq] = true; seq > base.Arrived {
			seqs = append(seqs, seq)
		}
	}
	if len(seqs) == Window {
		return window, false, nil
	}
	changed, err := h.Source.Changed(ctx, c.Number, base, base.Arrived, Window+maxEdits)
	if err != nil || len(changed) == Window+maxEdits {
		return window, false, err
	}
	edits := 0
	for _, seq := range changed {
		if !in[seq] && seq < first {
			if edits++; edits > maxEdits {
				continue
			}
		}
		seqs = append(seqs, seq)
	}
	return seqs, true, nil
}
