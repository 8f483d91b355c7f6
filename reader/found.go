package reader

import (
	"encoding/xml"
	"iter"
	"net/http"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// serveFound writes what a search found as Atom. Each entry names its feed (RFC 4287 §4.2.11).
func (h *handler) serveFound(w http.ResponseWriter, r *http.Request, query string, records []archive.Record) {
	titles := make(map[feed.URL]string)
	feeds, err := h.Source.Feeds(r.Context())
	if err != nil {
		h.fail(w, "list feeds", err)
		return
	}
	for i := range feeds {
		titles[feeds[i].URL] = feeds[i].Title
	}
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	if r.Method == http.MethodHead {
		return
	}
	changed := time.Unix(0, 0)
	for i := range records {
		if records[i].Seen.After(changed) {
			changed = records[i].Seen
		}
	}
	self := "http://" + r.Host + requestTarget(r)
	head := []element{
		{"id", self},
		{"title", atomText{Body: searchTitle(query)}},
		{"updated", timestamp(changed)},
		{"author", atomPerson{"feedex"}},
		{"link", atomLink{Rel: "self", Href: self, Type: "application/atom+xml"}},
		{"link", atomLink{Rel: "search", Href: "http://" + r.Host + openSearchPath, Type: openSearchType}},
		{"generator", atomGenerator{h.Version, "feedex"}},
	}
	if err := writeAtom(w, head, h.found(records, titles, changed)); err != nil {
		h.Log.Debug("search result not sent", "err", err)
	}
}

func searchTitle(query string) string {
	if query == "" {
		return "feedex: the newest entries"
	}
	return "feedex: " + query
}

// found are the records as Atom has them.
func (h *handler) found(records []archive.Record, titles map[feed.URL]string, changed time.Time) iter.Seq2[*atomEntry, error] {
	return func(yield func(*atomEntry, error) bool) {
		for i := range records {
			d := document{url: records[i].Entry.Feed, feed: archive.Feed{Title: titles[records[i].Entry.Feed]}, safe: h.safe}
			e := newEntry(&records[i], h.safe, changed)
			e.Source = &atomSource{ID: string(d.url), Title: title(d.title(), h.safe), Updated: timestamp(changed)}
			if len(e.Authors) == 0 {
				e.Authors = []atomPerson{{d.author()}}
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// openSearchPath and openSearchType are where the search is described, and how
// (https://github.com/dewitt/opensearch/blob/master/opensearch-1-1-draft-6.md).
const (
	openSearchPath = "/archive/opensearch.xml"
	openSearchType = "application/opensearchdescription+xml"
)

// openSearch describes the search to programs that can use any.
type openSearch struct {
	XMLName     xml.Name `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
	ShortName   string   // at most 16 characters
	Description string
	URLs        []openSearchURL `xml:"Url"`
	Encoding    string          `xml:"InputEncoding"`
}

type openSearchURL struct {
	Type     string `xml:"type,attr"`
	Template string `xml:"template,attr"`
}

func (h *handler) serveOpenSearch(w http.ResponseWriter, r *http.Request) {
	template := "http://" + r.Host + archivePath + "?q={searchTerms}&limit={count?}&format="
	text, err := xml.MarshalIndent(openSearch{
		ShortName: "feedex", Description: "Everything that this node ever saw", Encoding: "UTF-8",
		URLs: []openSearchURL{{"application/atom+xml", template + "atom"}, {"application/json", template + "json"}},
	}, "", " ")
	if err != nil {
		h.fail(w, "describe search", err)
		return
	}
	w.Header().Set("Content-Type", openSearchType+"; charset=utf-8")
	if _, err := w.Write(append([]byte(xml.Header), text...)); err != nil {
		h.Log.Debug("description not sent", "err", err)
	}
}
