package feed

import "strings"

// prevArchive takes in a link of the document: the first that leads to its publisher's archive counts (RFC 5005 §4).
func (b *builder) prevArchive(rel, href string) {
	if !strings.EqualFold(strings.TrimSpace(rel), "prev-archive") || b.doc.PrevArchive != "" {
		return
	}
	if u, err := ParseURL(b.link(href)); err == nil {
		b.doc.PrevArchive = u
	}
}
