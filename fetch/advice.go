package fetch

import (
	"net/http"
	"strings"
)

// optsOut reports whether the publisher asks that the document not be passed on: by Cache-Control
// no-store or private (RFC 9111 §5.2.2), or by X-Robots-Tag noarchive, noindex or none. With the directive
// im no-store is only for caches that do not know deltas (RFC 3229 §10.8).
func optsOut(h http.Header) bool {
	noStore, im := false, false
	for name := range directives(h) {
		switch name {
		case "private":
			return true
		case "no-store":
			noStore = true
		case "im":
			im = true
		}
	}
	if noStore && !im {
		return true
	}
	for _, line := range h.Values("X-Robots-Tag") {
		if robotsOptOut(line) {
			return true
		}
	}
	return false
}

// robotsOptOut reads one X-Robots-Tag: rules separated by commas, some with a value after a colon. A robot's name and a
// colon in front of a rule limit that and the following ones to the robot. Text with blanks in front of a colon is no
// name, but the rest of a date.
func robotsOptOut(line string) bool {
	forUs := true
	for rule := range strings.SplitSeq(strings.ToLower(line), ",") {
		name, rest, ok := strings.Cut(strings.TrimSpace(rule), ":")
		if ok {
			switch name = strings.TrimSpace(name); name {
			case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
				continue // a rule with a value
			}
			if strings.ContainsAny(name, " \t") {
				continue
			}
			forUs = name == "feedex" || name == "*"
			name = rest
		}
		switch strings.TrimSpace(name) {
		case "noarchive", "noindex", "none":
			if forUs {
				return true
			}
		}
	}
	return false
}
