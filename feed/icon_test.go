package feed_test

import (
	"testing"

	"feedex/feed"
)

// The picture of a feed is the smallest that its publisher names, where that is an address to ask for.
func TestIcon(t *testing.T) {
	const rss = `<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>T</title>`
	const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>`
	for name, test := range map[string]struct {
		document string
		want     feed.URL
	}{
		"RSS": {rss + `<image><url>/i.png</url><title>T</title></image><itunes:image href="https://a.example/cover"/>` +
			`</channel></rss>`, "http://example.com/i.png"},
		"a podcast": {rss + `<itunes:image href="https://a.example/cover"/></channel></rss>`,
			"https://a.example/cover"},
		"Atom": {atom + `<logo>/logo</logo><icon>/icon</icon></feed>`, "http://example.com/icon"},
		"Atom with a logo": {atom + `<logo>/logo</logo></feed>`,
			"http://example.com/logo"},
		"JSON Feed": {`{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[],` +
			`"icon":"https://a.example/large","favicon":"https://a.example/small"}`, "https://a.example/small"},
		"one that runs": {rss + `<image><url>javascript:alert(1)</url></image></channel></rss>`, ""},
		"one that is none": {rss + `<image><url>data:image/png;base64,AA</url></image>` +
			`<itunes:image href="https://a.example/cover"/></channel></rss>`, "https://a.example/cover"},
		"none": {rss + `</channel></rss>`, ""},
	} {
		doc, err := feed.Parse(goldenURL, "", []byte(test.document), goldenTime)
		if err != nil || doc.Icon != test.want {
			t.Errorf("%s: %+v, %v; want %q", name, doc, err, test.want)
		}
	}
}
