package fetch

import (
	"errors"
	"fmt"
	"net/http"
)

var (
	// ErrTooLarge says that the document is larger than MaxBytes, or inflates as no feed does.
	ErrTooLarge = errors.New("document too large")
	// ErrTooManyRedirects says that the answer after MaxRedirects redirects was another one.
	ErrTooManyRedirects = fmt.Errorf("redirected more than %d times", MaxRedirects)
	// ErrLoop says that an address redirects to itself, by whatever way.
	ErrLoop = errors.New("redirected in a circle")
	// ErrNotFeed says that the address leads to a web page.
	ErrNotFeed = errors.New("this is a web page, not a feed; subscribe to the feed that the page links to")
	// ErrEncoding says that the publisher uses a content coding that was not asked for.
	ErrEncoding = errors.New("content coding not understood")
)

// A StatusError says that the publisher answered with an HTTP status that brings no document.
type StatusError struct {
	Code int // HTTP status code
}

// Error says what the status means for somebody who follows the feed.
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
		return text + ": the feed wants a user name and a password"
	case e.Code == http.StatusForbidden, e.Code == http.StatusUnavailableForLegalReasons:
		return text + ": the publisher refuses us"
	case e.Code == http.StatusTooManyRequests:
		return text + ": the publisher asks for fewer requests"
	case e.Code >= 500:
		return text + ": the publisher's server is in trouble"
	}
	return text
}
