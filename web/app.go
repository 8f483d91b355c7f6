package web

import (
	"encoding/json"
	"net/http"
)

// Where the dashboard is an app. The manifest is below /assets/ and the shell tells nothing, because browsers fetch
// them without a login.
const (
	manifestPath = "/assets/app.webmanifest"
	workerPath   = "/worker.js"
	offlinePath  = "/offline"
)

// An appIcon is one of a manifest's pictures.
type appIcon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

// manifest says what a browser needs to know to have the dashboard as an app (W3C Web App Manifest).
func (h *kit) manifest(w http.ResponseWriter, _ *http.Request) {
	large, _ := h.assets.path("app.png") // newPages has looked for it
	drawn, _ := h.assets.path("icon.svg")
	body, err := json.Marshal(map[string]any{
		"id": "/", "name": "feedex", "short_name": "feedex", "start_url": "/entries", "scope": "/",
		"display": "standalone", "background_color": "#faf9f6", "theme_color": "#faf9f6",
		"icons": []appIcon{{large, "512x512", "image/png", "any maskable"}, {drawn, "any", "image/svg+xml", "any"}},
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/manifest+json")
	_, _ = w.Write(body) // a browser that went away wants none
}

// worker is the service worker. It is another where the stylesheet is, so that browsers get the shell anew. At its
// address, which never changes, it may keep pages of entries.
func (h *kit) worker(w http.ResponseWriter, _ *http.Request) {
	style, _ := h.assets.path("style.css")
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	for _, file := range h.assets {
		if file.name == "worker.js" {
			_, _ = w.Write(append([]byte("// "+style+"\n"), file.content...))
		}
	}
}

// offline is what a browser shows that keeps pages and cannot reach the node.
func (h *kit) offline(*http.Request) (view, error) {
	return view{Page: "offline", Title: "No connection"}, nil
}
