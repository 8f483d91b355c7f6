package reader

import (
	"bufio"
	"cmp"
	"time"

	"feedex/archive"
)

// Elements of RSS 2.0 (https://www.rssboard.org/rss-specification) and of what it is used with, in the order in
// which they are written.
type (
	rssGUID struct {
		Permanent bool   `xml:"isPermaLink,attr"`
		ID        string `xml:",chardata"`
	}
	rssCategory struct {
		Domain string `xml:"domain,attr,omitempty"`
		Name   string `xml:",chardata"`
	}
	// rssEnclosure must have all three.
	rssEnclosure struct {
		URL    string `xml:"url,attr"`
		Length int64  `xml:"length,attr"` // 0 where unknown
		Type   string `xml:"type,attr"`
	}
	// rssMedia is a file of Media RSS.
	rssMedia struct {
		URL    string `xml:"url,attr"`
		Length int64  `xml:"fileSize,attr,omitempty"`
		Type   string `xml:"type,attr,omitempty"`
	}
	rssSource struct {
		URL  string `xml:"url,attr"`
		Name string `xml:",chardata"`
	}
	rssItem struct {
		Title       string        `xml:"title,omitempty"`
		Link        string        `xml:"link,omitempty"`
		GUID        rssGUID       `xml:"guid"`
		Published   string        `xml:"pubDate"`
		Creators    []string      `xml:"dc:creator"`
		Categories  []rssCategory `xml:"category"`
		Description string        `xml:"description,omitempty"`
		Content     string        `xml:"content:encoded,omitempty"`
		Enclosure   *rssEnclosure `xml:"enclosure"`
		Media       []rssMedia    `xml:"media:content"`
		Updated     string        `xml:"atom:updated"`
		Source      *rssSource    `xml:"source"`
		Links       []atomLink    `xml:"atom:link"`
		Rights      []string      `xml:"dc:rights"`
		Licenses    []string      `xml:"creativeCommons:license"`
		Language    string        `xml:"dc:language,omitempty"`
		xmlExtras
		RSL string `xml:",innerxml"` // elements
	}
	rssImage struct {
		URL   string `xml:"url"`
		Title string `xml:"title"`
		Link  string `xml:"link"`
	}
)

// writeRSS writes RSS 2.0 by the Advisory Board's best practices (https://www.rssboard.org/rss-profile).
func writeRSS(w *bufio.Writer, d *document, entries records) error {
	x := newXMLWriter(w, "rss", "version", "2.0",
		"xmlns:atom", atomSpace, "xmlns:content", "http://purl.org/rss/1.0/modules/content/",
		"xmlns:creativeCommons", commonsLicense, "xmlns:dc", dublinCore,
		"xmlns:fh", historySpace, "xmlns:itunes", itunesSpace, "xmlns:media", mediaSpace, "xmlns:podcast", podcastSpace)
	x.open("channel")
	x.element("title", d.title())
	link := cmp.Or(d.site, d.via, d.self) // there must be one
	x.element("link", link)
	x.element("description", cmp.Or(d.aboutIt(), "As this feedex node has it, newest arrival first."))
	if d.language != "" {
		x.element("language", d.language)
	}
	if d.picture != "" {
		x.element("image", rssImage{d.picture, d.title(), link})
		x.element("itunes:image", xmlHref{d.picture})
	}
	for _, l := range d.links(rssType) {
		if l.Rel != "alternate" {
			x.element("atom:link", l)
		}
	}
	if d.archived {
		x.element("fh:archive", struct{}{})
	}
	x.element("lastBuildDate", d.updated.UTC().Format(time.RFC1123Z))
	x.element("generator", "feedex "+d.generator)
	for r, err := range entries {
		if err != nil {
			return err
		}
		x.element("item", d.rssItem(&r))
	}
	return x.end()
}

// rssItem is the entry as RSS has it.
func (d *document) rssItem(r *archive.Record) *rssItem {
	e := &r.Entry
	id := entryID(r)
	summary, content := d.safe.Whole(e.Summary, base(e)), d.safe.Whole(e.Content, base(e))
	item := &rssItem{
		Title: called(e, d.safe), Link: e.Link,
		GUID:      rssGUID{Permanent: id == e.Link, ID: id},
		Published: appeared(r).UTC().Format(time.RFC1123Z), Updated: timestamp(updated(r, d.updated)),
		Creators: e.Authors, Description: summary, Content: content, Language: e.Extras.Language,
		xmlExtras: xmlExtrasOf(e),
	}
	if item.Title == "" && summary == "" { // one of the two there must be
		item.Title = d.title()
	}
	for _, c := range e.Categories {
		item.Categories = append(item.Categories, rssCategory{Name: c})
	}
	if !r.Confirmed {
		item.Categories = append(item.Categories, rssCategory{unconfirmed.Scheme, unconfirmed.Term})
	}
	// An item has one enclosure; readers of Media RSS learn of the others.
	for i, enc := range e.Enclosures {
		length := max(enc.Length, 0)
		if i == 0 {
			item.Enclosure = &rssEnclosure{enc.URL, length, mediaType(enc.Type)}
		} else {
			item.Media = append(item.Media, rssMedia{enc.URL, length, enc.Type})
		}
	}
	stated := rightsOf(e)
	item.Rights, item.Licenses, item.RSL = stated.texts, stated.licenses, stated.rsl
	if from := e.CopiedFrom; from.URL != "" {
		item.Source = &rssSource{from.URL, from.Title}
	}
	if d.titles != nil {
		item.Links = via(e)
		item.Source = &rssSource{string(e.Feed), d.feedTitle(e.Feed)}
		item.Creators = d.authors(e)
	}
	return item
}

// appeared is when the entry was published or, where nobody says, the best that there is.
func appeared(r *archive.Record) time.Time {
	if p := published(r); !p.IsZero() {
		return p
	}
	return r.Time()
}

// mediaType is a media type where there must be one.
func mediaType(t string) string { return cmp.Or(t, "application/octet-stream") }
