package reader

import (
	"strings"

	"feedex/feed"
)

// Namespaces of vocabularies that speak of rights.
const (
	dublinCore     = "http://purl.org/dc/elements/1.1/"
	commonsLicense = "http://backend.userland.com/creativeCommonsRssModule"
)

// rights are an entry's statements of rights by how documents of XML have them.
type rights struct {
	texts    []string // for people
	licenses []string // addresses
	rsl      string   // elements
}

// rightsOf tells the statements of an entry that went through safehtml apart.
func rightsOf(e *feed.Entry) (s rights) {
	for _, r := range e.Rights {
		switch element, is := feed.RSL(r); {
		case is:
			s.rsl += element
		case isAddress(r):
			s.licenses = append(s.licenses, r)
		default:
			s.texts = append(s.texts, r)
		}
	}
	return s
}

// isAddress reports whether a statement is the address of a license.
func isAddress(statement string) bool {
	_, err := feed.ParseURL(statement)
	return err == nil && !strings.ContainsAny(statement, " \t\r\n")
}

// via leads to the feed that an entry was copied from, where its source is another.
func via(e *feed.Entry) []atomLink {
	if e.CopiedFrom.URL == "" {
		return nil
	}
	return []atomLink{{Rel: "via", Href: e.CopiedFrom.URL}}
}
