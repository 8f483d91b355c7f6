package fetch

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"feedex/guard"
)

var (
	// ErrTooLarge says that the document is larger than maxBytes, or inflates as no feed does.
	ErrTooLarge = errors.New("document too large")
	// ErrTooManyRedirects says that the answer after maxRedirects redirects was another one.
	ErrTooManyRedirects = fmt.Errorf("redirected more than %d times", maxRedirects)
	// ErrLoop says that an address redirects to itself, by whatever way.
	ErrLoop = errors.New("redirected in a circle")
	// ErrElsewhere says that a feed that is polled for others led to another host.
	ErrElsewhere = errors.New("redirected to another host")
	// ErrNotFeed says that the address leads to a web page.
	ErrNotFeed = errors.New("this is a web page, not a feed")
	// ErrLogin says that the answer is that of the network on the way, and none of the publisher's (RFC 6585 §6).
	ErrLogin = errors.New("the network wants a login first: open any web page in a browser")
	// ErrEncoding says that the publisher uses a content coding that was not asked for.
	ErrEncoding = errors.New("content coding not understood")
)

// A StatusError says that the publisher answered with an HTTP status that brings no document.
type StatusError struct {
	Code int // HTTP status code
}

// Error says what the status means for an owner who follows the feed.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("HTTP %d %s", e.Code, http.StatusText(e.Code))
	if http.StatusText(e.Code) == "" {
		text = fmt.Sprintf("HTTP %d", e.Code)
	}
	switch {
	case e.Code == http.StatusGone:
		return text + ": the publisher has ended this feed, it is polled no more"
	case e.Code == http.StatusNotFound:
		return text + ": there is no feed at this address"
	case e.Code == http.StatusUnauthorized:
		return text + ": the feed wants a user name and a password, which stand in its address as in " +
			"https://name:password@example.org/feed"
	case e.Code == http.StatusForbidden, e.Code == http.StatusUnavailableForLegalReasons:
		return text + ": the publisher refuses us"
	case e.Code == http.StatusTooManyRequests:
		return text + ": the publisher asks for fewer requests"
	case e.Code >= 500:
		return text + ": the publisher's server is in trouble"
	}
	return text
}

// worded is an error that says in other words what happened.
type worded struct {
	text  string
	cause error
}

func (w worded) Error() string { return w.text }
func (w worded) Unwrap() error { return w.cause }

// The words for a host that has no address.
const (
	noHost   = "there is no host of this name"
	noLookup = "the name of the host cannot be looked up now: "
)

// Nowhere reports whether an error is that a host has no address, or none that may be called: that of a dial, or of a
// fetch, or one with no more than the words of that.
func Nowhere(err error) bool {
	dns := (*net.DNSError)(nil)
	return errors.Is(err, guard.ErrForbidden) || errors.As(err, &dns) ||
		slices.ContainsFunc([]string{guard.ErrForbidden.Error(), noHost, noLookup},
			func(words string) bool { return strings.Contains(err.Error(), words) })
}

// inWords says why nobody answered, for an owner who follows the feed: not by which call, nor by whose name server.
func inWords(err error) error {
	dns := (*net.DNSError)(nil)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return worded{noHost, err}
	case errors.As(err, &dns):
		return worded{noLookup + dns.Err, err}
	case isOf(err, refused):
		return worded{"the host is there, but refuses the connection", err}
	case isOf(err, noWay):
		return worded{"there is no way to the host", err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), isOf(err, brokenOff):
		return worded{"the host broke off before it answered", err}
	}
	return err
}
