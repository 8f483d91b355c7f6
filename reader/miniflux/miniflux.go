// Package miniflux lets feed readers in that speak the REST API of Miniflux: the part of it that they use. A reader
// that is asked for a server takes
//
//	http://127.0.0.1:7791
//
// and, for the user name and the password, those of an app password; one that is asked for an API key takes the
// password.
//
// A node knows some things otherwise than Miniflux does. A feed may be in several folders and is shown in the first, or
// in a category of its own where it is in none. Entries are always in the order in which they arrived, and what a
// reader says of times is about the arrival as well: entries may come late from neighbors, and readers that ask for
// what was published since their last visit would never see those.
package miniflux

import (
	"context"
	"encoding/json"
	"net/http"
	"path"
	"strconv"
	"sync"

	"feedex/reading"
	"feedex/syncapi"
)

type handler struct {
	syncapi.Config
	Library reading.Library // of the person who asks; nil before somebody came in
	text    reading.Text
	turning *sync.Mutex // held while a star is turned into none or back
}

// An endpoint answers a request that somebody may make.
type endpoint func(h *handler, w http.ResponseWriter, r *http.Request) error

// found answers a request about what find finds by its path.
func found[T any](find func(*handler, *http.Request) (T, error),
	answer func(*handler, http.ResponseWriter, *http.Request, T) error) endpoint {
	return func(h *handler, w http.ResponseWriter, r *http.Request) error {
		x, err := find(h, r)
		if err != nil {
			return err
		}
		return answer(h, w, r, x)
	}
}

// Paths lists the beginnings of the paths at which the handler serves.
func Paths() []string { return []string{"/v1/"} }

// New makes the handler.
func New(cfg syncapi.Config) http.Handler {
	h := &handler{Config: cfg.WithDefaults(), text: reading.NewText(), turning: new(sync.Mutex)}
	mux := http.NewServeMux()
	for pattern, f := range map[string]endpoint{
		"GET /v1/me":                                     (*handler).me,
		"GET /v1/version":                                (*handler).version,
		"GET /v1/integrations/status":                    (*handler).integrations,
		"GET /v1/categories":                             (*handler).categories,
		"POST /v1/categories":                            (*handler).addCategory,
		"GET /v1/categories/{category}":                  found((*handler).askedFolder, (*handler).category),
		"PUT /v1/categories/{category}":                  found((*handler).askedFolder, (*handler).renameCategory),
		"DELETE /v1/categories/{category}":               found((*handler).askedFolder, (*handler).removeCategory),
		"GET /v1/categories/{category}/feeds":            found((*handler).askedFolder, (*handler).feedList),
		"GET /v1/categories/{category}/entries":          (*handler).entries,
		"GET /v1/categories/{category}/entries/{entry}":  found((*handler).item, (*handler).entry),
		"PUT /v1/categories/{category}/refresh":          found((*handler).askedFolder, (*handler).refreshIn),
		"PUT /v1/categories/{category}/mark-all-as-read": (*handler).markAll,
		"GET /v1/feeds":                                  (*handler).feeds,
		"POST /v1/feeds":                                 (*handler).subscribe,
		"POST /v1/discover":                              (*handler).discover,
		"GET /v1/feeds/counters":                         (*handler).counters,
		"PUT /v1/feeds/refresh":                          (*handler).refreshAll,
		"GET /v1/feeds/{feed}":                           found((*handler).asked, (*handler).feed),
		"PUT /v1/feeds/{feed}":                           found((*handler).asked, (*handler).changeFeed),
		"DELETE /v1/feeds/{feed}":                        found((*handler).asked, (*handler).unsubscribe),
		"GET /v1/feeds/{feed}/entries":                   (*handler).entries,
		"GET /v1/feeds/{feed}/entries/{entry}":           found((*handler).item, (*handler).entry),
		"GET /v1/feeds/{feed}/icon":                      found((*handler).asked, (*handler).feedIcon),
		"GET /v1/icons/{icon}":                           (*handler).icon,
		"PUT /v1/feeds/{feed}/refresh":                   found((*handler).asked, (*handler).refresh),
		"PUT /v1/feeds/{feed}/mark-all-as-read":          (*handler).markAll,
		"GET /v1/entries":                                (*handler).entries,
		"PUT /v1/entries":                                (*handler).markEntries,
		"GET /v1/entries/{entry}":                        found((*handler).item, (*handler).entry),
		"GET /v1/entries/{entry}/fetch-content":          found((*handler).item, (*handler).fetchContent),
		"PUT /v1/entries/{entry}/bookmark":               (*handler).turnStar,
		"PUT /v1/entries/{entry}/star":                   (*handler).turnStar,
		"POST /v1/entries/{entry}/save":                  found((*handler).item, (*handler).save),
		"GET /v1/export":                                 (*handler).export,
		"POST " + importPath:                             (*handler).importList,
		"PUT /v1/users/{user}/mark-all-as-read":          (*handler).markAll,
		"/":                                              (*handler).unknown,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, f) })
	}
	return syncapi.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A slash too many, from an address that ends in one, is not worth a redirection.
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = path.Clean("/"+r.URL.Path), ""
		mux.ServeHTTP(w, r)
	}))
}

// user is the key of the user's name in a request's context.
type user struct{}

// serve answers requests that may come in.
func (h *handler) serve(w http.ResponseWriter, r *http.Request, f endpoint) {
	w.Header().Set("Cache-Control", "no-store")
	visitor, err := h.enter(r)
	if err == nil {
		err = syncapi.Admit(w, r, visitor.Name, "Access Unauthorized")
	}
	if err == nil {
		personal := *h
		personal.Library = visitor.Library
		err = f(&personal, w, r.WithContext(context.WithValue(r.Context(), user{}, visitor.Name)))
	}
	if err != nil {
		no := syncapi.Refused(w, err, http.StatusBadRequest, h.Log, "answer a reader of Miniflux's API")
		_ = reply(w, no.Code, map[string]string{"error_message": no.Why})
	}
}

// enter is who sent the request, by an app password with its name or, as an API key, without; the zero
// Visitor for nobody.
func (h *handler) enter(r *http.Request) (reading.Visitor, error) {
	if key := r.Header.Get("X-Auth-Token"); key != "" {
		return h.Entrance.Visitor(r.Context(), key)
	}
	name, password, _ := r.BasicAuth()
	return syncapi.Visitor(r.Context(), h.Entrance, name, password)
}

// refuse is for what is wrong with what the reader sends.
func refuse(format string, args ...any) error {
	return syncapi.Refuse(http.StatusBadRequest, format, args...)
}

// errMissing is for what there is not.
var errMissing = syncapi.Refuse(http.StatusNotFound, "Resource Not Found")

// reply answers with JSON.
func reply(w http.ResponseWriter, code int, value any) error {
	return syncapi.Reply(w, code, "application/json", value)
}

// done answers that it was done, if it was: with no body, which is how one reader tells that it was.
func done(w http.ResponseWriter, err error) error {
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// maxBody is how long the body of a request may be, in bytes, that is no list of feeds: some 100,000 ids.
const maxBody = 1 << 20

// body reads the body of a request, which is JSON whatever it is called: one reader calls it a form.
func body(w http.ResponseWriter, r *http.Request, into any) error {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(into); err != nil {
		return refuse("The body is not the JSON that is wanted: %v", err)
	}
	return nil
}

// id is a number in the path, 0 where the path has none there. The error is errMissing where it is none that there
// could be.
func id[T ~int64](r *http.Request, name string) (T, error) {
	text := r.PathValue(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, errMissing
	}
	return T(n), nil
}

func (h *handler) unknown(http.ResponseWriter, *http.Request) error { return errMissing }

func (h *handler) version(w http.ResponseWriter, _ *http.Request) error {
	return reply(w, http.StatusOK, map[string]string{"version": spoken, "commit": "feedex " + h.Version})
}

// spoken is the Miniflux whose API this is.
const spoken = "2.2.6"

// integrations says that entries cannot be saved to other services.
func (h *handler) integrations(w http.ResponseWriter, _ *http.Request) error {
	return reply(w, http.StatusOK, map[string]bool{"has_integrations": false})
}

// me is the person, by the name of the app password.
func (h *handler) me(w http.ResponseWriter, r *http.Request) error {
	name, _ := r.Context().Value(user{}).(string)
	return reply(w, http.StatusOK, struct {
		ID       int    `json:"id"`
		Name     string `json:"username"`
		Admin    bool   `json:"is_admin"`
		Theme    string `json:"theme"`
		Language string `json:"language"`
		Zone     string `json:"timezone"`
		Sorting  string `json:"entry_sorting_direction"`
		Order    string `json:"entry_sorting_order"`
		PerPage  int    `json:"entries_per_page"`
	}{self, name, false, "system_serif", "en_US", "UTC", "desc", "published_at", defaultLimit})
}

// self is the number that each person has to their own programs, whatever number those name.
const self = 1
