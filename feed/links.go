package feed

import (
	"net/url"
	"strconv"
	"strings"
)

// link is the absolute form of an address in the document, "" where there is none. One that is
// absolute already is left as the publisher wrote it.
func (b *builder) link(ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" {
		return ""
	}
	u, err := url.Parse(ref)
	switch {
	case err != nil && absolute(ref):
		return ref // url.Parse is stricter than browsers, e.g. about "%"
	case err != nil:
		return ""
	case u.IsAbs():
		return ref
	case b.base == nil || !b.base.IsAbs() || b.growth > maxLinks:
		return ""
	}
	to := b.base.ResolveReference(u).String()
	b.growth += len(to)
	return to
}

func absolute(ref string) bool {
	return strings.HasPrefix(ref, "http://") || strings.HasPrefix(ref, "https://")
}

// enclosure appends a media file, unless it has no address.
func (b *builder) enclosure(list []Enclosure, address, mediaType string, length string) []Enclosure {
	address = b.link(address)
	if address == "" {
		return list
	}
	n, err := strconv.ParseInt(strings.TrimSpace(length), 10, 64)
	if err != nil || n < 0 {
		n = 0
	}
	return append(list, Enclosure{URL: address, Type: strings.TrimSpace(mediaType), Length: n})
}
