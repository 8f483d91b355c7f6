package web

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"feedex/feed"
	"feedex/safehtml"
)

// byNode is where the node has a picture.
func byNode(at feed.URL) string { return "/pictures/" + string(at) }

func TestStill(t *testing.T) {
	for _, test := range []struct {
		markup, want, pictures string // sanitized already; "" for the same with pictures
		count                  int
	}{
		{`<p>a &amp; b</p>`, `<p>a &amp; b</p>`, "", 0},
		{`<h2 id="main">a</h2>`, `<h2>a</h2>`, "", 0},
		{`<img src="https://example.com/a.png" alt="A &lt;dog&gt;">`,
			`<span class="withheld">Picture: A &lt;dog&gt;</span>`,
			`<img alt="A &lt;dog&gt;" src="/pictures/https://example.com/a.png" loading="lazy" decoding="async">`, 1},
		{`<img src="data:image/png;base64,AA">`,
			`<img src="data:image/png;base64,AA" loading="lazy" decoding="async">`, "", 0},
		{`<img src="mailto:a@example.com"><img alt="b">`, `<span class="withheld">Picture</span>` +
			`<span class="withheld">Picture: b</span>`, "", 2},
		{`<picture><source src="https://example.com/a.webp"><img src="https://example.com/a.png"></picture>`,
			`<span class="withheld">Picture</span>`,
			`<img src="/pictures/https://example.com/a.png" loading="lazy" decoding="async">`, 1},
		{`<audio preload="auto" loop="" src="https://example.com/a.mp3"></audio>`,
			`<audio loop="" src="https://example.com/a.mp3" controls="" preload="none"></audio>`, "", 0},
		{`<video poster="https://example.com/p.png"><source src="https://example.com/a.mp4">b</video>`,
			`<video controls="" preload="none"><source src="https://example.com/a.mp4">b</video>`,
			`<video controls="" preload="none" poster="/pictures/https://example.com/p.png">` +
				`<source src="https://example.com/a.mp4">b</video>`, 0},
		{`<iframe src="https://example.com/f" title="F" sandbox="allow-scripts"></iframe>`,
			`<span class="withheld"><a href="https://example.com/f">Page from elsewhere: F</a></span>`, "", 0},
	} {
		a := new(article)
		if got := a.still(test.markup); got != test.want || a.pictures != test.count {
			t.Errorf("%s became %s, %d pictures; want %s, %d", test.markup, got, a.pictures, test.want, test.count)
		}
		if test.pictures == "" {
			test.pictures = test.want
		}
		a = &article{picture: byNode}
		if got := a.still(test.markup); got != test.pictures || a.pictures != test.count {
			t.Errorf("with %d pictures %s became %s; want %s", a.pictures, test.markup, got, test.pictures)
		}
	}
}

// FuzzStill holds that of no entry anything is loaded from elsewhere before somebody plays it, or has an id.
func FuzzStill(f *testing.F) {
	for _, s := range []string{
		`<img src=//x>`, `<picture><source srcset="https://a/b 2x"><img src="https://a/b"></picture>`,
		`<iframe src="https://video.example/1">`,
		`<video poster=https://a/b><source src=c>`, `<a id=main><img src=a></a>`, `<math><mtext><img src=x>`,
		`<table background="https://a/b">`, `<audio preload=auto autoplay src=a>`, `</picture><picture><source src=a>`,
	} {
		f.Add(s)
	}
	safe := safehtml.New()
	f.Fuzz(func(t *testing.T, markup string) {
		for _, a := range []*article{{}, {picture: byNode}} {
			shown := a.still(safe.Clean(markup, "https://example.com/"))
			nodes, err := html.Parse(strings.NewReader(shown))
			if err != nil {
				t.Fatal(err)
			}
			for e := range nodes.Descendants() {
				played := e.Data == "audio" || e.Data == "video" || e.Data == "source"
				for _, a := range e.Attr {
					bad := false
					switch a.Key {
					case "src", "poster":
						bad = !strings.HasPrefix(a.Val, "data:image/") && !strings.HasPrefix(a.Val, "/pictures/") &&
							!(played && a.Key == "src")
					case "preload":
						bad = a.Val != "none"
					case "srcset", "background", "id", "style", "autoplay":
						bad = true
					}
					if bad {
						t.Errorf("%q became %q", markup, shown)
					}
				}
				if (e.Data == "audio" || e.Data == "video") && !strings.Contains(shown, `preload="none"`) {
					t.Errorf("%q became %q", markup, shown)
				}
			}
		}
	})
}
