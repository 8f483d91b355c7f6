// Package grade judges a feed reader by the requests that it made, as a publisher who looks through the log of
// their server would: are requests conditional, do validators come back as they were given, is nothing asked
// for that is still fresh, and is a reader that was told to wait heard of again only when it may be.
//
// It is a pure function of a log. A running node grades its own, and a test the log of the publisher that it plays.
package grade

import (
	"cmp"
	"net/url"
	"strings"
	"time"
)

// A Request is one request for a feed, and how it was answered. One that redirects lead to is a request of its own.
type Request struct {
	At   time.Time // when it was sent
	Feed string    // the feed's URL as the reader knows it; URL where that is the same
	URL  string    // what was asked for
	// First says that the reader had never asked for the feed before.
	First bool
	// Private says that the host serves several publishers that know nothing of each other, or is not public: a
	// Retry-After counts for the URL alone.
	Private bool
	Sent    Validators // of the request

	Status int        // of the answer, 0 where there was none
	Got    Validators // of the answer
	Bytes  int64      // of the answer's body, as it was sent and as far as it was read
	// Fresh is for how long the answer may be used without asking again (RFC 9111 §4.2), 0 where it does not say.
	Fresh time.Duration
	// RetryAfter is how long the reader is asked to stay away (RFC 9110 §10.2.3), 0 where it is not.
	RetryAfter time.Duration
}

// Validators tell one version of a document from another (RFC 9110 §8.8). They are compared byte by byte; a log
// may hold anything in their place that is equal where they are, such as a hash.
type Validators struct{ ETag, LastModified string }

// none reports whether there is no validator.
func (v Validators) none() bool { return v == Validators{} }

// over is v with what next has in place of its own.
func (v Validators) over(next Validators) Validators {
	return Validators{cmp.Or(next.ETag, v.ETag), cmp.Or(next.LastModified, v.LastModified)}
}

// host is the host that the request went to, in lower case and without a port.
func (r *Request) host() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// Name is the feed that the request was for.
func (r *Request) Name() string {
	return cmp.Or(r.Feed, r.URL)
}

// scope is what a Retry-After counts for.
func (r *Request) scope() string {
	if r.Private {
		return r.URL
	}
	return ""
}

// full reports whether the answer brought a document: all of it, or what is new (RFC 3229).
func (r *Request) full() bool { return r.Status == 200 || r.Status == 203 || r.Status == 226 }

// Unmodified reports whether the answer says that the document is the one that the reader has.
func (r *Request) Unmodified() bool { return r.Status == 304 }

// Refused reports whether the request was refused, or not answered.
func (r *Request) Refused() bool { return r.Status >= 400 || r.Status == 0 }

// answered reports whether the answer says what the document is, changed or not.
func (r *Request) answered() bool { return r.full() || r.Unmodified() }
