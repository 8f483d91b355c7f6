package fetch

import (
	"crypto/sha1" // tells validators apart
	"encoding/hex"
	"net/http"
	"time"

	"feedex/feed"
	"feedex/fetch/grade"
)

// A recorder carries out requests of a visit, and notes each for the owner's log.
type recorder struct {
	visit *visit
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	one := grade.Request{
		At: time.Now(), URL: req.URL.Redacted(),
		Sent: grade.Validators{ETag: short(req.Header.Get("If-None-Match")), LastModified: short(req.Header.Get("If-Modified-Since"))},
	}
	if name := r.visit.origin.Redacted(); name != one.URL {
		one.Feed = name
	}
	resp, err := r.next.RoundTrip(req)
	one.Private = r.visit.out.Local || feed.URL(req.URL.String()).Local()
	if err == nil {
		one.Status = resp.StatusCode
		one.Got = grade.Validators{ETag: sent(resp.Header, "ETag"), LastModified: sent(resp.Header, "Last-Modified")}
		if f := freshness(resp.Header, time.Now()); f.Lifetime > f.Age {
			one.Fresh = f.Lifetime - f.Age
		}
		one.RetryAfter = retryAfter(resp.Header, time.Now())
	}
	r.visit.out.Requests = append(r.visit.out.Requests, one)
	return resp, err
}

// sent is a validator of an answer as the log holds it, "" for one that cannot be sent back.
func sent(h http.Header, name string) string {
	if s := h.Get(name); sendable(s) {
		return short(s)
	}
	return ""
}

// short is a validator as the log holds it: the hash of one that is long.
func short(validator string) string {
	if len(validator) <= 64 {
		return validator
	}
	sum := sha1.Sum([]byte(validator))
	return "sha1 " + hex.EncodeToString(sum[:])
}
