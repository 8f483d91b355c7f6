package web

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// withholdRemote takes out of sanitized HTML what would load something from elsewhere when the page is opened, and
// counts that: its server would learn what the owner reads, and when. In place of each stands what it is and where.
// Where images is true, pictures, sound and video stay; frames, which may run programs, are links in any case. Ids go,
// so that no entry can pass for a part of the page.
func withholdRemote(markup string, images bool) (shown string, withheld int) {
	var out strings.Builder
	z := html.NewTokenizer(strings.NewReader(markup))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return out.String(), withheld
		}
		raw := string(z.Raw())
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken && kind != html.EndTagToken {
			out.WriteString(raw)
			continue
		}
		t := z.Token()
		if kind == html.EndTagToken {
			if !loads(t.Data) || images && t.Data != "iframe" {
				out.WriteString(raw)
			}
			continue
		}
		source := attribute(&t, "src")
		switch {
		case t.Data == "iframe":
			replace(&out, "Page from elsewhere", attribute(&t, "title"), source)
		case !loads(t.Data), images, t.Data == "img" && strings.HasPrefix(source, "data:image/"):
			write(&out, &t)
		case t.Data == "img":
			withheld++
			replace(&out, "Picture", attribute(&t, "alt"), "")
		case t.Data == "audio", t.Data == "video":
			withheld++
			replace(&out, strings.ToUpper(t.Data[:1])+t.Data[1:], "", source)
		case t.Data == "source":
			withheld++
		}
	}
}

// loads reports whether an element makes the browser load something.
func loads(element string) bool {
	switch element {
	case "img", "audio", "video", "source", "picture", "iframe":
		return true
	}
	return false
}

// write writes a tag without ids, and without what loads its poster.
func write(out *strings.Builder, t *html.Token) {
	kept := t.Attr[:0]
	for _, a := range t.Attr {
		if a.Key != "id" {
			kept = append(kept, a)
		}
	}
	t.Attr = kept
	if t.Data == "img" {
		t.Attr = append(t.Attr, html.Attribute{Key: "loading", Val: "lazy"})
	}
	out.WriteString(t.String())
}

// replace says what stood there.
func replace(out *strings.Builder, what, name, link string) {
	text := what
	if name = strings.TrimSpace(name); name != "" {
		text += ": " + name
	}
	text = html.EscapeString(text)
	if u, err := url.Parse(link); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		text = `<a href="` + html.EscapeString(link) + `">` + text + `</a>`
	}
	out.WriteString(`<span class="withheld">` + text + `</span>`)
}

// attribute is the value of an attribute, "" for none.
func attribute(t *html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
