package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed assets/*
var assetFiles embed.FS

// assets are the files that pages refer to, by the name under which they are served. The name changes with the
// content, so that browsers may keep what they have.
type assets map[string]asset

type asset struct {
	name    string // of the file
	content []byte
}

// newAssets reads the files.
func newAssets() (assets, error) {
	files, err := assetFiles.ReadDir("assets")
	if err != nil {
		return nil, err
	}
	list := make(assets)
	for _, file := range files {
		content, err := assetFiles.ReadFile("assets/" + file.Name())
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		ext := path.Ext(file.Name())
		list[strings.TrimSuffix(file.Name(), ext)+"-"+hex.EncodeToString(sum[:6])+ext] = asset{file.Name(), content}
	}
	return list, nil
}

// path is where a file is served.
func (a assets) path(name string) (string, error) {
	for served, file := range a {
		if file.name == name {
			return "/assets/" + served, nil
		}
	}
	return "", fmt.Errorf("there is no file %q", name)
}

// serve serves the files.
func (a assets) serve(w http.ResponseWriter, r *http.Request) {
	file, ok := a[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, file.name, time.Time{}, bytes.NewReader(file.content))
}
