package daemon

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"feedex/archive/sqlite"
	"feedex/guard"
	"feedex/reader"
	"feedex/reader/websub"
)

// newHub makes the hub of the reader address at ln. The reader that cfg describes must have it as its Hub.
func newHub(h *host, ln net.Listener, archive *sqlite.Reader, cfg reader.Config) *websub.Hub {
	var feeds reader.Handler
	hub := websub.New(websub.Config{
		Feeds: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { feeds.ServeHTTP(w, r) }),
		Store: hubStore{h, archive}, Transport: callbackTransport(ln), Log: h.config.Log,
	})
	cfg.Hub, cfg.Web, cfg.Entrance = hub, nil, nil // the hub needs no password to itself
	feeds = reader.New(cfg)
	return hub
}

// callbackTransport reaches those who can be subscribers, since they can reach the reader address: programs of this
// machine and, if it listens elsewhere too, of the owner's networks. A hub that could be told to call any address
// would serve to attack others.
func callbackTransport(ln net.Listener) *http.Transport {
	near := ln.Addr().(*net.TCPAddr).IP.IsLoopback()
	dialer := guard.Dialer(func(ap netip.AddrPort) error { return allowCallback(ap.Addr(), near) })
	dialer.Timeout = 5 * time.Second
	return &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: 1, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

// allowCallback says whether a callback may be at an address; near is on this machine alone.
func allowCallback(a netip.Addr, near bool) error {
	a = a.Unmap()
	switch {
	case a.IsLoopback(), !near && a.IsPrivate():
		return nil
	case near:
		return fmt.Errorf("%w: callbacks are on this machine, since only it reaches the feeds", guard.ErrForbidden)
	}
	return fmt.Errorf("%w: callbacks are on this machine or in a private network", guard.ErrForbidden)
}

// hubStore keeps the hub's subscriptions in the archive.
type hubStore struct {
	host    *host
	archive *sqlite.Reader
}

var _ websub.Store = hubStore{}

// Subscriptions implements websub.Store.
func (s hubStore) Subscriptions(ctx context.Context) ([]websub.Subscription, error) {
	list, err := s.archive.HubSubscriptions(ctx)
	out := make([]websub.Subscription, len(list))
	for i := range list {
		out[i] = websub.Subscription(list[i])
	}
	return out, err
}

// Keep implements websub.Store.
func (s hubStore) Keep(ctx context.Context, x websub.Subscription) error {
	return s.host.write(ctx, func(d desk) error { d.KeepHubSubscription(sqlite.HubSubscription(x)); return nil })
}

// Drop implements websub.Store.
func (s hubStore) Drop(ctx context.Context, callback, topic string) error {
	return s.host.write(ctx, func(d desk) error { d.DropHubSubscription(callback, topic); return nil })
}
