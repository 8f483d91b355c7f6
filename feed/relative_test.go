package feed

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestResolve(t *testing.T) {
	base, err := url.Parse("http://example.com/a/b.html")
	if err != nil {
		t.Fatal(err)
	}
	for markup, want := range map[string]string{
		"no markup":                          "no markup",
		`1 < 2 <a href="c">&copy;</a> <b`:    `1 < 2 <a href="http://example.com/a/c">&copy;</a> <b`,
		`<IMG SRC='/c.png' ALT="x">`:         `<img src="http://example.com/c.png" alt="x">`,
		`<a href="#n">1</a>`:                 `<a href="http://example.com/a/b.html#n">1</a>`,
		`<a href="//example.org/">`:          `<a href="http://example.org/">`,
		`<a href="">`:                        `<a href="">`,
		`<a href="HTTP://x/" id=a>`:          `<a href="HTTP://x/" id=a>`,
		`<a href="javascript:a">`:            `<a href="javascript:a">`,
		`<a href="%zz">`:                     `<a href="%zz">`,
		`<!-- <a href="c"> --><video src=c>`: `<!-- <a href="c"> --><video src="http://example.com/a/c">`,
	} {
		if got, fits := Resolve(markup, base, 1000); got != want || !fits {
			t.Errorf("Resolve(%q) = %q, %t, want %q", markup, got, fits, want)
		}
	}
	many := strings.Repeat("<a href=c>", 100)
	if got, fits := Resolve(many, base, 1000); got != many || fits {
		t.Error("it grew by more than it may")
	}
}

// Once resolved a text stays as it is, and it grows by no more than it may.
func TestResolveIsDoneOnce(t *testing.T) {
	base, err := url.Parse("http://example.com/a/b.html")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SampledFrom([]string{"<a href=", "<img src=", `"`, "'", ">", "</a>", "c/d", "?e=1&f", "&amp;",
			" ", "<", "<script>", "http://x/", "é"})
		markup := strings.Join(rapid.SliceOfN(pieces, 0, 12).Draw(t, "pieces"), "")
		once, _ := Resolve(markup, base, 100)
		if len(once) > len(markup)+100+64 {
			t.Fatalf("%q became %q", markup, once)
		}
		if again, _ := Resolve(once, base, 1000); once != markup && again != once {
			t.Fatalf("%q became %q and then %q", markup, once, again)
		}
	})
}
