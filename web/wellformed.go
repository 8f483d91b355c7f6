package web

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// wellFormed is HTML whose elements all begin and end in it, as a browser understands it: what an entry leaves open
// must not go on behind it, and what it closes must not be an element of the page. It reports false for what is nested
// too deep.
func wellFormed(markup string) (string, bool) {
	nodes, err := html.ParseFragment(strings.NewReader(markup),
		&html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		return "", false
	}
	var out strings.Builder
	for _, n := range nodes {
		if err := html.Render(&out, n); err != nil {
			return "", false
		}
	}
	return out.String(), true
}
