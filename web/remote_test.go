package web

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"feedex/safehtml"
)

func TestStill(t *testing.T) {
	for _, test := range []struct {
		markup, want, pictures string // sanitized already
		withheld               int
	}{
		{`<p>a &amp; b</p>`, `<p>a &amp; b</p>`, `<p>a &amp; b</p>`, 0},
		{`<h2 id="main">a</h2>`, `<h2>a</h2>`, `<h2>a</h2>`, 0},
		{`<img src="https://example.com/a.png" alt="A &lt;dog&gt;">`,
			`<span class="withheld">Picture: A &lt;dog&gt;</span>`,
			`<img src="https://example.com/a.png" alt="A &lt;dog&gt;" loading="lazy">`, 1},
		{`<img src="data:image/png;base64,AA">`, `<img src="data:image/png;base64,AA" loading="lazy">`,
			`<img src="data:image/png;base64,AA" loading="lazy">`, 0},
		{`<audio controls="" src="https://example.com/a.mp3"></audio>`,
			`<span class="withheld"><a href="https://example.com/a.mp3">Audio</a></span>`,
			`<audio controls="" src="https://example.com/a.mp3"></audio>`, 1},
		{`<video><source src="https://example.com/a.mp4">b</video>`, `<span class="withheld">Video</span>b`,
			`<video><source src="https://example.com/a.mp4">b</video>`, 2},
		{`<iframe src="https://example.com/f" title="F" sandbox="allow-scripts"></iframe>`,
			`<span class="withheld"><a href="https://example.com/f">Page from elsewhere: F</a></span>`,
			`<span class="withheld"><a href="https://example.com/f">Page from elsewhere: F</a></span>`, 0},
	} {
		if got, n := withholdRemote(test.markup, false); got != test.want || n != test.withheld {
			t.Errorf("%s became %s, %d withheld; want %s, %d", test.markup, got, n, test.want, test.withheld)
		}
		if got, n := withholdRemote(test.markup, true); got != test.pictures || n != 0 {
			t.Errorf("with pictures %s became %s, %d withheld; want %s", test.markup, got, n, test.pictures)
		}
	}
}

// FuzzStill holds that of no entry anything is loaded from elsewhere, or has an id.
func FuzzStill(f *testing.F) {
	for _, s := range []string{
		`<img src=//x>`, `<picture><source srcset="https://a/b 2x"><img src="https://a/b"></picture>`,
		`<iframe src="https://video.example/1">`,
		`<video poster=https://a/b><source src=c>`, `<a id=main><img src=a></a>`, `<math><mtext><img src=x>`,
		`<table background="https://a/b">`,
	} {
		f.Add(s)
	}
	safe := safehtml.New()
	f.Fuzz(func(t *testing.T, markup string) {
		shown, _ := withholdRemote(safe.Clean(markup, "https://example.com/"), false)
		nodes, err := html.Parse(strings.NewReader(shown))
		if err != nil {
			t.Fatal(err)
		}
		for e := range nodes.Descendants() {
			for _, a := range e.Attr {
				switch {
				case a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/"), a.Key == "srcset", a.Key == "poster",
					a.Key == "background", a.Key == "id", a.Key == "style":
					t.Errorf("%q became %q", markup, shown)
				}
			}
		}
	})
}
