// Package reader is the view that a feed reader has of a node: every feed as Atom 1.0, RSS 2.0 or JSON Feed 1.1 with
// the entries that the node has, polled or brought by neighbors, under one local address. Their HTML is stored as it
// was published and sanitized here (package safehtml): what neighbors bring need not be the publisher's.
//
//	http://127.0.0.1:7791/feed/https://example.com/feed.xml
//	http://127.0.0.1:7791/feeds/7.rss
//	http://127.0.0.1:7791/all.atom
//
// A feed's own document holds the latest entries, and leads to archive documents with all the others (RFC 5005).
//
// It is meant for the node's owner and shows everything, private feeds too, so it belongs on the
// loopback address; on others it wants passwords (Config.Entrance). Against web pages that aim at it from the owner's
// browser it answers only under names that are its own.
package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"feedex/feed"
	"feedex/internal/shell"
	"feedex/reading"
	"feedex/safehtml"
)

// Config holds the dependencies of a handler.
type Config struct {
	// Source is where feeds and entries come from.
	Source Source
	// Web answers whatever is no way in for a feed reader: pages for people. It has methods and a login of its own.
	// Default: none.
	Web http.Handler
	// Known reports whether a client that shows no password needs none here, because it has logged in there or for
	// whatever else it is known. Default: all need one.
	Known func(*http.Request) bool
	// Hub is the WebSub hub of the feeds, told by itself when there is something new. Default: none.
	Hub http.Handler
	// Hosts are further names under which the owner reaches the handler, without a port. Default
	// none: "localhost" and IP addresses always do.
	Hosts []string
	// Entrance knows the passwords that let the owner's programs in. Default: nobody needs one, as is right on the
	// loopback address alone.
	Entrance reading.Entrance
	// Sync are the sync APIs, by the beginnings of the paths at which they serve. Default none. They let no reader in
	// that does not show a password of the owner's.
	Sync map[string]http.Handler
	// Filters are the filters of people, each of which is a feed. Default: there are none.
	Filters FilterSource
	// ByKey has filters found by their keys alone, where nobody says who asks.
	ByKey bool
	// MaxBytes is how large a document of entries is at most: of these it leaves out what does not fit. Default: as
	// large as it is.
	MaxBytes int
	// Metrics tells at /metrics how the node is doing, and Health at /healthz whether it works: that needs no password.
	// Default: there is nothing there.
	Metrics, Health http.Handler
	// Version is the program's own, for the generator element. Default "".
	Version string
	// Log takes what went wrong on our side. Default: nowhere.
	Log *slog.Logger
}

const (
	// hubPath is where subscribers find the hub.
	hubPath = "/hub"
	// metricsPath and healthPath are where programs look that watch over the node.
	metricsPath, healthPath = "/metrics", "/healthz"
)

// A Handler serves the reader's address.
type Handler interface {
	http.Handler
	// ServeDocument answers a request for a feed with a document that is not in the archive yet, as if it were.
	ServeDocument(w http.ResponseWriter, r *http.Request, doc *feed.Document)
}

type handler struct {
	Config
	http.Handler
	hosts map[string]bool
	safe  *safehtml.Sanitizer
}

// New makes the handler. It serves GET and HEAD of /feed/<url> and /feeds/<number>.<format>, with conditional requests
// and deltas, of /all.<format>, which is all of them, of /filter/<name>.<format>, which is what a filter caught, of
// /archive, which searches them, and of /opml, which lists them as OPML; /metrics and /healthz are for programs that
// watch over the node. Config.Web answers all other requests. Whatever it says in words goes as gzip to who takes that.
//
// It looks at the request target itself and must not stand behind an http.ServeMux pattern, which
// would redirect away the two slashes in a feed's URL.
func New(cfg Config) Handler {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	h := &handler{Config: cfg, hosts: map[string]bool{"localhost": true}, safe: safehtml.New()}
	for _, name := range cfg.Hosts {
		h.hosts[feed.HostName(name)] = true
	}
	h.Handler = compress(http.HandlerFunc(h.serve))
	return h
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Body != nil && r.Body != http.NoBody {
		// It fails only where w is no connection.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
	}
	target := requestTarget(r)
	path, query, _ := strings.Cut(target, "?")
	var visitor reading.Visitor
	switch {
	case !h.knownHost(r.Host):
		name := hostName(r.Host)
		say(w, http.StatusMisdirectedRequest,
			"This node's reader is not known under the name %q. Use 127.0.0.1 or localhost, "+
				"or let the node know the name: reader_host = [%q] in its config file, or --reader-host %s.", name,
			name, shell.Quote(name))
	case h.sync(w, r):
	case path == healthPath && h.Health != nil:
		h.Health.ServeHTTP(w, r)
	case h.Web != nil && !ours(path):
		h.Web.ServeHTTP(w, r)
	case !h.admits(w, r, &visitor):
	case path == hubPath && h.Hub != nil:
		h.Hub.ServeHTTP(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		say(w, http.StatusMethodNotAllowed, "Only GET and HEAD work here.")
	case path == metricsPath && h.Metrics != nil:
		h.Metrics.ServeHTTP(w, r)
	case path == archivePath:
		h.serveArchive(w, r, query)
	case path == opmlPath:
		h.serveOPML(w, r, query, visitor)
	case path == openSearchPath:
		h.serveOpenSearch(w, r)
	case strings.HasPrefix(target, feedPath):
		h.serveFeed(w, r, target[len(feedPath):])
	case isNumbered(path):
		h.serveNumbered(w, r, path[len(feedsPath):])
	case strings.HasPrefix(path, filterPath):
		h.serveFilter(w, r, path[len(filterPath):], query, &visitor)
	case strings.HasPrefix(path, allPath):
		h.serveAll(w, r, path[len(allPath):])
	default:
		say(w, http.StatusNotFound, "There is nothing here. A feed is at %s<its URL>, the list of feeds at %s.",
			feedPath, opmlPath)
	}
}

// bodyTime is how long a program may take to send the body of a request, and to be answered then.
const bodyTime = 2 * time.Minute

// ours reports whether a path is a way in for feed readers.
func ours(path string) bool {
	switch path {
	case archivePath, opmlPath, openSearchPath, hubPath, metricsPath:
		return true
	}
	return strings.HasPrefix(path, feedPath) || strings.HasPrefix(path, allPath) ||
		strings.HasPrefix(path, filterPath) || isNumbered(path)
}

// sync has a sync API answer the request, and reports whether there is one for its path. An address with a slash at its
// end, which readers put another in front of, is as good.
func (h *handler) sync(w http.ResponseWriter, r *http.Request) bool {
	if path := "/" + strings.TrimLeft(r.URL.Path, "/"); len(path) < len(r.URL.Path) {
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = path, ""
	}
	for prefix, api := range h.Sync {
		if strings.HasPrefix(r.URL.Path, prefix) {
			api.ServeHTTP(w, r)
			return true
		}
	}
	return false
}

// fail tells the owner in the log what happened, and the reader that it is not its fault.
func (h *handler) fail(w http.ResponseWriter, what string, err error) {
	if !errors.Is(err, context.Canceled) {
		h.Log.Error(what, "err", err)
	}
	say(w, http.StatusInternalServerError, "The node could not read its archive. Its log says why.")
}

// say answers with words for a person.
func say(w http.ResponseWriter, code int, format string, args ...any) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	fmt.Fprintf(w, format+"\n", args...)
}
