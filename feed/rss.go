package feed

import (
	"cmp"
	"html"
	"slices"
	"strings"

	"github.com/mmcdole/gofeed"
	ext "github.com/mmcdole/gofeed/extensions"
	"github.com/mmcdole/gofeed/rss"
)

// rss reads RSS of any version. gofeed's translation supplies what stands in the fields of other
// vocabularies (Dublin Core, iTunes, Atom); its search for images is off, because it builds a tree of
// every entry's HTML, which can take gigabytes (see adaptType).
func (b *builder) rss(text string) error {
	original, err := (&rss.Parser{}).Parse(strings.NewReader(text))
	if err != nil {
		return err
	}
	f, err := (&gofeed.DefaultRSSTranslator{DisableContentImageScan: true}).Translate(original)
	if err != nil {
		return err
	}
	b.format("RSS", original.Version)
	link := cmp.Or(lastOf(original.Links), f.Link)
	b.head(f.Title, link, f.Description, first(original.Language, value1(original.Extensions["dc"]["language"])))
	if original.Image != nil {
		b.icon(original.Image.URL)
	}
	if original.ITunesExt != nil {
		b.icon(original.ITunesExt.Image)
	}
	b.doc.Pace = rssPace(original)
	b.own = Clean(strings.TrimSpace(link))
	for _, l := range atomLinks(original.Extensions) {
		b.prevArchive(l.Attrs["rel"], l.Attrs["href"])
	}
	for i, item := range f.Items {
		b.rssItem(original.Items[i], item)
	}
	return nil
}

func (b *builder) rssItem(original *rss.Item, item *gofeed.Item) {
	e := Entry{
		ID:         item.GUID,
		Title:      item.Title,
		Link:       b.link(rssLink(original)),
		Authors:    rssAuthors(original, item),
		Published:  b.instant(item.Published, item.PublishedParsed),
		Summary:    item.Description,
		Content:    item.Content,
		Categories: item.Categories,
	}
	// gofeed takes dc:date for both dates. Where it is the only one, it says when the item appeared.
	if item.Updated != item.Published {
		e.Updated = b.instant(item.Updated, item.UpdatedParsed)
	}
	for _, enc := range original.Enclosures {
		e.Enclosures = b.enclosure(e.Enclosures, enc.URL, enc.Type, enc.Length)
	}
	if s := original.Source; s != nil {
		e.CopiedFrom = Original{Title: strings.TrimSpace(s.Title), URL: b.link(s.URL)}
	}
	b.fill(&e, original.Extensions, original.Custom)
	b.add(e)
}

// rssLink is the address of the item's page: its link, the link of Atom that it holds, or its guid
// where that is one.
func rssLink(item *rss.Item) string {
	if link := lastOf(item.Links); link != "" {
		return link
	}
	for _, link := range atomLinks(item.Extensions) {
		if rel := link.Attrs["rel"]; rel == "" || rel == "alternate" {
			return link.Attrs["href"]
		}
	}
	if item.GUID != nil && item.GUID.IsPermalink != "false" && absolute(item.GUID.Value) {
		return item.GUID.Value
	}
	return ""
}

// atomLinks are the links of Atom, in the names of either version.
func atomLinks(x ext.Extensions) []ext.Extension {
	return slices.Concat(x["atom"]["link"], x["atom03"]["link"])
}

// lastOf is the last link that is not blank. RSS allows one; of several, readers take the last.
func lastOf(links []string) string {
	for _, link := range slices.Backward(links) {
		if link = strings.TrimSpace(link); link != "" {
			return link
		}
	}
	return ""
}

// rssAuthors lists the item's authors: all of dc:creator, else the one that gofeed finds.
func rssAuthors(original *rss.Item, item *gofeed.Item) []string {
	if dc := original.DublinCoreExt; dc != nil && original.Author == "" && len(dc.Creator) > 1 {
		return dc.Creator
	}
	if len(item.Authors) == 0 {
		return nil
	}
	if _, inner, ok := strings.Cut(original.Author, "<name>"); ok { // as in Atom
		name, _, _ := strings.Cut(inner, "<")
		return []string{html.UnescapeString(name)}
	}
	// The last is one in no form that gofeed knows.
	return []string{cmp.Or(person(item.Authors[0].Name, item.Authors[0].Email), original.Author)}
}

// person is how an author is called: by name, or by address where there is no name.
func person(name, email string) string {
	return cmp.Or(strings.TrimSpace(name), email)
}

// verbatim is the id that keepID put in, "" without one.
func verbatim(extensions ext.Extensions) string {
	ids := extensions[verbatimSpace]["id"]
	if len(ids) == 0 {
		return ""
	}
	return ids[len(ids)-1].Value
}
