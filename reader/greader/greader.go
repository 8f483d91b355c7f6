// Package greader serves the API of Google Reader, as many readers speak it to FreshRSS and others, over a
// reading.Library.
//
// Nobody wrote the API down; what is here is what the readers send and look at. Each oddity stands beside the reader
// that needs it.
package greader

import (
	"cmp"
	"io"
	"net/http"
	"strings"

	"feedex/reading"
	"feedex/syncapi"
)

type handler struct {
	syncapi.Config
	Library reading.Library // of the person who asks; nil before somebody came in
	text    reading.Text
}

// Paths lists the beginnings of the paths at which the handler serves.
func Paths() []string { return []string{"/accounts/", "/reader/", freshPath} }

// freshPath is the path in front of all paths of the API at FreshRSS.
const freshPath = "/api/greader.php"

// New makes the handler. It looks at the path itself and must not stand behind an http.ServeMux pattern, which would
// redirect away the slashes of a feed's URL in it.
func New(cfg syncapi.Config) http.Handler {
	return syncapi.Guard(&handler{Config: cfg.WithDefaults(), text: reading.NewText()})
}

// A request is one that is being answered.
type request struct {
	*http.Request
	user   string
	path   string // below the API, without a slash at its end
	params requestParams
	raw    []byte // the body, where it is no form
	looks  int    // how many tokens were looked at
}

// An endpoint answers one kind of request. Where it returns an error it has written nothing.
type endpoint func(h *handler, w http.ResponseWriter, r *request) error

// apiPath is the path in front of all but two paths.
const apiPath = "/reader/api/0/"

// reads and changes are the functions that answer requests for paths below apiPath. Those below contentsPath name a
// stream.
var (
	reads = map[string]endpoint{
		"token": (*handler).token, "user-info": (*handler).userInfo, "tag/list": (*handler).tagList,
		"unread-count":      (*handler).unreadCount,
		"subscription/list": (*handler).subscriptionList, "subscription/export": (*handler).subscriptionExport,
		"stream/items/ids": (*handler).itemIDs, "stream/items/contents": (*handler).itemContents,
		"stream/contents": (*handler).streamContents,
	}
	changes = map[string]endpoint{
		"edit-tag": (*handler).editTag, "mark-all-as-read": (*handler).markAll,
		"rename-tag": (*handler).renameTag, "disable-tag": (*handler).disableTag,
		"subscription/quickadd": (*handler).quickAdd, "subscription/edit": (*handler).subscriptionEdit,
		"subscription/import": (*handler).subscriptionImport,
	}
)

func (h *handler) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	w.Header().Set("Cache-Control", "private, no-cache")
	r := &request{Request: hr, path: strings.TrimPrefix(hr.URL.Path, freshPath)}
	path := strings.TrimRight(r.path, "/")
	if path == "" { // where a person looks whether the address is right
		text(w, http.StatusOK, "This is the address for readers that speak the API of Google Reader or FreshRSS.\n")
		return
	}
	h.finish(w, r, h.serve(w, r, path))
}

// serve answers a request, or says why it cannot.
func (h *handler) serve(w http.ResponseWriter, r *request, path string) (err error) {
	values, err := syncapi.Fields(r.URL.RawQuery)
	if err != nil {
		return syncapi.Refuse(http.StatusBadRequest, "The query cannot be read: %v", err)
	}
	r.params = requestParams{values}
	if path == "/accounts/ClientLogin" {
		if err := h.read(w, r, false); err != nil {
			return err
		}
		return h.login(w, r)
	}
	visitor, err := h.enter(r)
	if err == nil {
		err = h.read(w, r, visitor.Name != "")
	}
	if err == nil && visitor.Name == "" { // by what the body shows
		visitor, err = h.enter(r)
	}
	if err == nil && visitor.Name == "" {
		err = errUnknown
	}
	if err != nil {
		return err
	}
	personal := *h
	personal.Library = visitor.Library
	r.user, h = visitor.Name, &personal
	if strings.HasPrefix(r.path, atomPath) {
		return h.atom(w, r)
	}
	name, ok := strings.CutPrefix(path, apiPath)
	if !ok {
		return syncapi.Refuse(http.StatusNotFound, "There is nothing here.")
	}
	if change := changes[name]; change != nil {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			return syncapi.Refuse(http.StatusMethodNotAllowed, "Only POST works here.")
		}
		return change(h, w, r)
	}
	if strings.HasPrefix(name, contentsPath) {
		return h.streamContents(w, r)
	}
	if read := reads[name]; read != nil {
		return read(h, w, r)
	}
	return h.nothing(w, r)
}

// finish answers a request that was not.
func (h *handler) finish(w http.ResponseWriter, r *request, err error) {
	if err == nil {
		return
	}
	log := h.Log.With("call", cmp.Or(strings.TrimPrefix(r.path, apiPath), r.path))
	no := syncapi.Refused(w, err, http.StatusBadRequest, log, "sync request failed")
	switch no.Code {
	case http.StatusUnauthorized:
		w.Header().Set("X-Reader-Google-Bad-Token", "true") // on which Capy Reader and Read You log in again
	case http.StatusTooManyRequests:
		no.Why += "."
	case http.StatusInternalServerError:
		no.Why = "The node could not do this. Its log says why."
	}
	text(w, no.Code, no.Why+"\n")
}

// nothing answers what nobody here knows, so that readers that ask for more go on.
func (h *handler) nothing(w http.ResponseWriter, r *request) error {
	if r.Method == http.MethodPost {
		return answer(w, nil)
	}
	w.Header().Set("Content-Type", jsonType)
	_, _ = io.WriteString(w, "[]")
	return nil
}

// answer says "OK" where there is no error. Readers look at these two letters.
func answer(w http.ResponseWriter, err error) error {
	if err != nil {
		return err
	}
	text(w, http.StatusOK, "OK")
	return nil
}

func text(w http.ResponseWriter, code int, s string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, s) // a reader that went away wants no answer
}
