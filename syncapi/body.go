package syncapi

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
)

// StrangersBody is how long the body of a request may be, in bytes, of whom nobody knows yet: it holds a name and a
// password, or a token, and some arguments.
const StrangersBody = 64 << 10

// Body reads the body of a request. The error wraps an *http.MaxBytesError where it is longer than limit, in bytes.
func Body(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
}

// Read reads the body of a request, of at most limit bytes: a form in parts as its fields, anything else as the text
// that it is, for readers call forms by other names, or by none. Errors as with Body.
func Read(w http.ResponseWriter, r *http.Request, limit int64) (form url.Values, text []byte, err error) {
	if kind, of, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		form, err = parts(multipart.NewReader(http.MaxBytesReader(w, r.Body, limit), of["boundary"]))
		return form, nil, err
	}
	text, err = Body(w, r, limit)
	return nil, text, err
}

// maxFields is how many fields a form may have: url.ParseQuery takes as many.
const maxFields = 10_000

// errFields is for a form with too many fields.
var errFields = fmt.Errorf("it has more than %d fields", maxFields)

// Fields reads the fields of a form, but those that are written wrong. The error says that there are too many, or none
// that is written right.
func Fields(s string) (url.Values, error) {
	if strings.Count(s, "&") >= maxFields {
		return nil, errFields
	}
	values, err := url.ParseQuery(s)
	if len(values) > 0 {
		err = nil
	}
	return values, err
}

// parts reads the fields of a form in parts.
func parts(body *multipart.Reader) (url.Values, error) {
	values := make(url.Values)
	for n := 0; ; n++ {
		part, err := body.NextPart()
		if err == io.EOF {
			return values, nil
		}
		if err != nil {
			return nil, err
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		if n == maxFields {
			return nil, errFields
		}
		values.Add(part.FormName(), string(value))
	}
}
