// Package reader is what a feed reader sees of a node: every feed as Atom 1.0 with all the entries
// that the node has, polled or brought by neighbors, under one local address. Their HTML is stored as it was
// published and sanitized here (package safehtml): what neighbors bring need not be the publisher's.
//
//	http://127.0.0.1:7791/feed/https://example.com/feed.xml
//
// It is meant for the node's owner and shows everything, private feeds too, so it belongs on the
// loopback address. Against web pages that aim at it from the owner's browser it answers only under
// names that are its own.
package reader

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/safehtml"
)

// A Source is the archive, as far as it is read here. Its methods may be called by several goroutines
// at once and end early with their context's error.
type Source interface {
	// Feeds returns the feeds that the node follows or followed, in the order they are to be shown.
	Feeds(ctx context.Context) ([]archive.Feed, error)
	// Feed returns what is known of one of them, the zero Feed if there is none.
	Feed(ctx context.Context, u feed.URL) (archive.Feed, error)
	// FeedVersion returns the version of the feed's entries, the zero Version if there are none.
	FeedVersion(ctx context.Context, u feed.URL) (Version, error)
	// FeedEntries returns all entries of the feed, newest arrival first. It need not hold them in
	// memory. An error is the last thing it yields.
	FeedEntries(ctx context.Context, u feed.URL) iter.Seq2[archive.Record, error]
	archive.Searcher
}

// A Version tells whether the entries of a feed are still the same.
type Version struct {
	Number  int64     // grows with every entry kept or replaced; 0 for a feed without entries
	Changed time.Time // when that last happened, whole seconds; zero for a feed without entries
}

// Config is what a handler needs.
type Config struct {
	// Source is where feeds and entries come from.
	Source Source
	// Hosts are further names under which the owner reaches the handler, without a port. Default
	// none: "localhost" and IP addresses always do.
	Hosts []string
	// Version is the program's own, for the generator element. Default "".
	Version string
	// Log takes what went wrong on our side. Default: nowhere.
	Log *slog.Logger
}

type handler struct {
	Config
	hosts map[string]bool
	safe  *safehtml.Policy
}

// New makes the handler. It serves GET and HEAD of /feed/<url>, with conditional requests, of /archive, which
// searches all feeds, of /opml, which lists them as OPML, and of /, a page that does so for people.
//
// It looks at the request target itself and must not stand behind an http.ServeMux pattern, which
// would redirect away the two slashes in a feed's URL.
func New(cfg Config) http.Handler {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	h := &handler{Config: cfg, hosts: map[string]bool{"localhost": true}, safe: safehtml.New()}
	for _, name := range cfg.Hosts {
		h.hosts[strings.ToLower(strings.TrimSuffix(name, "."))] = true
	}
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	target := requestTarget(r)
	path, query, _ := strings.Cut(target, "?")
	switch {
	case !h.knownHost(r.Host):
		name := hostName(r.Host)
		say(w, http.StatusMisdirectedRequest, "This node's reader is not known under the name %q. Use 127.0.0.1 or localhost, "+
			"or let the node know the name: reader_host = [%q] in its config file, or --reader-host %s.", name, name, quote(name))
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		say(w, http.StatusMethodNotAllowed, "Only GET and HEAD work here.")
	case path == "/":
		h.serveIndex(w, r)
	case path == archivePath:
		h.serveArchive(w, r, query)
	case path == opmlPath:
		h.serveOPML(w, r, query)
	case path == openSearchPath:
		h.serveOpenSearch(w, r)
	case strings.HasPrefix(target, feedPath):
		h.serveFeed(w, r, target[len(feedPath):])
	default:
		say(w, http.StatusNotFound, "There is nothing here. A feed is at %s<its URL>, the list of feeds at /.", feedPath)
	}
}

// feedPath is what stands in front of a feed's URL.
const feedPath = "/feed/"

func (h *handler) serveFeed(w http.ResponseWriter, r *http.Request, asked string) {
	urls := feedURLs(asked)
	if len(urls) == 0 {
		say(w, http.StatusBadRequest, "%q is not the URL of a feed: it begins with http:// or https://.", asked)
		return
	}
	d, err := h.find(r.Context(), urls)
	switch {
	case errors.Is(err, errUnknown):
		say(w, http.StatusNotFound, "This node has nothing of %s yet. To follow the feed:\n\n\tfeedex subscribe %s", urls[0], quote(string(urls[0])))
		return
	case err != nil:
		h.fail(w, "read feed", err)
		return
	}
	d.self = "http://" + r.Host + feedPath + string(d.url)

	header := w.Header()
	etag := d.etag()
	header.Set("ETag", etag)
	header.Set("Cache-Control", "private, no-cache") // keep it, but ask
	modified := d.version.Changed
	if settled(modified, time.Now()) {
		header.Set("Last-Modified", modified.UTC().Format(http.TimeFormat))
	} else {
		modified = time.Time{}
	}
	if code := precondition(r.Header, etag, modified); code != http.StatusOK {
		w.WriteHeader(code)
		return
	}
	header.Set("Content-Type", "application/atom+xml; charset=utf-8")
	if r.Method == http.MethodHead {
		return
	}
	h.stream(w, r, d)
}

// errUnknown says that the archive has nothing of a feed.
var errUnknown = errors.New("unknown feed")

// find is the first of the feeds that the archive has something of.
func (h *handler) find(ctx context.Context, urls []feed.URL) (*document, error) {
	for _, u := range urls {
		known, err := h.Source.Feed(ctx, u)
		if err != nil {
			return nil, err
		}
		version, err := h.Source.FeedVersion(ctx, u)
		if err != nil {
			return nil, err
		}
		if known.URL == u || version.Number > 0 {
			return &document{url: u, feed: known, version: version, generator: h.Version, safe: h.safe}, nil
		}
	}
	return nil, errUnknown
}

// stream writes the document as it comes out of the archive. When that fails midway the connection is
// broken off, so that no reader takes the part for the whole.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, d *document) {
	out := &starting{w: w}
	err := d.write(out, h.Source.FeedEntries(r.Context(), d.url))
	switch {
	case err == nil:
	case !out.started:
		w.Header().Del("ETag")
		w.Header().Del("Last-Modified")
		h.fail(w, "read entries", err)
	default:
		if r.Context().Err() == nil {
			h.Log.Warn("feed broken off", "feed", string(d.url), "err", err)
		}
		panic(http.ErrAbortHandler)
	}
}

// fail tells the owner in the log what happened, and the reader that it is not its fault.
func (h *handler) fail(w http.ResponseWriter, what string, err error) {
	if !errors.Is(err, context.Canceled) {
		h.Log.Error(what, "err", err)
	}
	say(w, http.StatusInternalServerError, "The node could not read its archive. Its log says why.")
}

// A starting writer knows whether anything was written.
type starting struct {
	w       http.ResponseWriter
	started bool
}

func (s *starting) Write(p []byte) (int, error) {
	s.started = true
	return s.w.Write(p)
}

// say answers with words for a person.
func say(w http.ResponseWriter, code int, format string, args ...any) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	fmt.Fprintf(w, format+"\n", args...)
}

// quote is s as one word of a POSIX shell.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
