package reader

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"feedex/feed"
)

// requestTarget is the path and query that were asked for, byte for byte, because a feed's URL in it
// must not be changed.
func requestTarget(r *http.Request) string {
	target := r.RequestURI
	if !strings.HasPrefix(target, "/") { // absolute form, RFC 9112 §3.2.2
		target = r.URL.RequestURI()
	}
	return target
}

// FeedURLs are the feeds that may be meant by what follows /feed/, the likeliest first: the URL as it
// is, with its query, or with everything percent-encoded once more. Clients that fold slashes turn
// https://example.com/ into https:/example.com/.
func FeedURLs(asked string) []feed.URL {
	var urls []feed.URL
	add := func(s string) {
		for _, scheme := range []string{"http:", "https:"} {
			if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
				s = scheme + "//" + strings.TrimLeft(s[len(scheme):], "/")
				break
			}
		}
		if u, err := feed.ParseURL(s); err == nil && (len(urls) == 0 || urls[0] != u) {
			urls = append(urls, u)
		}
	}
	add(asked)
	if path, err := url.PathUnescape(asked); err == nil {
		add(path)
	}
	return urls
}

// hostName is the host of a Host header in lower case, without its port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return feed.HostName(host)
}

// knownHost reports whether a request may name this host. A web page cannot rebind an IP address, but
// it can make a name of its own lead here and then read what we answer (DNS rebinding).
func (h *handler) knownHost(host string) bool {
	host = hostName(host)
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return host == "" || h.hosts[host] // HTTP/1.0 has no Host, and browsers do not speak it
}
