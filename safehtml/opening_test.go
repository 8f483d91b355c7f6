package safehtml_test

import (
	"strings"
	"testing"

	"feedex/feed"
	"feedex/safehtml"
)

// The beginning of a text may end within a tag or a character reference.
func TestOpening(t *testing.T) {
	p := safehtml.New()
	for html, want := range map[string]string{
		"":                                    "",
		"<p>One</p><p>two</p>":                "One two",
		"a <b>c</b> d <a href=\"https://exam": "a c d",
		"1 < 2":                               "1 < 2",
		"x" + strings.Repeat(" y", 200):       "x" + strings.Repeat(" y", 139) + "…",
		"<script>alert(1)</script>safe &amp; sound": "safe & sound",
	} {
		if got := p.Opening(html, 280); got != want {
			t.Errorf("Opening(%.40q) = %q, want %q", html, got, want)
		}
	}
}

// Text runs as its first letter does, whatever signs are before it.
func TestDirectionOfText(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "12, 13!": "", "Harbor": "ltr", "1: \u05e9 a": "rtl", "a \u05e9": "ltr", "\u0661 \u0633": "rtl",
		"\u6e2f": "ltr",
	} {
		if got := safehtml.Direction(text); got != want {
			t.Errorf("%q runs %q, want %q", text, got, want)
		}
	}
}

// What stands for a title is cut between characters, however long the text is, and whatever it begins with.
func TestOpener(t *testing.T) {
	p := safehtml.New()
	for _, c := range []struct {
		e    feed.Entry
		want string
	}{
		{feed.Entry{Summary: "<p>A short post &amp; <b>no</b> title</p>", Content: "x"}, "A short post & no title"},
		{feed.Entry{Content: strings.Repeat("é", 9000)}, strings.Repeat("é", 100) + "…"},
		{feed.Entry{Content: `<a href="https://example.com/` + strings.Repeat("x", 3000) + `">Here</a>`}, "Here"},
		{feed.Entry{Content: `<img src="https://example.com/i">`}, ""},
	} {
		if got := p.Opener(&c.e); got != c.want {
			t.Errorf("Opener = %q, want %q", got, c.want)
		}
	}
}

// A page of another program says nothing of the direction in which a text is written that it shows.
func TestWhole(t *testing.T) {
	p := safehtml.New()
	for text, want := range map[string]string{
		"":                       "",
		"<p>left</p>":            "<p>left</p>",
		"<p>שלום</p>":            `<div dir="auto"><p>` + "שלום</p></div>",
		"سلام<script>x</script>": `<div dir="auto">` + "سلام</div>",
	} {
		if got := p.Whole(text, "https://example.com/"); got != want {
			t.Errorf("Whole(%q) = %q, want %q", text, got, want)
		}
	}
}
