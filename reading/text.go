package reading

import (
	"cmp"
	"net/url"
	"strings"

	"feedex/feed"
	"feedex/safehtml"
)

// A Text makes the HTML of items fit to be shown by the programs of the owner. It may be used by several goroutines at
// once.
type Text struct{ safe *safehtml.Sanitizer }

// NewText returns one.
func NewText() Text { return Text{safehtml.New()} }

// Called is the name of a feed: the owner's own title, or the publisher's, or its URL. It is never empty.
func (s *FollowedFeed) Called() string {
	return cmp.Or(s.Name, s.Title, safehtml.Inert(string(s.URL)))
}

// FolderNames are the names of its folders.
func (s *FollowedFeed) FolderNames() (names []string) {
	for _, f := range s.Folders {
		names = append(names, f.Name)
	}
	return names
}

// Title is the title of an item, or the beginning of its text where it has none, or what stands for that. It is never
// empty: some readers end where it is.
func (t Text) Title(i *Item) string {
	if i.Entry.Title != "" {
		return i.Entry.Title
	}
	return cmp.Or(safehtml.Inert(t.safe.Opener(&i.Entry)), safehtml.Inert(i.Entry.Link), "(no title)")
}

// HTML is the content of an item, or its summary where there is no content, without what could do harm.
func (t Text) HTML(i *Item) string {
	return t.safe.Whole(cmp.Or(i.Entry.Content, i.Entry.Summary), i.Link())
}

// Direction is how an item is written, "rtl" or "ltr": its title, or its text where that has no letter.
func (t Text) Direction(i *Item) string {
	if d := safehtml.Direction(i.Entry.Title); d != "" {
		return d
	}
	return cmp.Or(safehtml.Direction(t.safe.Opener(&i.Entry)), "ltr")
}

// Author names the authors of an item, "" where they are not known.
func (i *Item) Author() string { return strings.Join(i.Entry.Authors, ", ") }

// Link is the page of an item, or that of its feed where it has none, or of the host. The address of the feed is none:
// people pass links on, and that may be a secret.
func (i *Item) Link() string {
	switch {
	case i.Entry.Link != "":
		return i.Entry.Link
	case i.Site != "" && !feed.URL(i.Site).Secret():
		return i.Site
	}
	u, err := url.Parse(string(i.Entry.Feed))
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}).String()
}
