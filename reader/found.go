package reader

import (
	"encoding/xml"
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
	self := origin(r) + requestTarget(r)
	d := &document{
		id: self, name: searchTitle(query), self: self, search: origin(r) + openSearchPath, updated: changed,
		generator: h.Version, titles: titles, safe: h.safe,
	}
	if err := formats()[0].to(w, d, each(records)); err != nil {
		h.Log.Debug("search result not sent", "err", err)
	}
}

// each yields records that are in memory.
func each(list []archive.Record) records {
	return func(yield func(archive.Record, error) bool) {
		for i := range list {
			if !yield(list[i], nil) {
				return
			}
		}
	}
}

func searchTitle(query string) string {
	if query == "" {
		return "feedex: the newest entries"
	}
	return "feedex: " + query
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
	template := origin(r) + archivePath + "?q={searchTerms}&limit={count?}&format="
	urls := []openSearchURL{{"application/atom+xml", template + "atom"}, {"application/json", template + "json"}}
	if h.Web != nil {
		urls = append(urls, openSearchURL{"text/html", origin(r) + "/search?q={searchTerms}"})
	}
	text, err := xml.MarshalIndent(openSearch{
		ShortName: "feedex", Description: "Everything that this node ever saw", Encoding: "UTF-8",
		URLs: urls,
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
