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

// read adds the parameters of the body to those of the query. Of whom nobody knows yet it reads no more than holds a
// token, and no list of feeds.
func (h *handler) read(w http.ResponseWriter, r *request, known bool) error {
	if r.Method != http.MethodPost {
		return nil
	}
	limit, imports := int64(syncapi.StrangersBody), strings.HasSuffix(r.URL.Path, importPath)
	switch {
	case imports && !known:
		return errUnknown
	case imports:
		limit = opml.MaxBytes
	case known:
		limit = maxForm
	}
	form, text, err := syncapi.Read(w, r.Request, limit)
	if r.raw = text; err == nil && form == nil && !imports {
		// a form, whatever it is said to be: RSS Guard says nothing
		form, err = syncapi.Fields(strings.TrimRight(string(text), "\r\n"))
	}
	if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) && !known {
		return errUnknown // once they have logged in anew it may be so long
	} else if errors.As(err, &tooLong) {
		return syncapi.Refuse(http.StatusRequestEntityTooLarge, "The request is longer than %d bytes.", limit)
	}
	if err != nil {
		return syncapi.Refuse(http.StatusBadRequest, "The request cannot be read: %v", err)
	}
	for name, list := range form {
		r.params.Values[name] = append(r.params.Values[name], list...)
	}
	return nil
}

// get is a parameter without blanks around it, "" where there is none.
func (p requestParams) get(name string) string { return strings.TrimSpace(p.Get(name)) }
