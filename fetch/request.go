package fetch

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"feedex/feed"
	"feedex/grade"
	"feedex/internal/httptime"
)

// accept prefers what says that it is a feed to what may be one.
const accept = "application/atom+xml, application/rss+xml, application/feed+json, " +
	"application/rdf+xml;q=0.9, application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1"

// request is the conditional request for u (RFC 9110 §13.1). The validators go out as they came in,
// to the byte; which of the two counts is for the publisher to decide. A client that sends a validator may be answered
// with what is new since (RFC 3229). connected tells whether the request found a connection.
func (v *visit) request(ctx context.Context, u *url.URL) (req *http.Request, connected func() bool) {
	var reached atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		ConnectStart: v.connecting,
		GotConn: func(info httptrace.GotConnInfo) {
			reached.Store(true)
			v.connected(info)
		},
	})
	req = (&http.Request{
		Method: http.MethodGet, URL: u, Host: u.Host, Header: make(http.Header),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	req.Header.Set("User-Agent", v.agent())
	req.Header.Set("Accept", accept)
	if v.want != nil {
		req.Header.Set("Accept", v.want.Accept)
	}
	req.Header.Set("Accept-Encoding", "gzip, br")
	if v.fetch.ETag != "" {
		req.Header.Set("If-None-Match", v.fetch.ETag)
	}
	if v.fetch.LastModified != "" {
		req.Header.Set("If-Modified-Since", v.fetch.LastModified)
	}
	if v.conditional() {
		req.Header.Set("A-IM", "feed")
	}
	if user := v.origin.User; user != nil && sameOrigin(v.origin, u) {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	return req, reached.Load
}

// conditional reports whether the publisher may answer with less than the document.
func (v *visit) conditional() bool { return v.fetch.ETag != "" || v.fetch.LastModified != "" }

// agent says which program asks, where to read about it, and that somebody follows the feed: the form from which
// publishers add up subscribers. Neighbors that get what the poll brings say so themselves when they poll, so that each
// counts once.
func (v *visit) agent() string {
	var notes []string
	if v.client.about != "" {
		notes = append(notes, "+"+v.client.about)
	}
	if v.fetch.Reader {
		notes = append(notes, "1 subscriber")
	}
	if len(notes) == 0 {
		return v.client.userAgent
	}
	return v.client.userAgent + " (" + strings.Join(notes, "; ") + ")"
}

// isDelta reports whether a 226 is the kind of delta that was asked for: the entries that are new.
func isDelta(h http.Header) bool {
	im := strings.ToLower(strings.TrimSpace(strings.Join(h.Values("IM"), ",")))
	return im == "feed" || im == "" // some leave out what RFC 3229 §10.5.2 demands
}

// sameOrigin tells whether the credentials given for a may go to b: to the same host only, and not
// in the clear if they were given for https.
func sameOrigin(a, b *url.URL) bool {
	return a.Host == b.Host && (a.Scheme == b.Scheme || b.Scheme == "https")
}

// connecting notes whether a connection to a public address is tried. Several may be, at the same time.
func (v *visit) connecting(_, address string) {
	if ap, err := netip.ParseAddrPort(address); err == nil && feed.PublicAddr(feed.Destination(ap.Addr())) {
		v.dialed.Store(true)
	}
}

// connected notes whether the connection leads to an address that is not public.
func (v *visit) connected(info httptrace.GotConnInfo) {
	tcp, ok := info.Conn.RemoteAddr().(*net.TCPAddr)
	if !ok || v.client.allowLocal {
		return
	}
	if addr, ok := netip.AddrFromSlice(tcp.IP); ok && !feed.PublicAddr(feed.Destination(addr)) {
		v.out.Local = true
	}
}

// keepValidators takes the validators of an answer over, one by one where it has them.
func (v *visit) keepValidators(h http.Header) {
	got := validators(h, time.Now())
	v.out.ETag = cmp.Or(got.ETag, v.out.ETag)
	v.out.LastModified = cmp.Or(got.LastModified, v.out.LastModified)
}

// replaceValidators takes those of a document in place of all that there were.
func (v *visit) replaceValidators(h http.Header, body feed.Digest) {
	v.out.ETag, v.out.LastModified, v.out.Body = "", "", body
	v.keepValidators(h)
}

// validators are those of an answer that can be sent back. A Last-Modified alone that names the second in which the
// publisher answered is none: what is changed later in that second has the same (weak, RFC 9110 §8.8.2.2), and asked
// by it the publisher would say that nothing changed.
func validators(h http.Header, now time.Time) (got grade.Validators) {
	if s := h.Get("ETag"); sendable(s) {
		got.ETag = s
	}
	s := h.Get("Last-Modified")
	at, err := http.ParseTime(s)
	weak := err == nil && at.Equal(httptime.Answered(h, now).Truncate(time.Second))
	if sendable(s) && !(weak && got.ETag == "") {
		got.LastModified = s
	}
	return got
}

// sendable reports whether a validator can be sent back. One that holds control characters would
// make every later request invalid; one that is huge would be carried around for nothing.
func sendable(s string) bool {
	control := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	return s != "" && len(s) <= 1024 && !strings.ContainsFunc(s, control)
}
