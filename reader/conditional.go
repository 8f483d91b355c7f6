package reader

import (
	"net/http"
	"strings"
	"time"
)

// precondition is how a GET or HEAD with these headers is to be answered: 200, 304 or 412. It takes
// the steps of RFC 9110 §13.2.2 in their order. A zero modified means that there is no such validator.
func precondition(h http.Header, etag string, modified time.Time) int {
	switch {
	case h.Get("If-Match") != "":
		if !matches(h.Values("If-Match"), etag, false) {
			return http.StatusPreconditionFailed
		}
	case h.Get("If-Unmodified-Since") != "":
		if since, err := http.ParseTime(h.Get("If-Unmodified-Since")); err == nil && !modified.IsZero() &&
			modified.After(since) {
			return http.StatusPreconditionFailed
		}
	}
	switch {
	case h.Get("If-None-Match") != "":
		if matches(h.Values("If-None-Match"), etag, true) {
			return http.StatusNotModified
		}
	case h.Get("If-Modified-Since") != "":
		if since, err := http.ParseTime(h.Get("If-Modified-Since")); err == nil && !modified.IsZero() &&
			!modified.After(since) {
			return http.StatusNotModified
		}
	}
	return http.StatusOK
}

// matches reports whether our strong entity tag is in the list, "*" being any. Tags that are marked as
// weak count where the comparison may be weak (RFC 9110 §8.8.3.2).
func matches(lines []string, etag string, weak bool) bool {
	list := strings.Join(lines, ",")
	for {
		list = strings.TrimLeft(list, ", \t")
		if list == "" {
			return false
		}
		if list[0] == '*' {
			return true
		}
		tag, isWeak := strings.CutPrefix(list, "W/")
		if tag == "" || tag[0] != '"' {
			return false
		}
		end := strings.IndexByte(tag[1:], '"')
		if end < 0 {
			return false
		}
		if tag[:end+2] == etag && (weak || !isWeak) {
			return true
		}
		list = tag[end+2:]
	}
}

// settled reports whether a second is over, so that nothing more can change in it: only then is it fit
// to be a Last-Modified (RFC 9110 §8.8.2.2).
func settled(modified, now time.Time) bool {
	return !modified.IsZero() && now.Unix() > modified.Unix()
}
