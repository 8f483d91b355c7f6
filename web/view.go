package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"feedex/safehtml"
)

//go:embed templates/*.html
var templateFiles embed.FS

// A view is a page that is about to be written.
type view struct {
	Page  string // the template's name
	Title string
	Nav   string // the path of the part of the dashboard that it belongs to
	Code  int    // of the answer; 0 is 200
	Retry int    // in how many seconds it may be another; 0 for nothing that is known
	Body  any    // what the template shows
	// Media says that the page may load sound and video from elsewhere, for who plays them.
	Media bool
	// Push says that the page may ask the browser for a subscription to the node's messages.
	Push bool

	// Undo is what was done a moment ago, nil for nothing, Polled what came of a refresh just now, "" for none, and
	// Saved says that a form was kept just now.
	Undo    *undo
	Polled  string
	Saved   bool
	Follow  string // an address that a bookmark brought, for the form that follows one
	Token   string // of the visitor's forms
	User    string // that has logged in, "" for none
	Reader  bool   // by a password that opens what a reader does, and no more
	Whose   string // says who asks: worker.js and live.js keep people of one browser apart by it
	Look    pageStyle
	Share   shareLink // of the browser
	Now     time.Time
	Version string
}

// A section is a part of the dashboard.
type section struct{ Path, Name string }

// Sections are the parts of the dashboard, in the order of the menu.
func (v *view) Sections() []section {
	if v.Reader {
		return []section{{"/entries", "Entries"}, {"/feeds", "Feeds"}, {"/search", "Archive"},
			{"/settings", "Settings"}}
	}
	return []section{{"/", "Home"}, {"/feeds", "Feeds"}, {"/entries", "Entries"}, {"/neighbors", "Neighbors"},
		{"/search", "Archive"}, {"/filters", "Filters"}, {"/settings", "Settings"}}
}

// pages are the templates, by name.
type pages map[string]*template.Template

// newPages reads the templates.
func newPages(a assets) (pages, error) {
	functions := template.FuncMap{
		"asset": a.path, "grouped": grouped[int64], "bytes": bytesOf, "span": span, "percent": percent,
		"count":    func(n any, one, many string) string { return count(reflect.ValueOf(n).Int(), one, many) },
		"line":     safehtml.Line, // what others wrote, or may have written
		"lines":    func(list []string) string { return strings.Join(list, "\n") },
		"headline": func(h headline, token string) headline { h.Token = token; return h },
		"amount":   func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) },
	}
	list := make(pages)
	names, err := templateFiles.ReadDir("templates")
	if err != nil {
		return nil, err
	}
	for _, file := range names {
		name, _ := strings.CutSuffix(file.Name(), ".html")
		if name == "layout" || name == "parts" {
			continue
		}
		t, err := template.New(name).Funcs(functions).ParseFS(templateFiles, "templates/layout.html",
			"templates/parts.html", "templates/"+file.Name())
		if err != nil {
			return nil, fmt.Errorf("read template: %w", err)
		}
		list[name] = t
	}
	return list, nil
}

// readerHeader says to scripts whose a page is.
const readerHeader = "Feedex-Reader"

// show writes a page whose forms bear the token. It is made whole before the first byte leaves.
func (h *kit) show(w http.ResponseWriter, r *http.Request, token string, v view) {
	c := viewerOf(r.Context())
	v.Undo, v.Polled = h.undoOf(r), refreshed(r, h.now(r))
	v.Saved = r.Method == http.MethodGet && r.URL.Query().Get("done") == "saved"
	v.Token, v.Now, v.Version, v.Look, v.Share = token, h.Now(), h.Version, lookOf(r), shareLinkOf(r)
	v.Follow = r.URL.Query().Get("url")
	v.User, v.Reader, v.Whose = c.Name, c.Name != "" && !c.owns(), c.String()
	var b bytes.Buffer
	if err := h.pages[v.Page].ExecuteTemplate(&b, "layout.html", &v); err != nil {
		h.Log.Error("page not made", "path", r.URL.Path, "err", err)
		http.Error(w, "The page could not be made. The node's log says why.", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(b.Len()))
	header.Set(readerHeader, v.Whose)
	if v.Media {
		header.Set("Content-Security-Policy", policyWithMedia)
	}
	if v.Retry != 0 {
		header.Set("Retry-After", strconv.Itoa(v.Retry))
	}
	if v.Code != 0 {
		w.WriteHeader(v.Code)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		h.Log.Debug("page not sent", "path", r.URL.Path, "err", err)
	}
}
