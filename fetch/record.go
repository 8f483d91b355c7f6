package fetch

import (
	"crypto/sha1" // tells validators and addresses apart
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"time"

	"feedex/feed"
	"feedex/grade"
	"feedex/internal/httptime"
	"feedex/node"
)

// A recorder carries out requests of a visit, and notes each for the owner's log.
type recorder struct {
	visit *visit
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	one := grade.Request{
		At: time.Now(), URL: logged(req.URL),
		Sent: grade.Validators{ETag: short(req.Header.Get("If-None-Match")),
			LastModified: short(req.Header.Get("If-Modified-Since"))},
	}
	if name := logged(r.visit.origin); name != one.URL {
		one.Feed = name
	}
	resp, err := r.next.RoundTrip(req)
	one.Private = r.visit.out.Local || feed.URL(req.URL.String()).Local()
	if err == nil {
		one.Status = resp.StatusCode
		got := validators(resp.Header, time.Now())
		one.Got = grade.Validators{ETag: short(got.ETag), LastModified: short(got.LastModified)}
		if f := freshness(resp.Header, time.Now()); f.Lifetime > f.Age {
			one.Fresh = f.Lifetime - f.Age
		}
		one.RetryAfter = httptime.RetryAfter(resp.Header, time.Now())
	}
	out := r.visit.out
	out.Requests = append(out.Requests, one)
	if err == nil {
		resp.Body = weighed{resp.Body, out, len(out.Requests) - 1}
	}
	return resp, err
}

// A weighed body counts its bytes for the log, as they are read.
type weighed struct {
	io.ReadCloser
	out *node.Fetched
	at  int // of the request in the log
}

// Read implements io.Reader.
func (w weighed) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.out.Requests[w.at].Bytes += int64(n)
	return n, err
}

// Logged is a feed's URL as the log of requests holds it.
func Logged(u feed.URL) string {
	if parsed, err := url.Parse(string(u)); err == nil {
		return logged(parsed)
	}
	return string(u)
}

// logged is an address as the log holds it: without credentials, and with a hash in place of a query that holds a key,
// and of a path that does.
func logged(u *url.URL) string {
	whole := u.String()
	if !feed.URL(whole).Secret() {
		return whole
	}
	sum := sha1.Sum([]byte(whole))
	bare := *u
	bare.User, bare.RawQuery, bare.Fragment = nil, "", ""
	if feed.URL(bare.String()).Secret() {
		bare.Path, bare.RawPath = "/", ""
	}
	bare.RawQuery = "sha1=" + hex.EncodeToString(sum[:8])
	return bare.String()
}

// short is a validator as the log holds it: the hash of one that is long.
func short(validator string) string {
	if len(validator) <= 64 {
		return validator
	}
	sum := sha1.Sum([]byte(validator))
	return "sha1 " + hex.EncodeToString(sum[:])
}
