package reader

import (
	"bufio"
	"bytes"
	"reflect"

	"feedex/archive"
	"feedex/feed"
	"feedex/safehtml"
	"feedex/syncapi"
)

// Objects of JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/).
type (
	jsonFeed struct {
		Version     string       `json:"version"`
		Title       string       `json:"title"`
		HomePage    string       `json:"home_page_url,omitempty"`
		FeedURL     string       `json:"feed_url"`
		Description string       `json:"description,omitempty"`
		Icon        string       `json:"icon,omitempty"`
		Language    string       `json:"language,omitempty"`
		Next        string       `json:"next_url,omitempty"` // what came before, that is: the older entries
		Hubs        []jsonHub    `json:"hubs,omitempty"`
		Here        jsonFeedHere `json:"_feedex"`
	}
	jsonHub struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	// jsonFeedHere has the members that JSON Feed has no name for.
	jsonFeedHere struct {
		Via     string `json:"via,omitempty"`          // where it is published
		Updated string `json:"updated"`                // when anything changed last
		Archive bool   `json:"archive,omitempty"`      // these three as in RFC 5005
		Current string `json:"current,omitempty"`      //
		Newer   string `json:"next_archive,omitempty"` //
	}
	jsonAuthor struct {
		Name string `json:"name"`
	}
	jsonAttachment struct {
		URL  string `json:"url"`
		Type string `json:"mime_type"`
		Size int64  `json:"size_in_bytes,omitempty"`
		Time int64  `json:"duration_in_seconds,omitempty"`
	}
	jsonItem struct {
		ID          string           `json:"id"`
		URL         string           `json:"url,omitempty"`
		Title       string           `json:"title,omitempty"`
		Content     string           `json:"content_html"` // there must be one
		Summary     string           `json:"summary,omitempty"`
		Image       string           `json:"image,omitempty"`
		Published   string           `json:"date_published,omitempty"`
		Modified    string           `json:"date_modified"`
		Authors     []jsonAuthor     `json:"authors,omitempty"`
		Tags        []string         `json:"tags,omitempty"`
		Language    string           `json:"language,omitempty"`
		Attachments []jsonAttachment `json:"attachments,omitempty"`
		Here        *jsonItemHere    `json:"_feedex,omitempty"`
	}
	jsonItemHere struct {
		Unconfirmed bool   `json:"unconfirmed,omitempty"` // of which there is one neighbor's word and no more
		Feed        string `json:"feed,omitempty"`        // where it is published, in a document of several feeds
		FeedTitle   string `json:"feed_title,omitempty"`

		Rights []string      `json:"rights,omitempty"` // statements: texts, addresses of licenses, elements of RSL
		Source feed.Original `json:"source,omitzero"`  // the feed that it was copied from

		Season      int              `json:"season,omitempty"`
		Episode     int              `json:"episode,omitempty"`
		Chapters    feed.Companion   `json:"chapters,omitzero"`
		Transcripts []feed.Companion `json:"transcripts,omitempty"`
	}
)

// writeJSON writes JSON Feed 1.1.
func writeJSON(w *bufio.Writer, d *document, entries records) error {
	head := jsonFeed{
		Version: "https://jsonfeed.org/version/1.1", Title: d.title(), HomePage: d.site, FeedURL: d.self, Next: d.prev,
		Description: d.aboutIt(), Icon: d.picture, Language: d.language,
		Here: jsonFeedHere{Via: d.via, Updated: timestamp(d.updated), Archive: d.archived, Current: d.current,
			Newer: d.next},
	}
	if d.hub != "" {
		head.Hubs = []jsonHub{{"WebSub", d.hub}}
	}
	text, err := jsonText(head)
	if err != nil {
		return err
	}
	w.Write(text[:len(text)-1]) // without "}"; the writer remembers errors
	w.WriteString(",\n\"items\":[")
	separator := "\n"
	for r, err := range entries {
		if err != nil {
			return err
		}
		text, err := jsonText(d.jsonItem(&r))
		if err != nil {
			return err
		}
		w.WriteString(separator)
		w.Write(text)
		separator = ",\n"
	}
	_, err = w.WriteString("\n]}\n")
	return err
}

// jsonText is v in JSON, with HTML as it is.
func jsonText(v any) ([]byte, error) {
	text, err := syncapi.JSON(v)
	return bytes.TrimRight(text, "\n"), err
}

// jsonItem is the entry as JSON Feed has it: its summary is plain text there.
func (d *document) jsonItem(r *archive.Record) *jsonItem {
	e := &r.Entry
	item := &jsonItem{
		ID: entryID(r), URL: e.Link, Title: called(e, d.safe), Content: d.safe.Whole(e.Content, base(e)),
		Modified: timestamp(updated(r, d.updated)), Tags: e.Categories, Image: string(e.Extras.Image),
		Language: e.Extras.Language,
	}
	if item.Content == "" {
		item.Content = d.safe.Whole(e.Summary, base(e))
	} else {
		item.Summary = safehtml.Inert(d.safe.Text(e.Summary))
	}
	if p := published(r); !p.IsZero() {
		item.Published = timestamp(p)
	}
	for _, name := range d.authors(e) {
		item.Authors = append(item.Authors, jsonAuthor{name})
	}
	for _, enc := range e.Enclosures {
		item.Attachments = append(item.Attachments, jsonAttachment{URL: enc.URL, Type: mediaType(enc.Type),
			Size: max(enc.Length, 0)})
	}
	if i := timed(e); i >= 0 {
		item.Attachments[i].Time = seconds(e.Extras.Duration)
	}
	here := jsonItemHere{Unconfirmed: !r.Confirmed, Rights: e.Rights, Source: e.CopiedFrom, Season: e.Extras.Season,
		Episode: e.Extras.Episode, Chapters: e.Extras.Chapters, Transcripts: e.Extras.Transcripts}
	if d.titles != nil {
		here.Feed, here.FeedTitle = string(e.Feed), d.feedTitle(e.Feed)
	}
	if !reflect.ValueOf(here).IsZero() {
		item.Here = &here
	}
	return item
}
