package greader

import (
	"bufio"
	"encoding/xml"
	"net/http"
	"strings"
	"time"

	"feedex/reading"
)

// atomPath is the path in front of a stream's name where it is wanted as Atom: newsboat does.
const atomPath = "/reader/atom/"

// readerScheme tells a category that is a state from others.
const readerScheme = "http://www.google.com/reader/"

// Elements of Atom (RFC 4287).
type (
	atomText struct {
		Type string `xml:"type,attr"`
		Body string `xml:",chardata"`
	}
	atomLink struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
		Type string `xml:"type,attr,omitempty"`
	}
	atomCategory struct {
		Term   string `xml:"term,attr"`
		Scheme string `xml:"scheme,attr"`
		Label  string `xml:"label,attr"` // newsboat: "read" or "fresh"
	}
	atomPerson struct {
		Name string `xml:"name"`
	}
	atomEntry struct {
		XMLName    xml.Name       `xml:"entry"`
		ID         string         `xml:"id"`
		Title      atomText       `xml:"title"`
		Published  string         `xml:"published"`
		Updated    string         `xml:"updated"`
		Author     *atomPerson    `xml:"author"`
		Links      []atomLink     `xml:"link"`
		Categories []atomCategory `xml:"category"`
		Content    atomText       `xml:"content"`
	}
)

// atom sends the items of a stream as Atom.
func (h *handler) atom(w http.ResponseWriter, r *request) error {
	name := strings.TrimRight(strings.TrimPrefix(r.path, atomPath), "/")
	ids, _, err := h.streamPage(r, name, maxContents)
	if err != nil {
		return err
	}
	c, err := h.catalogOf(r.Context(), ids)
	if err != nil {
		return err
	}
	title := "feedex"
	if f := c.feed(name); f != nil {
		title = f.Called()
	}
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	out := bufio.NewWriterSize(w, 1<<16)
	_, _ = out.WriteString(xml.Header + `<feed xmlns="http://www.w3.org/2005/Atom">`)
	enc := xml.NewEncoder(out)
	for _, e := range [][2]string{{"id", "tag:google.com,2005:reader/" + name}, {"title", title},
		{"updated", timestamp(h.Now())}} {
		_ = enc.EncodeElement(e[1], xml.StartElement{Name: xml.Name{Local: e[0]}})
	}
	for item, err := range h.Library.Items(r.Context(), ids) {
		if err != nil {
			if r.Context().Err() == nil {
				h.Log.Error("items broken off", "err", err)
			}
			panic(http.ErrAbortHandler)
		}
		if err := enc.Encode(h.atomEntry(c, &item)); err != nil {
			return nil // the reader went away
		}
	}
	_ = enc.Close()
	_, _ = out.WriteString("</feed>\n")
	_ = out.Flush()
	return nil
}

func (h *handler) atomEntry(c *catalog, item *reading.Item) *atomEntry {
	e := h.entry(c, item)
	out := &atomEntry{
		ID: e.ID, Title: atomText{"text", e.Title}, Published: timestamp(item.Time), Updated: timestamp(updated(item)),
		Links:   []atomLink{{"alternate", e.Canonical[0].Href, "text/html"}},
		Content: atomText{"html", e.Content.Content},
	}
	if e.Author != "" {
		out.Author = &atomPerson{e.Author}
	}
	for _, m := range e.Enclosure {
		out.Links = append(out.Links, atomLink{"enclosure", m.Href, m.Type})
	}
	if !item.Read {
		out.Categories = append(out.Categories, atomCategory{statePath + "fresh", readerScheme, "fresh"})
	}
	for _, name := range e.Categories {
		out.Categories = append(out.Categories,
			atomCategory{name, readerScheme, name[strings.LastIndexByte(name, '/')+1:]})
	}
	return out
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
