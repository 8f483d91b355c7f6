package reading

import (
	"cmp"
	"strings"

	"feedex/safehtml"
)

// A Text makes what publishers wrote fit to be shown by the programs of the owner. It may be used by several goroutines
// at once.
type Text struct{ safe *safehtml.Policy }

// NewText returns one.
func NewText() Text { return Text{safehtml.New()} }

// plain is a title as one line of plain text. Archives hold titles as they were published, with or without markup.
func (t Text) plain(title string) string {
	return strings.Join(strings.Fields(t.safe.Title(title)), " ")
}

// TitleOf is the title of a feed: the owner's own, or the publisher's, or its URL. It is plain text and never empty.
func (t Text) TitleOf(s *Subscription) string {
	return cmp.Or(s.Name, t.plain(s.Title), string(s.URL))
}

// Title is the title of an item, or what stands for it where it has none. It is plain text and never empty: some readers
// end where it is.
func (t Text) Title(i *Item) string {
	return cmp.Or(t.plain(i.Entry.Title), i.Entry.Link, "(no title)")
}

// HTML is the content of an item, or its summary where there is no content, without what could do harm.
func (t Text) HTML(i *Item) string {
	return t.safe.Clean(cmp.Or(i.Entry.Content, i.Entry.Summary), i.Link())
}

// Author is who wrote an item, "" where that is not known.
func (i *Item) Author() string { return strings.Join(i.Entry.Authors, ", ") }

// Link is the page of an item, or the URL of its feed where it has none.
func (i *Item) Link() string { return cmp.Or(i.Entry.Link, string(i.Entry.Feed)) }
