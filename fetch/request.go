package fetch

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"

	"feedex/feed"
)

// accept prefers what says that it is a feed to what may be one.
const accept = "application/atom+xml, application/rss+xml, application/feed+json, " +
	"application/rdf+xml;q=0.9, application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1"

// request is the conditional request for u (RFC 9110 §13.1). The validators go out as they came in,
// to the byte; which of the two counts is for the publisher to decide.
func (v *visit) request(ctx context.Context, u *url.URL) *http.Request {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: v.connected})
	req := (&http.Request{
		Method: http.MethodGet, URL: u, Host: u.Host, Header: make(http.Header),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	req.Header.Set("User-Agent", v.client.userAgent)
	req.Header.Set("Accept", accept)
	req.Header.Set("Accept-Encoding", "gzip, br")
	if v.fetch.ETag != "" {
		req.Header.Set("If-None-Match", v.fetch.ETag)
	}
	if v.fetch.LastModified != "" {
		req.Header.Set("If-Modified-Since", v.fetch.LastModified)
	}
	if user := v.origin.User; user != nil && sameOrigin(v.origin, u) {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	return req
}

// sameOrigin tells whether the credentials given for a may go to b: to the same host only, and not
// in the clear if they were given for https.
func sameOrigin(a, b *url.URL) bool {
	return a.Host == b.Host && (a.Scheme == b.Scheme || b.Scheme == "https")
}

// connected notes whether the connection leads to an address that is not public.
func (v *visit) connected(info httptrace.GotConnInfo) {
	tcp, ok := info.Conn.RemoteAddr().(*net.TCPAddr)
	if !ok || v.client.allowLocal {
		return
	}
	if addr, ok := netip.AddrFromSlice(tcp.IP); ok && !feed.PublicAddr(addr) {
		v.out.Local = true
	}
}

// keepValidators takes the validators of an answer over, one by one where it has them.
func (v *visit) keepValidators(h http.Header) {
	if s := h.Get("ETag"); sendable(s) {
		v.out.ETag = s
	}
	if s := h.Get("Last-Modified"); sendable(s) {
		v.out.LastModified = s
	}
}

// sendable reports whether a validator can be sent back. One that holds control characters would
// make every later request invalid; one that is huge would be carried around for nothing.
func sendable(s string) bool {
	control := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	return s != "" && len(s) <= 1024 && !strings.ContainsFunc(s, control)
}

// isRedirect reports whether the status says that the document is elsewhere.
func isRedirect(code int) bool {
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirect is the address that location names, seen from u. It is held to what is asked of a feed's
// own URL; its host and address are checked when it is requested.
func redirect(u *url.URL, location string) (*url.URL, error) {
	if location == "" {
		return nil, fmt.Errorf("redirect without an address")
	}
	loc, err := url.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("redirect: %w: %q", feed.ErrURL, location)
	}
	next, err := feed.ParseURL(u.ResolveReference(loc).String())
	if err != nil {
		return nil, fmt.Errorf("redirect: %w", err)
	}
	return url.Parse(string(next))
}
