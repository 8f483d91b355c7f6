package fetch

import (
	"net/http"
	"strings"
	"time"

	"feedex/courtesy"
	"feedex/internal/httptime"
)

// freshness is how long the answer may be used without asking again (RFC 9111 §4.2.1): max-age, else Expires
// against the publisher's own clock. Where neither is given nothing is made up: when to ask then is for
// polling policies, which know the feed, and are told for how long it was unchanged.
//
// Of §4.2.3 only Age counts, and not how long ago Date says that the answer was made: a clock that is ahead,
// ours or theirs, would make everything stale.
func freshness(h http.Header, now time.Time) courtesy.Freshness {
	f := courtesy.Freshness{Age: ageOf(h)}
	lifetime, stated := maxAge(h)
	if !stated {
		if lifetime, stated = untilExpires(h, now); !stated {
			return courtesy.Freshness{}
		}
	}
	f.Stated, f.Lifetime = true, min(max(lifetime, 0), httptime.Longest)
	return f
}

// maxAge is the lifetime that Cache-Control states: max-age, or nothing at all where the answer must not be used again
// without asking (no-cache, no-store). One that is not a number is no time (RFC 9111 §4.2.1).
func maxAge(h http.Header) (lifetime time.Duration, stated bool) {
	for name, value := range directives(h) {
		switch name {
		case "no-cache", "no-store":
			if value == "" { // no-cache="Set-Cookie" is about that field alone
				return 0, true
			}
		case "max-age":
			if !stated { // of several the first
				lifetime, stated = httptime.Seconds(value), true
			}
		}
	}
	return lifetime, stated
}

// untilExpires is how long the answer is fresh by its Expires. A date that cannot be read is past: "0", say.
func untilExpires(h http.Header, now time.Time) (lifetime time.Duration, stated bool) {
	text := h.Get("Expires")
	if text == "" {
		return 0, false
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, true
	}
	return at.Sub(httptime.Answered(h, now)), true
}

// unchanged is for how long the document had been as it is when the publisher answered, 0 where that cannot be told.
func unchanged(lastModified string, h http.Header, now time.Time) time.Duration {
	at, err := http.ParseTime(lastModified)
	if err != nil {
		return 0
	}
	return min(max(httptime.Answered(h, now).Sub(at), 0), httptime.Longest)
}

// ageOf is how long the answer was in caches on its way (RFC 9111 §5.1).
func ageOf(h http.Header) time.Duration { return httptime.Seconds(h.Get("Age")) }

// directives walks through Cache-Control: names in lower case, values without quotes, "" for none (RFC 9111 §5.2).
func directives(h http.Header) func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		for _, line := range h.Values("Cache-Control") {
			for line != "" {
				var one string
				one, line = cutDirective(line)
				name, value, _ := strings.Cut(one, "=")
				name, value = strings.ToLower(strings.TrimSpace(name)), strings.Trim(strings.TrimSpace(value), `"`)
				if name != "" && !yield(name, value) {
					return
				}
			}
		}
	}
}

// cutDirective cuts the line at its first comma that is not within quotes.
func cutDirective(line string) (one, rest string) {
	quoted := false
	for i := range len(line) {
		switch line[i] {
		case '"':
			quoted = !quoted
		case ',':
			if !quoted {
				return line[:i], line[i+1:]
			}
		}
	}
	return line, ""
}
