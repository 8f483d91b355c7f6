package daemon

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/guard"
	"feedex/reader"
	"feedex/reader/websub"
	"feedex/reading"
)

// newHub makes the hub of the reader address. The reader that cfg describes must have it as its Hub.
func newHub(h *host, cfg reader.Config) *websub.Hub {
	var feeds reader.Handler
	callbacks := callbacks{named: h.config.PushTo}
	hub := websub.New(websub.Config{
		Feeds: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { feeds.ServeHTTP(w, r) }),
		Store: hubStore{h.store, h}, Transport: callbacks.transport(), Check: callbacks.check,
		From: func(r *http.Request) netip.Addr { return callerAddr(r.Context()) }, Log: h.config.Log,
	})
	cfg.Hub, cfg.Web, cfg.Entrance, cfg.ByKey = hub, nil, nil, true // the hub needs no password to itself
	cfg.MaxBytes = websub.MaxDelivery
	feeds = reader.New(cfg)
	return hub
}

// callbacks are where subscribers may be called: at an address of the owner's private networks the subscriber that is
// there, and what the owner named. A hub that could be told to call any address would serve to attack others, or what
// listens on this machine for this machine alone.
type callbacks struct{ named []string }

// transport reaches them. It keeps no connections: one that was made for a subscriber would lead another one there.
func (c callbacks) transport() *http.Transport {
	return &http.Transport{
		DialContext: c.dial, TLSHandshakeTimeout: 5 * time.Second, DisableKeepAlives: true,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

func (c callbacks) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var allow func(netip.AddrPort) error
	if !c.isNamed(address) {
		allow = func(ap netip.AddrPort) error { return allowCallback(ap, websub.Subscriber(ctx)) }
	}
	dialer := guard.Dialer(allow)
	dialer.Timeout = 5 * time.Second
	return dialer.DialContext(ctx, network, address)
}

// isNamed reports whether the owner named a "host:port".
func (c callbacks) isNamed(address string) bool {
	return slices.ContainsFunc(c.named, func(name string) bool { return strings.EqualFold(name, address) })
}

// check tells a subscriber at once what would come of it.
func (c callbacks) check(from netip.Addr, callback *url.URL) error {
	port := callback.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[callback.Scheme]
	}
	address := net.JoinHostPort(callback.Hostname(), port)
	if c.isNamed(address) || guard.NotHere(netip.AddrPortFrom(from, 0)) == nil {
		return nil
	}
	return fmt.Errorf("the node calls programs on its own machine where its owner says so: "+
		"reader_push = [%q] in its config file, or --reader-push %s", address, address)
}

// allowCallback says whether a subscriber may have a callback that is at ap.
func allowCallback(ap netip.AddrPort, subscriber netip.Addr) error {
	switch a := ap.Addr().Unmap(); {
	case !a.IsPrivate():
		return fmt.Errorf("%w: callbacks are in a private network", guard.ErrForbidden)
	case a != subscriber.Unmap():
		return fmt.Errorf("%w: callbacks are where subscriptions come from", guard.ErrForbidden)
	}
	return guard.NotHere(ap)
}

// hubStore keeps the hub's subscriptions in the archive.
type hubStore struct {
	archive.HubList
	host *host
}

var _ websub.Store = hubStore{}

// Keep implements websub.Store.
func (s hubStore) Keep(ctx context.Context, x archive.HubSubscription) error {
	return s.host.write(ctx, func(d reading.Database) error { d.KeepHubSubscription(x); return nil })
}

// Drop implements websub.Store.
func (s hubStore) Drop(ctx context.Context, callback, topic string) error {
	return s.host.write(ctx, func(d reading.Database) error { d.DropHubSubscription(callback, topic); return nil })
}
