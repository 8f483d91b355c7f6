package reader

import (
	"html/template"
	"net/http"
)

// index is the page that lists the feeds. What comes from publishers is escaped by html/template. A URL
// that is a secret is left out: other users of the machine may see the page.
var index = template.Must(template.New("index").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>feedex: feeds of this node</title>
<link rel="search" type="application/opensearchdescription+xml" title="feedex" href="/archive/opensearch.xml">
<h1>Feeds of this node</h1>
{{- if .}}
<p>Give your feed reader the address behind a title. It holds every entry that this node has. To search all of them: <a href="/archive?q=">/archive?q=</a>
To give all of them at once to a reader that takes OPML: <a href="/opml?via=node">/opml?via=node</a></p>
<ul>
{{- range .}}
<li>{{if .URL.Secret}}{{or .Title .URL.Host}}<br>Its URL is a secret and not shown; put it behind /feed/ yourself.
{{- else}}<a href="/feed/{{.URL}}">{{or .Title .URL}}</a><br>{{.URL}}{{end}}{{if not .Subscribed}} (no longer followed){{end}}{{if .LastError}}<br>Last poll failed: {{.LastError}}{{end}}</li>
{{- end}}
</ul>
{{- else}}
<p>This node follows no feed yet. To follow one: <code>feedex subscribe URL</code></p>
{{- end}}
</html>
`))

func (h *handler) serveIndex(w http.ResponseWriter, r *http.Request) {
	feeds, err := h.Source.Feeds(r.Context())
	if err != nil {
		h.fail(w, "list feeds", err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if err := index.Execute(w, feeds); err != nil {
		h.Log.Debug("index not sent", "err", err)
	}
}
