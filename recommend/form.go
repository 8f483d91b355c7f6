package recommend

import (
	"slices"
	"strings"
	"unicode"

	"feedex/feed"
)

// FormOf is the same for all forms of a feed, such as RSS and Atom, http and https, or its comments: it is the host,
// and what else stands in the URL but for words of formats. Where two feeds are taken for one, one of them is not
// suggested; nothing else depends on it.
func FormOf(u feed.URL) string {
	_, rest, _ := strings.Cut(string(u), "://")
	host, rest, _ := strings.Cut(rest, "/")
	words := strings.FieldsFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return formats[strings.ToLower(w)] })
	return strings.TrimPrefix(host, "www.") + "/" + strings.Join(words, "/")
}

// formats are words that say which form of a feed a URL is of, and not which feed.
var formats = map[string]bool{
	"alt": true, "atom": true, "comments": true, "feed": true, "feeds": true, "format": true, "index": true,
	"json": true, "posts": true, "rdf": true, "rss": true, "rss2": true, "xml": true,
}
