package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedex/web"
)

// What makes an app of the dashboard can be had without a login, as browsers fetch it, and tells nothing.
func TestTheAppIsThereWithoutALogin(t *testing.T) {
	h, err := web.New(web.Config{Source: newNode(t), Login: func(*http.Request) bool { return true },
		Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	login := get(h, "/login")
	if !strings.Contains(login.Body.String(), `<link rel="manifest" href="/assets/app.webmanifest">`) ||
		!strings.Contains(login.Header().Get("Content-Security-Policy"), "manifest-src 'self'") {
		t.Errorf("pages do not lead to the manifest:\n%s", login.Body)
	}
	var manifest struct {
		StartURL string `json:"start_url"`
		Icons    []struct{ Src, Type string }
	}
	w := get(h, "/assets/app.webmanifest")
	if err := json.Unmarshal(w.Body.Bytes(), &manifest); err != nil || w.Code != http.StatusOK ||
		w.Header().Get("Content-Type") != "application/manifest+json" || manifest.StartURL != "/entries" ||
		len(manifest.Icons) != 2 {
		t.Fatalf("%d %s, %v: %s", w.Code, w.Header().Get("Content-Type"), err, w.Body)
	}
	for _, icon := range manifest.Icons {
		if w := get(h, icon.Src); w.Code != http.StatusOK || w.Header().Get("Content-Type") != icon.Type {
			t.Errorf("%s: %d, %s", icon.Src, w.Code, w.Header().Get("Content-Type"))
		}
	}
	if w := get(h, "/worker.js"); w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"),
		"text/javascript") || !strings.Contains(w.Header().Get("Cache-Control"), "no-cache") {
		t.Errorf("the worker: %d, %v", w.Code, w.Header())
	}
	shell := get(h, "/offline")
	if shell.Code != http.StatusOK || strings.Count(shell.Body.String(), `<ul id="kept"></ul>`) != 1 {
		t.Errorf("the shell: %d:\n%s", shell.Code, shell.Body)
	}
	wantSound(t, "/offline", shell)
	if w := get(h, "/entries"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/login?"+
		(url.Values{"next": {"/entries"}}).Encode() {
		t.Errorf("what there is to read: %d", w.Code)
	}
}
