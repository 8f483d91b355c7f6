package miniflux

import (
	"net/http"

	"feedex/opml"
	"feedex/syncapi"
)

// importPath is where a list of feeds is sent.
const importPath = "/v1/import"

// importList follows the feeds of a list in OPML.
func (h *handler) importList(w http.ResponseWriter, r *http.Request) error {
	document, err := syncapi.Body(w, r, opml.MaxBytes)
	if err != nil {
		return refuse("The list could not be read: %v", err)
	}
	if err := syncapi.Import(r.Context(), h.Library, document); err != nil {
		return err
	}
	return reply(w, http.StatusCreated, map[string]string{"message": "Feeds imported successfully"})
}

// export lists the feeds that are followed, in OPML.
func (h *handler) export(w http.ResponseWriter, r *http.Request) error {
	return syncapi.Export(r.Context(), h.Library, w, "text/xml; charset=utf-8")
}
