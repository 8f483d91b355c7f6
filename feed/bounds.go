package feed

import "strings"

// MaxLinkBytes is the longest address in an entry that leads anywhere, in bytes.
const MaxLinkBytes = 2 * MaxURLBytes

// What stays of the fields of an entry besides its texts. Each bound is beyond what the protocol lets travel: an entry
// of which something was cut stays at home as the whole one did, so that no node that cuts elsewhere, or nothing, gets
// another version of it and takes whoever brought that for a forger.
const (
	maxIDBytes    = 2 * 2048
	maxTitleBytes = 2 * 4096
	maxLabelBytes = 2 * 256
	maxRightBytes = 2 * 8192

	maxAuthors    = 2 * 32
	maxCategories = 2 * 128
	maxEnclosures = 2 * 32
	maxRights     = 2 * 16
)

// bound cuts what is beyond the bounds. Where the entry would be known by what is cut, its identity goes into its id.
func (e *Entry) bound() {
	if len(e.ID) > maxIDBytes || e.ID == "" && (len(e.Title) > maxTitleBytes || len(e.Link) > MaxLinkBytes) {
		whole := *e
		whole.Feed = "" // it is the same by another name of the feed
		e.ID = cut(e.ID, maxIDBytes) + "sha1:" + whole.EntryID().String()
	}
	e.Title, e.Link = cut(e.Title, maxTitleBytes), cutLink(e.Link)
	e.Authors = cutAll(e.Authors, maxAuthors, maxLabelBytes)
	e.Categories = cutAll(e.Categories, maxCategories, maxLabelBytes)
	e.Rights = cutAll(e.Rights, maxRights, maxRightBytes)
	from := &e.CopiedFrom
	from.ID, from.Title, from.URL = cut(from.ID, maxIDBytes), cut(from.Title, maxTitleBytes), cutLink(from.URL)
	e.Enclosures = e.Enclosures[:min(len(e.Enclosures), maxEnclosures)]
	for i := range e.Enclosures {
		f := &e.Enclosures[i]
		f.URL, f.Type = cutLink(f.URL), cut(f.Type, maxLabelBytes)
	}
}

// cut is the beginning of a clean text, n bytes at most.
func cut(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

// cutLink is cut for an address: of one that is too long so much stays that it is too long still, and leads nowhere.
func cutLink(s string) string { return cut(s, MaxLinkBytes+4) }

// cutAll cuts a list, and each text of it.
func cutAll(list []string, most, n int) []string {
	list = list[:min(len(list), most)]
	for i, s := range list {
		list[i] = cut(s, n)
	}
	return list
}
