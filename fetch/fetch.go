// Package fetch polls feeds over HTTP, gets what belongs to them, and treats publishers as a good guest would: it asks
// only for what has changed, one request to a host at a time, says what it is, stays away for as long as it is told to,
// and passes on what the publisher says about passing things on.
//
// Data that comes back is hostile until proven otherwise. Every fetch is bounded in time, in bytes after inflation and
// in redirects; no address outside the public Internet is connected to without the owner's leave (package guard),
// whatever a URL, a redirect or a name server says. There are no cookies and no Referer. Proxies named by environment
// variables are not used: a proxy would resolve names itself and so connect past the guard.
package fetch

import (
	"cmp"
	"context"
	"crypto/sha1" // tells whether a body changed; a publisher who finds two with the same hash fools nobody else
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"feedex/feed"
	"feedex/grade"
	"feedex/guard"
	"feedex/internal/httptime"
	"feedex/node"
)

const (
	// timeout bounds a whole fetch: names, connections, redirects and the body. Waiting for one's turn at a host does
	// not count, nor for the place that a large body or the parser takes here.
	timeout = 30 * time.Second
	// maxBytes is the largest document, after inflation.
	maxBytes = feed.MaxDocumentBytes
	// maxRedirects is the most redirects that are followed in one fetch.
	maxRedirects = 5
	// maxHeaderBytes is the largest response header.
	maxHeaderBytes = 64 << 10
)

// Config holds the owner's choices. The zero value reads public feeds only.
type Config struct {
	// AllowLocal counts this machine and private networks as public.
	AllowLocal bool
	// PrivateHosts are hosts whose feeds may be read wherever they are, as they stand in the feed's
	// URL, without a port: "nas.lan", "192.168.1.5". Redirects lead there only from a feed that is
	// on such a host itself, so that no publisher gains the leave that the owner gave to another.
	PrivateHosts []string
	// UserAgent is sent with every request, with About and the number of nodes that the poll is for after it:
	// "feedex/1.2 (+https://example.com/; 7 subscribers)". Default "feedex"; "feedex/VERSION" is better.
	UserAgent string
	// About is the URL of a page that tells publishers about their visitor, "" for none.
	About string
	// Resolver looks names up. Default net.DefaultResolver. Its answers are not trusted.
	Resolver *net.Resolver
}

// A Client fetches feeds. It may be used by several goroutines at once.
type Client struct {
	allowLocal bool
	userAgent  string
	about      string
	resolver   *net.Resolver
	private    map[string]bool // hosts from Config.PrivateHosts
	hosts      hosts
	large      gate // to memory for large bodies
	parsing    gate // to the parser
	// Idle connections are kept by host, and a dial is guarded when it is made. So connections that the owner's leave
	// opened must not be found by fetches that do not have it. Where AllowLocal holds guarded refuses nothing, and
	// strangers does.
	guarded, unguarded, strangers *http.Transport
}

// New makes a client.
func New(cfg Config) *Client {
	c := &Client{allowLocal: cfg.AllowLocal, userAgent: cfg.UserAgent, about: cfg.About, private: make(map[string]bool),
		resolver: cfg.Resolver, large: make(gate, largeBodies), parsing: newParsing()}
	if c.userAgent == "" {
		c.userAgent = "feedex"
	}
	for _, h := range cfg.PrivateHosts {
		c.private[feed.HostName(h)] = true
	}
	c.strangers = newTransport(cfg.Resolver, guard.Web)
	c.unguarded = newTransport(cfg.Resolver, nil)
	if c.guarded = c.strangers; cfg.AllowLocal {
		c.guarded = c.unguarded
	}
	return c
}

// CloseIdle closes the connections that are not in use.
func (c *Client) CloseIdle() {
	c.strangers.CloseIdleConnections()
	c.unguarded.CloseIdleConnections()
}

// Fetch polls a feed and parses what it gets. It takes timeout at most, beside what it waits for a place here: while
// another fetch is at the same host, or many parse. It ends early with ctx.
//
// Where nothing changed, Document and Err are both nil. The validators returned are those to send
// next time: those of the document that came, whether it could be used or not (Unusable), else the ones of f.
// Err wraps ErrTooLarge, ErrTooManyRedirects, ErrLoop, ErrElsewhere, ErrNotFeed, ErrLogin, ErrEncoding,
// *StatusError, guard.ErrForbidden, feed.ErrFormat, feed.ErrLimit or context.DeadlineExceeded where one of these
// was the cause. To locate a feed nobody is asked but the resolver.
func (c *Client) Fetch(ctx context.Context, f node.Fetch) node.Fetched {
	out := node.Fetched{Feed: f.Feed, ETag: f.ETag, LastModified: f.LastModified, Body: f.Body, Located: f.Locate}
	origin, err := url.Parse(string(f.Feed))
	if err != nil || origin.Host == "" {
		out.Err = fmt.Errorf("fetch %q: %w", f.Feed, feed.ErrURL)
		return out
	}
	u, err := url.Parse(string(f.At()))
	if err != nil || u.Host == "" {
		out.Err = fmt.Errorf("fetch %q: %w", f.At(), feed.ErrURL)
		return out
	}
	if f.Locate {
		out.Dialed = c.public(ctx, u.Hostname())
		return out
	}
	u.RawQuery = escaped(u.RawQuery)
	v := visit{client: c, fetch: f, origin: origin, patience: patience{left: timeout}, out: &out, forGood: true}
	out.Err = v.follow(ctx, u)
	out.Secret = v.secret
	return out
}

// A visit is one Fetch under way.
type visit struct {
	client    *Client
	fetch     node.Fetch
	want      *Want     // what is asked for where that is no feed
	got       *Resource // and what came of it
	origin    *url.URL  // the feed's own address
	patience  patience  // of which there is timeout
	out       *node.Fetched
	seen      []string    // what was requested
	forGood   bool        // all redirects so far were permanent
	doubtful  bool        // and one of them makes no other name of the feed
	respelled bool        // and they lead to another spelling of the address
	dialed    atomic.Bool // a public address
	secret    bool        // one led to an address that is a secret, and so the feed's own is one
}

// follow requests u and whatever it redirects to.
func (v *visit) follow(ctx context.Context, u *url.URL) error {
	for range maxRedirects + 1 {
		v.seen = append(v.seen, u.String())
		v.secret = v.secret || feed.URL(u.String()).Secret()
		next, err := v.hop(ctx, u)
		if err != nil {
			return fmt.Errorf("get %s: %w", u.Host, err)
		}
		if next == nil {
			return nil
		}
		if slices.Contains(v.seen, next.String()) {
			return fmt.Errorf("get %s: %w", u.Host, ErrLoop)
		}
		u = next
	}
	return fmt.Errorf("get %s: %w", v.origin.Host, ErrTooManyRedirects)
}

// hop requests u once. It returns where the answer redirects to, or nil and fills in v.out.
func (v *visit) hop(ctx context.Context, u *url.URL) (next *url.URL, err error) {
	leave, err := v.client.hosts.enter(ctx, feed.HostName(u.Hostname()))
	if err != nil {
		return nil, err
	}
	defer leave()

	hopCtx, stop := v.patience.start(ctx)
	defer stop()
	next, err = v.exchange(hopCtx, u)

	if err != nil && ctx.Err() == nil && context.Cause(hopCtx) == context.DeadlineExceeded {
		return nil, fmt.Errorf("no complete answer within %v: %w", timeout, context.DeadlineExceeded)
	}
	return next, err
}

// exchange sends the request and reads the answer.
func (v *visit) exchange(ctx context.Context, u *url.URL) (next *url.URL, err error) {
	v.out.From, v.out.Status = feed.HostName(u.Hostname()), 0
	req, connected := v.request(ctx, u)
	resp, err := recorder{v, v.client.transport(v.origin, u, v.want != nil)}.RoundTrip(req)
	if err != nil {
		forbidden := errors.Is(err, guard.ErrForbidden) // found out without going there
		// a server that redirected was reached
		v.out.Unreached = len(v.seen) == 1 && (forbidden && v.want == nil ||
			unreached(err, connected(), runtime.GOOS))
		if v.out.Dialed = v.dialed.Load(); forbidden {
			v.out.Local = true
			return nil, fmt.Errorf("%w; %s", err, permitting(v.origin, u, v.want != nil))
		}
		return nil, inWords(err)
	}
	defer resp.Body.Close()

	code := resp.StatusCode
	if code == http.StatusNetworkAuthenticationRequired {
		v.out.Unreached = true
		return nil, ErrLogin
	}
	v.out.Status = code
	if isRedirect(code) {
		return v.redirected(resp, u)
	}
	v.out.Freshness = freshness(resp.Header, time.Now())
	v.out.RetryAfter = httptime.RetryAfter(resp.Header, time.Now())
	v.out.Named = !v.fetch.New && v.newSpelling()
	defer func() {
		if err == nil && !v.out.Freshness.Stated {
			v.out.Unchanged = unchanged(v.out.LastModified, resp.Header, time.Now())
		}
	}()
	switch {
	case v.want != nil && code == http.StatusOK:
		return nil, v.resource(ctx, resp, u)
	case v.want != nil:
		return nil, &StatusError{Code: code}
	case code == http.StatusOK, code == http.StatusNonAuthoritativeInfo: // as some proxy on the way made it
		return nil, v.document(ctx, resp, u)
	case code == http.StatusIMUsed && v.conditional() && isDelta(resp.Header):
		v.out.Partial = true
		return nil, v.document(ctx, resp, u)
	case code == http.StatusNotModified && (v.conditional() || v.fetch.Body != feed.Digest{}):
		if v.conditional() { // some say so unasked, and nobody knows of which document
			v.keepValidators(resp.Header)
		}
		v.out.Private = optsOut(resp.Header)
		return nil, nil
	default:
		return nil, &StatusError{Code: code}
	}
}

// document reads and parses the body of an answer from u that has one. From then on its validators count: a document
// that cannot be used would be no better the next time, and costs the publisher as much.
func (v *visit) document(ctx context.Context, resp *http.Response, u *url.URL) error {
	v.out.Private = optsOut(resp.Header)
	body, release, err := v.readBody(ctx, resp, maxBytes)
	defer release()
	if err != nil {
		if errors.Is(err, ErrTooLarge) {
			v.replaceValidators(resp.Header, feed.Digest{})
			v.unusable(resp.Header)
		}
		return err
	}
	var hash feed.Digest
	if !v.out.Partial {
		hash = sha1.Sum(body)
	}
	if v.out.Partial && validators(resp.Header, time.Now()) == (grade.Validators{}) {
		v.out.Body = hash // what is new since the version that we have, again the next time
	} else {
		v.replaceValidators(resp.Header, hash)
	}
	if hash == v.fetch.Body && !v.out.Partial {
		return nil // the same again
	}
	as := v.fetch.Feed
	if v.fetch.New {
		as = cmp.Or(v.newName(), as)
	}
	contentType := resp.Header.Get("Content-Type")
	if err := v.patience.enter(ctx, v.client.parsing); err != nil {
		return err
	}
	defer v.client.parsing.leave()
	doc, err := contain(func() (*feed.Document, error) {
		if v.fetch.Page != "" {
			return feed.ParsePage(v.fetch.Feed, feed.URL(u.String()), contentType, body, time.Now())
		}
		doc, err := feed.Parse(as, contentType, body, time.Now())
		if v.out.Named && err == nil {
			named, err := feed.Parse(v.out.Moved, contentType, body, time.Now())
			v.out.Named = err == nil && readsAlike(doc, named)
		}
		return doc, err
	})
	if err != nil {
		v.unusable(resp.Header)
		if errors.Is(err, feed.ErrFormat) {
			return cmp.Or(v.notFeed(resp, u, body), err)
		}
		return err
	}
	doc.Identities() // the node needs them, and is not to wait for them
	v.out.Document = doc
	if as != v.fetch.Feed {
		v.out.Instead, v.out.Moved = as, ""
	}
	return nil
}

// unusable takes note that the document cannot be used. One without a validator leaves us those of the document before
// it: with them the publisher can say that this one is back.
func (v *visit) unusable(h http.Header) {
	if validators(h, time.Now()) == (grade.Validators{}) && v.conditional() {
		v.out.ETag, v.out.LastModified, v.out.Body = v.fetch.ETag, v.fetch.LastModified, v.fetch.Body
		return
	}
	v.out.Unusable = true
}

// contain turns a panic of parse into an error. Parsing goes through libraries that were not written
// for strangers' bytes; one document must not end the node.
func contain[T any](parse func() (T, error)) (value T, err error) {
	defer func() {
		if r := recover(); r != nil {
			var none T
			value, err = none, fmt.Errorf("%w: the parser gave up: %v", feed.ErrFormat, r)
		}
	}()
	return parse()
}
