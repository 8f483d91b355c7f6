package fever

import (
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedex/reading"
)

// maxBody is how long the body of a request may be, in bytes: it holds a key and some arguments.
const maxBody = 64 << 10

// values are the selectors and arguments of a request, of its query and its body alike.
type values url.Values

// parse reads them. What is no form of several parts is read as one of one part, whatever it is called: some readers
// call it nothing.
func parse(w http.ResponseWriter, r *http.Request) (values, error) {
	all := r.URL.Query()
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	var more url.Values
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		if err := r.ParseMultipartForm(maxBody); err != nil {
			return nil, err
		}
		more = r.MultipartForm.Value
	} else {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		more, _ = url.ParseQuery(strings.TrimSpace(string(body))) // as far as it is one
	}
	for name, list := range more {
		all[name] = slices.Concat(list, all[name])
	}
	return values(all), nil
}

// has reports whether something was selected, with or without a value.
func (v values) has(name string) bool { return len(v[name]) > 0 }

// value is the first value of an argument that is not empty, "" for none.
func (v values) value(name string) string {
	for _, value := range v[name] {
		if value != "" {
			return value
		}
	}
	return ""
}

// number is a value that is a number, 0 for one that is none. It is the nearest there is to one that is out of bounds.
func (v values) number(name string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSpace(v.value(name)), 10, 64)
	return n
}

// moment is a value that is a time, the zero time for one that is none.
func (v values) moment(name string) time.Time { return reading.Moment(v.number(name)) }
