package web

import (
	"strings"
	"testing"
)

// An entry can neither end the page around it nor go on behind its own end.
func TestWhole(t *testing.T) {
	for markup, want := range map[string]string{
		`<p>a</p>`:                             `<p>a</p>`,
		`</div></article></main>a`:             `a`,
		`<a href="https://x.test/">b`:          `<a href="https://x.test/">b</a>`,
		`<ul><li><div></li></div></ul></div>c`: `<ul><li><div></div></li></ul>c`,
		`<li><div><li></div></div>d`:           `<li><div></div></li><li>d</li>`,
	} {
		if got, ok := wellFormed(markup); !ok || got != want {
			t.Errorf("%s became %s, want %s", markup, got, want)
		}
	}
	if got, ok := wellFormed(strings.Repeat("<div>", 100_000)); ok {
		t.Errorf("of what is nested too deep %d bytes came back", len(got))
	}
}
