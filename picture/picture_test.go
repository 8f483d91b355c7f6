package picture

import (
	"strings"
	"testing"
)

func TestType(t *testing.T) {
	for content, want := range map[string]string{
		"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR":           "image/png",
		"\xff\xd8\xff\xe0\x00\x10JFIF":                  "image/jpeg",
		"GIF89a\x01\x00\x01\x00":                        "image/gif",
		"RIFF\x24\x00\x00\x00WEBPVP8 ":                  "image/webp",
		"RIFF\x24\x00\x00\x00WAVEfmt ":                  "", // a sound
		"\x00\x00\x00\x1cftypavif\x00\x00":              "image/avif",
		"\x00\x00\x00\x1cftypisom\x00\x00":              "", // a video
		"BM\x36\x00\x00\x00\x00\x00\x00\x00\x36\x00":    "image/bmp",
		"BMW builds cars":                               "",
		"\x00\x00\x01\x00\x01\x00\x10\x10":              "image/x-icon",
		"<svg xmlns='http://www.w3.org/2000/svg'>":      svg,
		"\ufeff<?xml version='1.0'?>\n<!-- a --><svg/>": svg,
		"<!DOCTYPE svg PUBLIC \"a\" \"b\">\n<svg\n>":    svg,
		"<!DOCTYPE svg [<!ENTITY a 'aaaa'>]><svg>&a;":   "",  // grows
		"<!doctype html><svg>":                          svg, // nosniff and its type make it no page
		"<html><svg>":                                   "",
		"<svgx>":                                        "",
		"<svg":                                          "",
		"<script>alert(1)</script>":                     "",
		"<?xml version='1.0'?><rss><svg/></rss>":        "",
		strings.Repeat(" ", maxPrologue) + "<svg>":      "",
		"%PDF-1.7":   "",
		"MZ\x90\x00": "",
		"":           "",
	} {
		if got := Type([]byte(content)); got != want {
			t.Errorf("%.40q is %q, want %q", content, got, want)
		}
	}
}

// FuzzType holds that nothing hangs, and that what begins as a web page is none.
func FuzzType(f *testing.F) {
	f.Add([]byte("<?xml?><!----><svg>"))
	f.Add([]byte("<!DOCTYPE svg><svg "))
	f.Fuzz(func(t *testing.T, content []byte) {
		if got := Type(content); got != "" && strings.HasPrefix(strings.ToLower(string(content)), "<html") {
			t.Errorf("%q is %s", content, got)
		}
	})
}
