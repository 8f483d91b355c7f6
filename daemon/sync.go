package daemon

import (
	"net/http"

	"feedex/reader/fever"
	"feedex/reader/greader"
	"feedex/reader/miniflux"
	"feedex/reader/nextcloud"
	"feedex/reading"
)

// syncAPIs are the APIs by which the owner's readers keep what is read at the node, by the beginnings of their paths.
func (h *host) syncAPIs(view reading.View) map[string]http.Handler {
	shared := &library{view, h}
	apis := make(map[string]http.Handler)
	mount := func(api http.Handler, paths []string) {
		for _, path := range paths {
			apis[path] = api
		}
	}
	log := h.config.Log
	mount(greader.New(greader.Config{Library: shared, Log: log}), greader.Paths())
	mount(fever.New(fever.Config{Library: shared, Log: log}), fever.Paths())
	mount(miniflux.New(miniflux.Config{Library: shared, Version: Version, Log: log}), miniflux.Paths())
	mount(nextcloud.New(nextcloud.Config{Library: shared, Log: log}), nextcloud.Paths())
	return apis
}
