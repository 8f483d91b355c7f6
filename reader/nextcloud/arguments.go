package nextcloud

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedex/reading"
	"feedex/syncapi"
)

// maxBody is how long the body of a request may be, in bytes: some 100,000 ids.
const maxBody = 1 << 20

// arguments are those of a request: the ones in its query, in its body as JSON or as a form, as Nextcloud takes them.
type arguments map[string]json.RawMessage

func parse(w http.ResponseWriter, r *http.Request) (arguments, error) {
	a := make(arguments)
	a.add(r.URL.Query())
	body, err := syncapi.Body(w, r, maxBody)
	if err != nil {
		return nil, syncapi.Refuse(http.StatusRequestEntityTooLarge, "The body cannot be read: %v", err)
	}
	if err := json.Unmarshal(body, &a); err != nil && len(body) > 0 {
		if strings.HasPrefix(strings.TrimSpace(string(body)), "{") {
			return nil, syncapi.Refuse(http.StatusBadRequest, "The body is not the JSON that is wanted: %v", err)
		}
		form, _ := url.ParseQuery(strings.TrimSpace(string(body))) // as far as it is one
		a.add(form)
	}
	return a, nil
}

func (a arguments) add(values url.Values) {
	for name, list := range values {
		if text, err := json.Marshal(list[0]); err == nil {
			a[name] = text
		}
	}
}

// text is an argument as a text: of a text what it says, of anything else its JSON.
func (a arguments) text(name string) string {
	var s string
	if raw := a[name]; json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// number is an argument that is a number, which may be written as a text. One out of bounds is the nearest that there
// is.
func (a arguments) number(name string, otherwise int64) int64 {
	text := strings.TrimSpace(a.text(name))
	n, err := strconv.ParseInt(text, 10, 64)
	if f, float := strconv.ParseFloat(text, 64); err != nil && n == 0 && float == nil && f > 0 && f < 1<<53 {
		return int64(f)
	}
	if err != nil && n == 0 {
		return otherwise
	}
	return n
}

// truth is an argument that is true or false.
func (a arguments) truth(name string, otherwise bool) bool {
	switch strings.ToLower(a.text(name)) {
	case "true", "1":
		return true
	case "false", "0":
		return false
	}
	return otherwise
}

// moment is an argument that is a time, the zero time for none.
func (a arguments) moment(name string) time.Time { return reading.Moment(a.number(name, 0)) }
