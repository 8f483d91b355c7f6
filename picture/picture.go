// Package picture tells by its bytes whether something is a picture that pages may show. What a server calls it does
// not count: a browser that is told that a web page is a picture, or the other way round, would be led by whoever wrote
// it.
package picture

import (
	"bytes"
	"regexp"
)

// Type is the media type of a picture, "" for anything else. It is one of those that every browser shows: PNG, JPEG,
// GIF, WebP, AVIF, BMP, ICO and SVG.
func Type(content []byte) string {
	for _, k := range kinds {
		if bytes.HasPrefix(content, []byte(k.magic)) && (k.also == "" || len(content) > k.at &&
			bytes.HasPrefix(content[k.at:], []byte(k.also))) {
			return k.mediaType
		}
	}
	if isSVG(content) {
		return svg
	}
	return ""
}

// svg is the type of the only pictures that may hold programs: what serves one has to see to it that they do not run.
const svg = "image/svg+xml"

// Policy is the Content-Security-Policy of every picture that is served: opened by itself, and not as part of a page,
// an SVG would be a page of the node's own, with programs and whatever else it loads.
const Policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

// kinds are pictures by how they begin, with another mark further on where that is not enough.
var kinds = []struct {
	mediaType, magic, also string
	at                     int
}{
	{"image/png", "\x89PNG\r\n\x1a\n", "", 0},
	{"image/jpeg", "\xff\xd8\xff", "", 0},
	{"image/gif", "GIF87a", "", 0},
	{"image/gif", "GIF89a", "", 0},
	{"image/webp", "RIFF", "WEBPVP", 8},
	{"image/avif", "\x00\x00\x00", "ftypavif", 4},
	{"image/avif", "\x00\x00\x00", "ftypavis", 4},
	{"image/bmp", "BM", "\x00\x00\x00\x00", 6}, // reserved
	{"image/x-icon", "\x00\x00\x01\x00", "", 0},
}

// prologue is what may stand before the root element of an SVG: a declaration, comments, and a type without
// declarations of its own, for these can make gigabytes of a few lines.
var prologue = regexp.MustCompile(`(?s)^(\s|<\?.*?\?>|<!--.*?-->|(?i:<!DOCTYPE)\s[^\[>]*>)+`)

// maxPrologue is how many bytes it may have.
const maxPrologue = 8 << 10

func isSVG(content []byte) bool {
	head := bytes.TrimPrefix(content, []byte("\ufeff"))
	head = head[:min(len(head), maxPrologue)]
	if loc := prologue.FindIndex(head); loc != nil {
		head = head[loc[1]:]
	}
	rest, ok := bytes.CutPrefix(head, []byte("<svg"))
	return ok && len(rest) > 0 && bytes.IndexByte([]byte(" \t\r\n>/"), rest[0]) >= 0
}
