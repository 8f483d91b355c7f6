package syncapi

import (
	"net/http"
	"strings"
)

// Scheme is how a request came, "https" or "http": to the node, or to the owner's web server in front of it where that
// says so. A client that says so without one deceives nobody else.
func Scheme(r *http.Request) string {
	scheme, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",") // several servers list theirs
	if r.TLS != nil || strings.EqualFold(strings.TrimSpace(scheme), "https") {
		return "https"
	}
	return "http"
}
