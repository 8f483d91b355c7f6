package greader

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"feedex/opml"
	"feedex/syncapi"
)

// maxForm bounds the body of a request: 10,000 items by their longest names, encoded.
const maxForm = 2 << 20

// requestParams are the parameters of a request: readers send them in the query, in the body or in both.
type requestParams struct{ url.Values }

// read reads the parameters.
func (h *handler) read(w http.ResponseWriter, r *request) error {
	values, err := syncapi.Fields(r.URL.RawQuery)
	if err != nil {
		return syncapi.Refuse(http.StatusBadRequest, "The query cannot be read: %v", err)
	}
	r.params = requestParams{values}
	if r.Method != http.MethodPost {
		return nil
	}
	limit := int64(maxForm)
	if strings.HasSuffix(r.URL.Path, importPath) {
		if _, err := h.enter(r); err != nil { // that much is taken only from known readers
			return err
		}
		limit = opml.MaxBytes
	}
	form, text, err := syncapi.Read(w, r.Request, limit)
	if r.raw = text; err == nil && form == nil && limit == maxForm {
		// a form, whatever it is said to be: RSS Guard says nothing
		form, err = syncapi.Fields(strings.TrimRight(string(text), "\r\n"))
	}
	if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
		return syncapi.Refuse(http.StatusRequestEntityTooLarge, "The request is longer than %d bytes.", limit)
	}
	if err != nil {
		return syncapi.Refuse(http.StatusBadRequest, "The request cannot be read: %v", err)
	}
	for name, list := range form {
		values[name] = append(values[name], list...)
	}
	return nil
}

// get is a parameter without blanks around it, "" where there is none.
func (p requestParams) get(name string) string { return strings.TrimSpace(p.Get(name)) }
