package greader

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"feedex/opml"
)

const (
	// maxForm bounds the body of a request: 10,000 items by their longest names, encoded.
	maxForm = 2 << 20
	// maxFields is how many fields a form may have: url.ParseQuery takes as many.
	maxFields = 10_000
)

// params are the parameters of a request: readers send them in the query, in the body or in both.
type params struct{ url.Values }

// read reads the parameters.
func (h *handler) read(w http.ResponseWriter, r *request) error {
	values, err := fields(r.URL.RawQuery)
	if err != nil {
		return refusal{http.StatusBadRequest, "The query cannot be read: " + err.Error()}
	}
	r.params = params{values}
	if r.Method != http.MethodPost {
		return nil
	}
	kind, of, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	limit := int64(maxForm)
	if strings.HasSuffix(r.URL.Path, importPath) {
		if _, err := h.enter(r); err != nil { // that much is taken only from known readers
			return err
		}
		limit = opml.MaxBytes
	}
	body := http.MaxBytesReader(w, r.Body, limit)
	if kind == "multipart/form-data" { // Readrops
		err = r.parts(multipart.NewReader(body, of["boundary"]))
	} else {
		if r.raw, err = io.ReadAll(body); err == nil && limit == maxForm {
			err = r.form() // whatever it is said to be: RSS Guard says nothing
		}
	}
	if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
		return refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("The request is longer than %d bytes.", limit)}
	}
	if err != nil {
		return refusal{http.StatusBadRequest, "The request cannot be read: " + err.Error()}
	}
	return nil
}

// form reads the body as a form.
func (r *request) form() error {
	values, err := fields(strings.TrimRight(string(r.raw), "\r\n"))
	for name, list := range values {
		r.params.Values[name] = append(r.params.Values[name], list...)
	}
	return err
}

// fields reads the fields of a form, but those that are written wrong.
func fields(s string) (url.Values, error) {
	if strings.Count(s, "&") >= maxFields {
		return nil, errFields
	}
	values, err := url.ParseQuery(s)
	if len(values) > 0 {
		err = nil
	}
	return values, err
}

// errFields is for a form with too many fields.
var errFields = fmt.Errorf("it has more than %d fields", maxFields)

// parts reads the body as a form in parts.
func (r *request) parts(body *multipart.Reader) error {
	for n := 0; ; n++ {
		part, err := body.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		if n == maxFields {
			return errFields
		}
		r.params.Add(part.FormName(), string(value))
	}
}

// get is a parameter without blanks around it, "" where there is none.
func (p params) get(name string) string { return strings.TrimSpace(p.Get(name)) }
