// Package site finds the nodes that a site names, by its name alone: in a document on its web server, or in records of
// its name server.
package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"feedex/guard"
	"feedex/invitation"
	"feedex/protocol"
)

const (
	// documentTime and recordTime bound how long a site is asked each way.
	documentTime = 10 * time.Second
	recordTime   = 5 * time.Second
	// keptFor is for how long an answer of a site holds, one that it names no node as well: who tries again and again
	// to link with a node that is away does not ask the site each time.
	keptFor = time.Hour
	// maxKept is of how many sites answers are kept, all of which the owner named.
	maxKept = 64
	// maxRedirects are followed, within the site.
	maxRedirects = 3
)

// ErrNone is wrapped by the error about a site that was reached and names no node.
var ErrNone = errors.New("it names no node")

// Config holds the owner's choices.
type Config struct {
	// AllowLocal counts this machine and private networks as public.
	AllowLocal bool
	// UserAgent is sent with every request.
	UserAgent string
	// Resolver looks names up. Default net.DefaultResolver. Its answers are not trusted.
	Resolver *net.Resolver
}

// A Finder asks sites. It may be used by several goroutines at once.
type Finder struct {
	resolver  *net.Resolver
	userAgent string
	transport *http.Transport
	mu        sync.Mutex
	kept      map[string]saying
}

// A saying is what a site said.
type saying struct {
	nodes []invitation.Invitation
	err   error
	until time.Time
}

// New makes a Finder.
func New(c Config) *Finder {
	// This machine's public addresses are included: its owner may have a site there.
	allow := guard.Unless("allow_private", guard.Public)
	if c.AllowLocal {
		allow = nil
	}
	dialer := guard.Dialer(allow)
	dialer.Resolver = c.Resolver
	return &Finder{
		resolver: c.Resolver, userAgent: c.UserAgent, kept: make(map[string]saying),
		transport: &http.Transport{
			DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: 16 << 10,
		},
	}
}

// Known is Find, by what the site said within the last hour.
func (f *Finder) Known(ctx context.Context, name string) ([]invitation.Invitation, error) {
	f.mu.Lock()
	a, ok := f.kept[name]
	f.mu.Unlock()
	if ok && time.Now().Before(a.until) {
		return a.nodes, a.err
	}
	return f.Find(ctx, name)
}

// Find asks a site, as invitation.IsSite has its name, for nodes: its document first, which says by which keys they are
// known, and its name server where there is none. Nodes of the name server have no keys and come in the order in which
// they are to be tried. The error says what is wrong with both.
func (f *Finder) Find(ctx context.Context, name string) ([]invitation.Invitation, error) {
	nodes, said, err := f.document(ctx, name)
	if err != nil {
		var saidToo bool
		var noRecord error
		if nodes, saidToo, noRecord = f.records(ctx, name); noRecord == nil {
			err = nil
		} else {
			said = said && saidToo
			err = fmt.Errorf("site %s: %w: https://%s%s: %w; and by its name server: %w; check the name",
				name, ErrNone, name, invitation.DocumentPath, err, noRecord)
		}
	}
	if err == nil || said {
		f.keep(name, saying{nodes, err, time.Now().Add(keptFor)})
	}
	return nodes, err
}

func (f *Finder) keep(name string, a saying) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.kept) >= maxKept {
		clear(f.kept)
	}
	f.kept[name] = a
}

// document reads the document of a site. said reports whether its server answered.
func (f *Finder) document(ctx context.Context, name string) (nodes []invitation.Invitation, said bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, documentTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+name+invitation.DocumentPath, nil)
	if err != nil {
		return nil, false, err
	}
	req.Header.Set("User-Agent", f.userAgent)
	req.Header.Set("Accept", "application/json")
	client := http.Client{Transport: f.transport, CheckRedirect: within(name)}
	resp, err := client.Do(req)
	if err != nil {
		if dns, is := errors.AsType[*net.DNSError](err); is && dns.IsNotFound {
			return nil, false, errors.New("there is no host of this name")
		}
		if ctx.Err() != nil {
			return nil, false, errIncomplete
		}
		return nil, errors.Is(err, errElsewhere), errors.Unwrap(err) // the URL stands before the error already
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, resp.StatusCode < 500, fmt.Errorf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, invitation.MaxDocumentBytes+1))
	if ctx.Err() != nil {
		return nil, false, errIncomplete
	}
	if err != nil {
		return nil, false, fmt.Errorf("read it: %w", err)
	}
	nodes, err = invitation.ParseDocument(body)
	return nodes, true, err
}

// errIncomplete says that a site is too slow.
var errIncomplete = fmt.Errorf("no complete answer within %v", documentTime)

// errElsewhere says that a site leads elsewhere.
var errElsewhere = errors.New("it leads to another site")

// within follows redirects as long as they stay at the site: the name that the owner gave is what the answer is
// trusted for.
func within(name string) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("%w: redirected more than %d times", errElsewhere, maxRedirects)
		}
		if req.URL.Scheme != "https" || bare(req.URL.Host) != bare(name) {
			return fmt.Errorf("%w: %.200q", errElsewhere, req.URL.Redacted())
		}
		return nil
	}
}

// bare is a name without the "www." that one name of a site has and another has not.
func bare(name string) string {
	return strings.TrimPrefix(strings.ToLower(strings.TrimSuffix(name, ":443")), "www.")
}

// records looks a site up at its name server (RFC 2782). said reports whether that answered.
func (f *Finder) records(ctx context.Context, name string) (nodes []invitation.Invitation, said bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	_, list, err := f.resolver.LookupSRV(ctx, "feedex", "tcp", name+".") // an absolute name: no other is meant
	for _, r := range list {
		target := strings.TrimSuffix(r.Target, ".")
		if len(nodes) < invitation.MaxNodes && invitation.IsSite(target) && r.Port >= protocol.LowestPort {
			host := net.JoinHostPort(target, strconv.Itoa(int(r.Port)))
			nodes = append(nodes, invitation.Invitation{Host: host})
		}
	}
	if len(nodes) > 0 {
		return nodes, true, nil
	}
	if dns, is := errors.AsType[*net.DNSError](err); is && dns.IsNotFound {
		return nil, true, fmt.Errorf("there is no SRV record _feedex._tcp.%s", name)
	} else if is {
		return nil, false, fmt.Errorf("_feedex._tcp.%s cannot be looked up now: %s", name, dns.Err)
	}
	return nil, true, fmt.Errorf("no SRV record _feedex._tcp.%s leads to a host at a port from %d on", name,
		protocol.LowestPort)
}
