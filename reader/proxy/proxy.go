// Package proxy is the node as an HTTP proxy, for feed readers that poll for themselves and can be given one. A request
// of theirs in absolute form, "GET http://example.com/feed.xml", is answered from the archive where the node follows
// that feed: ten readers that poll it every minute cost its publisher nothing.
//
// It is no way into the owner's network. Web pages cannot send such requests unless the browser was told to use
// this proxy; then, as ever, nothing is fetched but feeds, by the node's own rules, and, if the owner has that so,
// what is public. Requests that are not for a proxy go on to the next handler.
package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"feedex/feed"
	"feedex/internal/shell"
	"feedex/reading"
)

// Feeds is the node, as far as it is needed here. Its methods may be called by several goroutines at once.
type Feeds interface {
	// Follows reports whether the node follows the feed.
	Follows(ctx context.Context, u feed.URL) (bool, error)
	// Look fetches a document, by the rules by which the node polls, and returns what it is if it is a feed. The error
	// wraps ErrNoFeed if it is something else, and ErrAnswered if its publisher answered and gave none.
	Look(ctx context.Context, u feed.URL) (*feed.Document, error)
	// Follow has the node follow the feed.
	Follow(ctx context.Context, u feed.URL) error
}

// ErrNoFeed says that what is at an address is no feed, and ErrAnswered that its publisher answered otherwise.
var (
	ErrNoFeed   = errors.New("this is no feed")
	ErrAnswered = errors.New("its publisher answers")
)

// A Reader answers requests for /feed/<url>, and writes feeds that are not in the archive yet.
type Reader interface {
	http.Handler
	ServeDocument(w http.ResponseWriter, r *http.Request, doc *feed.Document)
}

// Config holds the dependencies of a proxy.
type Config struct {
	Reader Reader // also answers whatever is not for a proxy
	Feeds  Feeds
	// Subscribe has the node follow what is asked for, is not followed and turns out to be a feed. Default: that is
	// refused.
	Subscribe bool
	// Pass leads to what is no feed, and to all that goes through a tunnel. Default: that is refused.
	Pass *Passage
	// Hosts are the names of the node's own address, besides localhost and IP addresses.
	Hosts []string
	// Entrance knows the passwords that let the owner's programs in. Default: nobody needs one.
	Entrance reading.Entrance
	// Known reports whether a client needs none although there is an Entrance. Default: all need one.
	Known func(*http.Request) bool
	// Log takes what went wrong on our side. Default: nowhere.
	Log *slog.Logger
}

type proxy struct {
	Config
	own     map[string]bool
	looks   looks
	passing chan struct{} // holds a place for each request and tunnel that goes through
}

// New makes the handler.
func New(cfg Config) http.Handler {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	p := &proxy{Config: cfg, own: map[string]bool{"localhost": true}, passing: make(chan struct{}, maxPassing)}
	for _, name := range cfg.Hosts {
		p.own[feed.HostName(name)] = true
	}
	return p
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect && p.Pass != nil:
		if p.admits(w, r) {
			p.pass(w, func() { p.tunnel(w, r) })
		}
	case r.Method == http.MethodConnect:
		say(w, http.StatusMethodNotAllowed,
			"This proxy opens no tunnels: what goes through one cannot be answered from the archive. "+
				"Have your reader use no proxy for https, and give it this address instead of that of a feed at "+
				"https://%s/...:\n\n\thttp://%s/feed/https://%s/...\n\n"+
				"Or write http:// in front of the feed's address instead of https://. With reader_proxy = \"all\" the "+
				"node opens tunnels.", strings.TrimSuffix(r.Host, ":443"),
			address(r), strings.TrimSuffix(r.Host, ":443"))
	case !r.URL.IsAbs() || p.isOwn(r):
		p.Reader.ServeHTTP(w, r)
	case !p.admits(w, r):
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		say(w, http.StatusMethodNotAllowed, "Only GET and HEAD go through this proxy.")
	default:
		p.serve(w, r)
	}
}

// serve answers a request for what is somewhere else.
func (p *proxy) serve(w http.ResponseWriter, r *http.Request) {
	u, err := feed.ParseURL(r.RequestURI)
	if err != nil {
		say(w, http.StatusBadRequest, "%v.", err)
		return
	}
	names := []feed.URL{u}
	if rest, ok := strings.CutPrefix(string(u), "http://"); ok {
		names = append(names, feed.URL("https://"+rest)) // readers have a feed at https:// by way of a proxy so
	}
	for _, u := range names {
		followed, err := p.Feeds.Follows(r.Context(), u)
		if err != nil {
			p.fail(w, err)
			return
		}
		if followed {
			p.Reader.ServeHTTP(w, inner(r, u))
			return
		}
	}
	switch {
	case p.Subscribe && !isBrowsing(r.Header):
		p.look(w, r, u)
	case p.Pass != nil:
		p.pass(w, func() { p.fetch(w, r) })
	default:
		say(w, http.StatusForbidden,
			"The node does not follow %s, and its proxy serves what it follows alone. To follow it:\n\n\tfeedex "+
				"subscribe %s", u, shell.Quote(string(u)))
	}
}

// inner is the request for a feed as the reader takes it. A client that comes in by the proxy's password comes in
// there.
func inner(r *http.Request, u feed.URL) *http.Request {
	in := r.Clone(r.Context())
	in.RequestURI, in.URL, in.Host = "/feed/"+string(u), &url.URL{Path: "/feed/" + string(u)}, address(r)
	in.Header.Del("Authorization") // that is for the publisher
	if login := r.Header.Get("Proxy-Authorization"); login != "" {
		in.Header.Set("Authorization", login)
	}
	return in
}

// isBrowsing reports whether a page is asked for, as browsers do, and so no feed.
func isBrowsing(h http.Header) bool {
	accept := strings.Join(h.Values("Accept"), ",")
	return strings.HasPrefix(accept, "text/html") && !strings.Contains(accept, "rss") &&
		!strings.Contains(accept, "atom")
}

// isOwn reports whether the request is for the node's own address, though it came as if for a proxy: readers that are
// told to use one for everything do that.
func (p *proxy) isOwn(r *http.Request) bool {
	name, port, err := net.SplitHostPort(r.URL.Host)
	if err != nil {
		name, port = r.URL.Host, "80"
		if r.URL.Scheme == "https" {
			port = "443"
		}
	}
	own, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, err := netip.ParseAddrPort(own.String())
	if err != nil || port != fmt.Sprint(at.Port()) {
		return false
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err != nil {
		return p.own[feed.HostName(name)]
	}
	return ip.IsLoopback() || ip.Unmap() == at.Addr().Unmap()
}

// address is where the request came in, as the client can reach it.
func address(r *http.Request) string {
	if own, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return own.String()
	}
	return "localhost"
}

// admits reports whether a client may use the proxy (RFC 9110 §11.7), and answers the others.
func (p *proxy) admits(w http.ResponseWriter, r *http.Request) bool {
	if p.Entrance == nil || p.Known != nil && p.Known(r) {
		return true
	}
	given := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	if name, password, ok := given.BasicAuth(); ok {
		visitor, err := p.Entrance.Visitor(r.Context(), password)
		if slowed := (reading.Slowed{}); errors.As(err, &slowed) {
			w.Header().Set("Retry-After", strconv.Itoa(slowed.Seconds()))
			say(w, http.StatusTooManyRequests, "%v.", slowed)
			return false
		}
		if err != nil {
			p.fail(w, err)
			return false
		}
		if visitor.Name != "" && visitor.Name == name {
			return true
		}
	}
	w.Header().Set("Proxy-Authenticate", `Basic realm="feedex", charset="UTF-8"`)
	say(w, http.StatusProxyAuthRequired,
		"This proxy is reached from other machines and wants a name and a password. To make them:\n\n\tfeedex "+
			"password add NAME")
	return false
}

// fail tells the owner in the log what happened.
func (p *proxy) fail(w http.ResponseWriter, err error) {
	if !errors.Is(err, context.Canceled) {
		p.Log.Error("answer as a proxy", "err", err)
	}
	say(w, http.StatusInternalServerError, "The node could not read its archive. Its log says why.")
}

// say answers with words for a person.
func say(w http.ResponseWriter, code int, format string, args ...any) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	fmt.Fprintf(w, format+"\n", args...)
}
