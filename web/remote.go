package web

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"feedex/feed"
	"feedex/safehtml"
)

// An article is the text of an entry for a page, in which nothing loads from elsewhere as the page is opened: a server
// would learn what the owner reads, and when.
type article struct {
	// picture is where the node has the picture at an address, where pictures are shown; nil where they are not.
	picture func(feed.URL) string

	out      strings.Builder
	pictures int  // that the text has elsewhere, shown or not
	media    bool // it has sound or video
	within   bool // a <picture>
}

// still makes an article of sanitized HTML. Pictures come by way of the node, where they are shown, or what they show
// stands in their place. Sound and video load when somebody plays them. Frames, which may run programs, are links. Ids
// go, so that no entry can pass for a part of the page.
func (a *article) still(markup string) string {
	z := html.NewTokenizer(strings.NewReader(markup))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return a.out.String()
		}
		raw := string(z.Raw())
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			a.start(&t)
		case html.EndTagToken:
			if t := z.Token(); t.Data == "picture" {
				a.within = false
			} else if t.Data != "iframe" && t.Data != "img" && t.Data != "source" {
				a.out.WriteString(raw)
			}
		default:
			a.out.WriteString(raw)
		}
	}
}

// start takes in a tag that begins an element.
func (a *article) start(t *html.Token) {
	source := safehtml.Attribute(t, "src")
	switch t.Data {
	case "iframe":
		a.replace("Page from elsewhere", safehtml.Attribute(t, "title"), source)
	case "picture": // an <img> is in each
		a.within = true
	case "source":
		if !a.within && webLink(source) != "" {
			a.write(t)
		}
	case "audio", "video":
		a.media = true
		poster := a.at(safehtml.Attribute(t, "poster"))
		without(t, "preload", "controls", "poster")
		set(t, "controls", "")
		set(t, "preload", "none")
		if poster != "" {
			set(t, "poster", poster)
		}
		a.write(t)
	case "img":
		a.img(t, source)
	default:
		a.write(t)
	}
}

// img takes in a picture.
func (a *article) img(t *html.Token, source string) {
	if !strings.HasPrefix(source, "data:image/") {
		a.pictures++
		if source = a.at(source); source == "" {
			a.replace("Picture", safehtml.Attribute(t, "alt"), "")
			return
		}
		without(t, "src")
		set(t, "src", source)
	}
	set(t, "loading", "lazy")
	set(t, "decoding", "async")
	a.write(t)
}

// at is where the node has the picture at an address, "" where it is not shown.
func (a *article) at(address string) string {
	u, err := feed.ParseURL(address)
	if err != nil || a.picture == nil {
		return ""
	}
	return a.picture(u)
}

// write writes a tag without ids.
func (a *article) write(t *html.Token) {
	without(t, "id")
	a.out.WriteString(t.String())
}

// replace says what stood there.
func (a *article) replace(what, name, link string) {
	text := what
	if name = strings.TrimSpace(name); name != "" {
		text += ": " + name
	}
	text = html.EscapeString(text)
	if u, err := url.Parse(link); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		text = `<a href="` + html.EscapeString(link) + `">` + text + `</a>`
	}
	a.out.WriteString(`<span class="withheld">` + text + `</span>`)
}

// without takes attributes off a tag, and set puts one there.
func without(t *html.Token, names ...string) {
	t.Attr = slices.DeleteFunc(t.Attr, func(a html.Attribute) bool { return slices.Contains(names, a.Key) })
}

func set(t *html.Token, name, value string) {
	t.Attr = append(t.Attr, html.Attribute{Key: name, Val: value})
}
