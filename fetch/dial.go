package fetch

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"feedex/feed"
	"feedex/guard"
)

// newTransport makes the transport for addresses that allow lets pass; nil lets all pass.
func newTransport(r *net.Resolver, allow func(netip.AddrPort) error) *http.Transport {
	dialer := guard.Dialer(allow)
	dialer.Timeout = 10 * time.Second
	dialer.Resolver = r
	return &http.Transport{
		Proxy:                  nil, // see the package's comment
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // readBody inflates, so that its limits hold
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    1,
		MaxConnsPerHost:        1, // nor is one dialed while another is about to be free
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// transport is the one to request u with, for a feed at origin: for the feed itself or for something that belongs to
// it. What that is at other hosts strangers say, in pages and entries, and nobody chose it.
func (c *Client) transport(origin, u *url.URL, belongs bool) *http.Transport {
	switch from, to := feed.HostName(origin.Hostname()), feed.HostName(u.Hostname()); {
	case c.private[from] && c.private[to]:
		return c.unguarded
	case belongs && from != to:
		return c.strangers
	}
	return c.guarded
}

// permitting says which settings permit what was refused, by the same rules.
func permitting(origin, u *url.URL, belongs bool) string {
	from, to := feed.HostName(origin.Hostname()), feed.HostName(u.Hostname())
	if belongs && from != to {
		return "private_host permits it where it names both " + from + " and " + to
	}
	return "the setting private_host, or allow_private for all hosts, permits it"
}

// nameTime bounds how long a name is looked up.
const nameTime = 10 * time.Second

// public reports whether a host's name leads to addresses of the public Internet, and to no others.
func (c *Client) public(ctx context.Context, host string) bool {
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	addrs, err := c.resolver.LookupNetIP(ctx, "ip", host)
	return err == nil && len(addrs) > 0 && !slices.ContainsFunc(addrs, func(a netip.Addr) bool {
		return !feed.PublicAddr(feed.Destination(a))
	})
}

// SameHost reports whether a setting means the host by that name.
func SameHost(setting, host string) bool { return feed.HostName(setting) == feed.HostName(host) }
