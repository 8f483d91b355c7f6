package discover

import (
	"slices"
	"strings"
	"testing"

	"feedex/feed"
)

func TestIcons(t *testing.T) {
	const root = "https://blog.example/favicon.ico"
	for name, test := range map[string]struct {
		body string
		want []feed.URL
	}{
		"nothing":  {"", []feed.URL{root}},
		"one":      {`<link rel="icon" href="i.png">`, []feed.URL{"https://blog.example/about/i.png", root}},
		"the same": {`<link rel="Shortcut Icon" href="/favicon.ico">`, []feed.URL{root}},
		"relative to its base": {`<base href="//cdn.example/a/"><link rel=icon href=i.svg>`,
			[]feed.URL{"https://cdn.example/a/i.svg", root}},
		"the fittest first": {`<link rel=icon sizes=16x16 href=/16><link rel=apple-touch-icon sizes=180x180 ` +
			`href=/180><link rel=icon sizes=any href=/any><link rel=icon sizes=32X32 href=/32><link rel=icon ` +
			`sizes=512x512 href=/512>`,
			[]feed.URL{"https://blog.example/32", "https://blog.example/any", "https://blog.example/180",
				"https://blog.example/512", "https://blog.example/16", root}},
		"others": {`<link rel="mask-icon icon" href=/mask><link rel=stylesheet href=/s><link rel=icon href="">` +
			`<link rel=icon href="javascript:alert(1)"><link rel=icon href="data:image/png;base64,AA">` +
			`<link rel=icon href="https://ann:secret@blog.example/i">`, []feed.URL{root}},
		"hundreds": {strings.Repeat(`<link rel=icon href=/i>`, 400) + `<link rel=icon href=/j>`,
			[]feed.URL{"https://blog.example/i", root}},
	} {
		if got := Icons(page, "text/html", []byte(test.body)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	if got := Icons("https://ann:secret@blog.example/", "", nil); !slices.Equal(got, []feed.URL{root}) {
		t.Errorf("of a page with a password: %q", got)
	}
}
