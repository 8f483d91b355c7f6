package feed

import (
	"strings"

	ext "github.com/mmcdole/gofeed/extensions"
)

// maxMedia is up to how many enclosures an entry is given files of Media RSS: galleries list hundreds.
const maxMedia = 16

// fill takes what the entry lacks from the vocabularies that feeds use beside their own: Dublin Core (for
// RSS gofeed reads its first half itself), Media RSS, whose files are enclosures, and in RSS elements
// of Atom and HTML without a namespace, under the names they have in item.Custom.
func (b *builder) fill(e *Entry, x ext.Extensions, custom map[string]string) {
	dc, terms := x["dc"], x["dcterms"]
	e.Title = first(e.Title, value1(dc["title"]))
	e.Summary = first(e.Summary, value1(dc["description"]), custom["summary"])
	e.Content = first(e.Content, custom["content"], custom["body"])
	if len(e.Authors) == 0 {
		e.Authors = values(dc["creator"])
	}
	if len(e.Categories) == 0 {
		e.Categories = values(dc["subject"])
	}
	for _, date := range []string{custom["published"], value1(terms["created"]), value1(terms["issued"]),
		value1(dc["date"])} {
		if e.Published.IsZero() {
			e.Published = b.instant(date, nil)
		}
	}
	for _, date := range []string{custom["updated"], value1(terms["modified"])} {
		if e.Updated.IsZero() {
			e.Updated = b.instant(date, nil)
		}
	}
	b.media(e, x["media"])
	fillRights(e, x)
	b.fillExtras(e, x)
}

// mediaScopes are where elements of Media RSS 1.5 are, in which groups hold what may also stand by itself.
func mediaScopes(media map[string][]ext.Extension) []map[string][]ext.Extension {
	scopes := []map[string][]ext.Extension{media}
	for _, group := range media["group"] {
		scopes = append(scopes, group.Children)
	}
	return scopes
}

// media reads Media RSS.
func (b *builder) media(e *Entry, media map[string][]ext.Extension) {
	if len(media) == 0 {
		return
	}
	bare := e.Summary == "" && e.Content == ""
	for _, scope := range mediaScopes(media) {
		e.Title = first(e.Title, value1(scope["title"]))
		for _, d := range scope["description"] {
			if !bare || e.Summary != "" {
				break
			}
			if e.Summary = d.Value; d.Attrs["type"] != "html" {
				e.Summary = plainText(d.Value)
			}
		}
		for _, c := range scope["content"] {
			b.mediaFile(e, c.Attrs)
		}
	}
}

// mediaFile adds a file that is not among the entry's enclosures yet: podcasts often name theirs twice.
func (b *builder) mediaFile(e *Entry, attrs map[string]string) {
	with := b.enclosure(e.Enclosures, attrs["url"], attrs["type"], attrs["fileSize"])
	n := len(e.Enclosures)
	if len(with) == n || n >= maxMedia {
		return
	}
	for _, enc := range e.Enclosures {
		if enc.URL == with[n].URL {
			return
		}
	}
	e.Enclosures = with
}

// first is the first of the texts that is not blank.
func first(texts ...string) string {
	for _, s := range texts {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

func value1(list []ext.Extension) string {
	if len(list) == 0 {
		return ""
	}
	return list[0].Value
}

func values(list []ext.Extension) (texts []string) {
	for i := range list {
		texts = append(texts, list[i].Value)
	}
	return texts
}
