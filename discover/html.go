package discover

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"feedex/feed"
)

// elements returns the <link> elements of a page that are wanted, wherever they stand: some publishers have them in the
// body.
func elements(page *url.URL, contentType string, body []byte, wanted func(*pageLink) bool) (links []pageLink) {
	z := html.NewTokenizer(strings.NewReader(feed.PageText(contentType, body[:min(len(body), MaxPageBytes)])))
	base, based := page, false
	for len(links) < maxNamed {
		switch z.Next() {
		case html.ErrorToken: // the end, or of what can be read
			return rebased(links, base)
		case html.StartTagToken, html.SelfClosingTagToken:
		default:
			continue
		}
		switch token := z.Token(); {
		case token.Data == "base" && !based: // the first counts (HTML §4.2.3)
			if href, ok := baseHref(attributes(token)["href"], page); ok {
				base, based = href, true
			}
		case token.Data == "link":
			a := attributes(token)
			l := pageLink{href: a["href"], rel: a["rel"], mediaType: a["type"], title: a["title"], sizes: a["sizes"]}
			if wanted(&l) {
				links = append(links, l)
			}
		}
	}
	return rebased(links, base)
}

// rebased is the links with what they are relative to: a <base> counts also for what stands before it.
func rebased(links []pageLink, base *url.URL) []pageLink {
	for i := range links {
		links[i].base = base
	}
	return links
}

// attributes are those of a tag. The first of a name counts.
func attributes(token html.Token) map[string]string {
	a := make(map[string]string)
	for _, attr := range token.Attr {
		if _, ok := a[attr.Key]; !ok {
			a[attr.Key] = attr.Val
		}
	}
	return a
}

// baseHref is the address that a <base> says, if links can be relative to it.
func baseHref(href string, page *url.URL) (*url.URL, bool) {
	u, ok := resolve(page, href)
	if !ok {
		return nil, false
	}
	base, err := url.Parse(string(u))
	return base, err == nil
}
