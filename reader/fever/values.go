package fever

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"feedex/reading"
	"feedex/syncapi"
)

// values are the selectors and arguments of a request, of its query and its body alike.
type values url.Values

// parse reads them, of a form as far as it is one.
func parse(w http.ResponseWriter, r *http.Request) (values, error) {
	all := r.URL.Query()
	form, text, err := syncapi.Read(w, r, syncapi.StrangersBody)
	if err != nil {
		return nil, err
	}
	if form == nil {
		form, _ = url.ParseQuery(strings.TrimSpace(string(text)))
	}
	for name, list := range form {
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

// number is a value that is a number, the nearest that there is to one that is out of bounds; ok is false for one that
// is none.
func (v values) number(name string) (n int64, ok bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(v.value(name)), 10, 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange)
}

// item is a value that is an item's number, 0 for one that is none.
func (v values) item(name string) reading.ItemID {
	n, _ := v.number(name)
	return reading.ItemID(n)
}
