package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"feedex/feed"
	"feedex/fetch"
	"feedex/guard"
	"feedex/node"
	"feedex/reader/proxy"
)

// A ReaderProxy is the extent to which the node is an HTTP proxy for feed readers.
type ReaderProxy string

// The kinds of ReaderProxy.
const (
	ProxyOff   ReaderProxy = "off"   // it is none
	ProxyFeeds ReaderProxy = "feeds" // it serves feeds, and refuses the rest
	ProxyAll   ReaderProxy = "all"   // it serves feeds, and lets the rest through
)

// proxied is the handler with a proxy in front of it, if there is to be one. open says which requests need no password.
func (h *host) proxied(readers proxy.Reader, open func(*http.Request) bool) http.Handler {
	if h.config.Proxy != ProxyFeeds && h.config.Proxy != ProxyAll {
		return readers
	}
	cfg := proxy.Config{
		Reader: readers, Feeds: proxyFeeds{h}, Subscribe: h.config.ProxySubscribe,
		Hosts: h.config.ReaderHosts, Entrance: entrance{h}, Known: open, Log: h.config.Log,
	}
	if h.config.Proxy == ProxyAll {
		cfg.Pass = passage(passable)
	}
	return proxy.New(cfg)
}

// passage leads to where allow lets it.
func passage(allow func(netip.AddrPort) error) *proxy.Passage {
	dialer := guard.Dialer(allow)
	dialer.Timeout = 10 * time.Second
	return &proxy.Passage{Dial: dialer.DialContext, Fetch: &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true, DisableKeepAlives: true,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}}
}

// passable allows what readers show: the web of the public Internet, and no mail server or other service that takes
// what is said to it for its own language. allow_private changes nothing here: pages and pictures are named by
// strangers.
func passable(ap netip.AddrPort) error {
	if ap.Port() != 80 && ap.Port() != 443 {
		return fmt.Errorf("%w: port %d", guard.ErrForbidden, ap.Port())
	}
	return guard.Others(ap)
}

// proxyFeeds is the node as its proxy needs it.
type proxyFeeds struct{ host *host }

// Follows implements proxy.Feeds.
func (p proxyFeeds) Follows(ctx context.Context, u feed.URL) (bool, error) {
	c, err := p.host.store.Channel(ctx, u)
	return c.Followed, err
}

// Look implements proxy.Feeds.
func (p proxyFeeds) Look(ctx context.Context, u feed.URL) (*feed.Document, error) {
	got, err := p.host.prefetch(ctx, u)
	switch {
	case err != nil:
		return nil, err
	case got.Err != nil && fetch.Nowhere(got.Err): // who asks is not known here
		return nil, errNowhere
	case errors.Is(got.Err, fetch.ErrNotFeed), errors.Is(got.Err, feed.ErrFormat):
		return nil, fmt.Errorf("%w: %w", proxy.ErrNoFeed, got.Err)
	case got.Err != nil && got.Status != 0:
		return nil, fmt.Errorf("%w: %w", proxy.ErrAnswered, got.Err)
	case got.Err != nil:
		return nil, got.Err
	case got.Document == nil:
		return nil, fmt.Errorf("%w without a document", proxy.ErrAnswered)
	}
	return got.Document, nil
}

// Follow implements proxy.Feeds.
func (p proxyFeeds) Follow(ctx context.Context, u feed.URL) error {
	return p.host.Subscribe(ctx, node.Subscribe{Feeds: []feed.URL{u}})
}
