package safehtml_test

import (
	"strings"
	"testing"
	"time"

	"feedex/safehtml"
)

const link = "https://example.com/a/1.html"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestClean(t *testing.T) {
	p := safehtml.New()
	for name, tc := range map[string]struct{ markup, want string }{
		"text": {"1 &lt; 2", "1 &lt; 2"},
		"an article": {`<h2>T</h2><p>a <b>b</b> <code>c</code></p><ul><li>d</li></ul>`,
			`<h2>T</h2><p>a <b>b</b> <code>c</code></p><ul><li>d</li></ul>`},
		"a program": {`a<script>alert(1)</script>b`, `ab`},
		"an event": {`<img src="https://example.com/i.png" onerror="alert(1)">`,
			`<img src="https://example.com/i.png">`},
		"a javascript link": {`<a href="javascript:alert(1)">a</a>`, `a`},
		"one in disguise":   {"<a href=\" java\nscript:alert(1)\">a</a>", `a`},
		"a page in a link":  {`<a href="data:text/html,<script>alert(1)</script>">a</a>`, `a`},
		"a style":           {`<p style="position:fixed;inset:0">a</p><style>p{}</style>`, `<p>a</p>`},
		"a form": {`<form action="https://example.net/"><input name="password"><button>Log in</button>` +
			`</form>`, `Log in`},
		"an object":    {`<object data="x.swf"></object><embed src="x.swf">a`, `a`},
		"another base": {`<base href="https://example.net/"><meta http-equiv="refresh" content="0">a`, `a`},
		"a drawing":    {`<svg onload="alert(1)"><script>alert(1)</script></svg>a`, `a`},
		"relative addresses": {`<a href="b.html">b</a><img src="/c.png">`,
			`<a href="https://example.com/a/b.html">b</a><img src="https://example.com/c.png">`},
		"a list of pictures": {`<img alt="a" srcset="/480.jpg 480w, /1800.jpg 1800w,/2400.jpg 2400w">`,
			`<img alt="a" src="https://example.com/1800.jpg">`},
		"a list of small pictures": {`<img srcset="a,b.png, c.png 2x">`, `<img src="https://example.com/a/c.png">`},
		"a list beside a picture":  {`<img src="/a.png" srcset="/b.png 2x">`, `<img src="https://example.com/a.png">`},
		"a picture that waits for a script": {`<img src="data:image/gif;base64,R0lGODlhAQABAA==" data-src="/a.png">`,
			`<img src="https://example.com/a.png">`},
		"one that waits, and stands beside": {`<img data-src="/a.png"><noscript><img src="/a.png"></noscript>`,
			`<img src="https://example.com/a.png">`},
		"a choice": {`<picture><source srcset="/a.avif 800w, /b.avif 1600w"><source srcset="/c.webp"><img alt="a">` +
			`</picture>`, `<picture><img alt="a" src="https://example.com/b.avif"></picture>`},
		"a list that runs": {`<img srcset="javascript:alert(1) 2x">`, ``},
		"a video": {`<video src="v.mp4" controls="" width="640" autoplay></video>`,
			`<video src="https://example.com/a/v.mp4" controls="" width="640"></video>`},
		"a frame": {`<iframe src="https://video.example/1" width="560" onload="alert(1)"></iframe>`,
			`<iframe src="https://video.example/1" width="560" sandbox="allow-scripts allow-same-origin ` +
				`allow-popups"></iframe>`},
		"a frame of our own": {`<iframe src="javascript:alert(1)" srcdoc="<script>alert(1)</script>" ` +
			`sandbox="allow-top-navigation"></iframe>`, ``},
		"a frame nearby": {`<iframe src="http://192.168.1.1/reboot"></iframe><iframe ` +
			`src="https://127.0.0.1:7791/"></iframe>`, ``},
		"a frame left open": {`<iframe src="https://video.example/1">a<p>b`, `<iframe src="https://video.example/1" ` +
			`sandbox="allow-scripts allow-same-origin allow-popups"></iframe>`},
		"a frame from nowhere": {`<iframe src="https://a.example b">a</iframe>c`, `c`},
		"control characters":   {"<p>a&#27;[2J\x1b&#0;</p>", "<p>a[2J\uFFFD</p>"},
		"a sandbox in text":    {`<p title='sandbox=""'>sandbox=""</p>`, `<p>sandbox=&#34;&#34;</p>`},
	} {
		got := p.Clean(tc.markup, link)
		if got != tc.want {
			t.Errorf("%s: %q became %q, want %q", name, tc.markup, got, tc.want)
		}
	}
}

func TestText(t *testing.T) {
	p := safehtml.New()
	for markup, want := range map[string]string{
		"a &lt;b&gt; <i>c</i> &amp;amp;": "a <b> c &amp;",
		"1 < 2 & \"3\"":                  "1 < 2 & \"3\"",
		"a<script>alert(1)</script>":     "a",
	} {
		if got := p.Text(markup); got != want {
			t.Errorf("Text(%q) = %q, want %q", markup, got, want)
		}
	}
}

// FuzzClean holds that nothing of a program is left, however it is written, and that cleaning twice is
// cleaning once.
func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"<p>a</p>", "<scr<script>ipt>alert(1)</script>", `<a href="&#106;avascript:alert(1)">`, "<svg/onload=alert(1)>",
		"<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>", `<iframe src="//x">`,
		`<img srcset=",,a 2x, b," src=data:,>`, `<picture><source srcset="a 1w"><img data-src=" x"></picture>`,
		"<!--><img src=x onerror=a>-->", `<iframe src="https://a.example/">"`, `<iframe src="https://a.b c">a`,
	} {
		f.Add(s)
	}
	p := safehtml.New()
	f.Fuzz(func(t *testing.T, markup string) {
		got := p.Clean(markup, link)
		for _, bad := range []string{"<script", "<style", "<svg", "<math", "<form", "<object",
			`="javascript:`, "<!--"} {
			if strings.Contains(strings.ToLower(got), bad) {
				t.Fatalf("%q became %q", markup, got)
			}
		}
		if again := p.Clean(got, link); again != got {
			t.Fatalf("%q became %q and then %q", markup, got, again)
		}
	})
}
