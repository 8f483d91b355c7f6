package web_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// wantSound holds a page to what the security of all of them rests on.
func wantSound(t *testing.T, target string, w *httptest.ResponseRecorder) {
	t.Helper()
	header := w.Header()
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Referrer-Policy": "no-referrer", "Content-Type": "text/html", "Cache-Control": "private",
	} {
		if !strings.Contains(header.Get(name), want) {
			t.Errorf("%s: %s is %q, want %q", target, name, header.Get(name), want)
		}
	}
	if strings.Contains(header.Get("Content-Security-Policy"), "unsafe") {
		t.Errorf("%s: Content-Security-Policy %q", target, header.Get("Content-Security-Policy"))
	}
	page, err := html.Parse(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]*html.Node)
	var described []*html.Node
	for e := range page.Descendants() {
		if e.Type != html.ElementNode {
			continue
		}
		if e.Data == "script" && e.FirstChild != nil || e.Data == "style" || e.Data == "base" {
			t.Errorf("%s: a %s element of its own", target, e.Data)
		}
		for _, a := range e.Attr {
			name, value := strings.ToLower(a.Key), strings.ToLower(strings.TrimSpace(a.Val))
			switch {
			case name == "style", strings.HasPrefix(name, "on"):
				t.Errorf("%s: attribute %s=%q", target, a.Key, a.Val)
			case (name == "href" || name == "src" || name == "action") && strings.HasPrefix(value, "javascript:"):
				t.Errorf("%s: a link to %q", target, a.Val)
			case name == "id" && ids[value] != nil:
				t.Errorf("%s: the id %q stands twice", target, a.Val)
			case name == "id":
				ids[value] = e
			case name == "aria-describedby":
				described = append(described, e)
			case name == "aria-invalid" && attribute(e, "aria-describedby") == "":
				t.Errorf("%s: nothing says what is wrong with %s", target, attribute(e, "id"))
			}
		}
	}
	// What is wrong with a field is read out with it.
	for _, e := range described {
		wrong := false
		for id := range strings.FieldsSeq(attribute(e, "aria-describedby")) {
			by := ids[id]
			if by == nil {
				t.Errorf("%s: there is no %s that describes %s", target, id, attribute(e, "id"))
				continue
			}
			wrong = wrong || by.FirstChild != nil && strings.HasSuffix(id, "wrong")
		}
		if wrong != (attribute(e, "aria-invalid") == "true") {
			t.Errorf("%s: that something is wrong with %s is %t, and so says a description: %t", target,
				attribute(e, "id"), !wrong, wrong)
		}
	}
}

// attribute is what an element has by that name, "" for nothing.
func attribute(e *html.Node, name string) string {
	for _, a := range e.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
