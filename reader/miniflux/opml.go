package miniflux

import (
	"bytes"
	"errors"
	"net/http"
	"time"

	"feedex/opml"
	"feedex/reading"
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
	list, err := opml.Read(document)
	switch {
	case errors.Is(err, opml.ErrFormat), errors.Is(err, opml.ErrSize):
		return refuse("%v", err)
	case err != nil:
		return err
	}
	if err := h.Library.Import(r.Context(), list.Feeds); err != nil {
		return err
	}
	return reply(w, http.StatusCreated, map[string]string{"message": "Feeds imported successfully"})
}

// export lists the feeds that are followed, in OPML.
func (h *handler) export(w http.ResponseWriter, r *http.Request) error {
	feeds, err := h.Library.Subscriptions(r.Context())
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := opml.Write(&b, reading.ListOf(feeds), time.Time{}); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // a reader that went away wants no answer
	return nil
}
