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
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"path"
	"strconv"
	"sync"

	"feedex/reading"
	"feedex/syncapi"
)

// Config holds the dependencies of a handler.
type Config struct {
	// Library holds the feeds and items that are read and marked.
	Library reading.Library
	// Version is the node's own, for readers that ask which Miniflux this is.
	Version string
	// Log takes what went wrong on our side. Default: nowhere.
	Log *slog.Logger
}

type handler struct {
	Config
	text    reading.Text
	turning sync.Mutex // held while a star is turned into none or back
}

// An endpoint answers a request that somebody may make.
type endpoint func(w http.ResponseWriter, r *http.Request) error

// Paths lists the beginnings of the paths at which the handler serves.
func Paths() []string { return []string{"/v1/"} }

// New makes the handler.
func New(cfg Config) http.Handler {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	h := &handler{Config: cfg, text: reading.NewText()}
	mux := http.NewServeMux()
	for pattern, f := range map[string]endpoint{
		"GET /v1/me":                                     h.me,
		"GET /v1/version":                                h.version,
		"GET /v1/integrations/status":                    h.integrations,
		"GET /v1/categories":                             h.categories,
		"POST /v1/categories":                            h.addCategory,
		"GET /v1/categories/{category}":                  h.category,
		"PUT /v1/categories/{category}":                  h.renameCategory,
		"DELETE /v1/categories/{category}":               h.removeCategory,
		"GET /v1/categories/{category}/feeds":            h.categoryFeeds,
		"GET /v1/categories/{category}/entries":          h.entries,
		"GET /v1/categories/{category}/entries/{entry}":  h.entry,
		"PUT /v1/categories/{category}/refresh":          h.refreshCategory,
		"PUT /v1/categories/{category}/mark-all-as-read": h.markAll,
		"GET /v1/feeds":                                  h.feeds,
		"POST /v1/feeds":                                 h.subscribe,
		"POST /v1/discover":                              h.discover,
		"GET /v1/feeds/counters":                         h.counters,
		"PUT /v1/feeds/refresh":                          h.refreshAll,
		"GET /v1/feeds/{feed}":                           h.feed,
		"PUT /v1/feeds/{feed}":                           h.changeFeed,
		"DELETE /v1/feeds/{feed}":                        h.unsubscribe,
		"GET /v1/feeds/{feed}/entries":                   h.entries,
		"GET /v1/feeds/{feed}/entries/{entry}":           h.entry,
		"GET /v1/feeds/{feed}/icon":                      h.feedIcon,
		"GET /v1/icons/{icon}":                           h.icon,
		"PUT /v1/feeds/{feed}/refresh":                   h.refresh,
		"PUT /v1/feeds/{feed}/mark-all-as-read":          h.markAll,
		"GET /v1/entries":                                h.entries,
		"PUT /v1/entries":                                h.markEntries,
		"GET /v1/entries/{entry}":                        h.entry,
		"PUT /v1/entries/{entry}/bookmark":               h.turnStar,
		"PUT /v1/entries/{entry}/star":                   h.turnStar,
		"POST /v1/entries/{entry}/save":                  h.save,
		"GET /v1/export":                                 h.export,
		"POST " + importPath:                             h.importList,
		"PUT /v1/users/{user}/mark-all-as-read":          h.markAll,
		"/":                                              h.unknown,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, f) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A slash too many, from an address that ends in one, is not worth a redirection.
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = path.Clean("/"+r.URL.Path), ""
		mux.ServeHTTP(w, r)
	})
}

// user is the key of the user's name in a request's context.
type user struct{}

// serve answers requests that may come in.
func (h *handler) serve(w http.ResponseWriter, r *http.Request, f endpoint) {
	w.Header().Set("Cache-Control", "no-store")
	name, err := h.enter(r)
	if err == nil {
		err = syncapi.Admit(w, r, name, "Access Unauthorized")
	}
	if err == nil {
		err = f(w, r.WithContext(context.WithValue(r.Context(), user{}, name)))
	}
	if err != nil {
		no := syncapi.Refused(w, err, http.StatusBadRequest, h.Log, "answer a reader of Miniflux's API")
		_ = reply(w, no.Code, map[string]string{"error_message": no.Why})
	}
}

// enter is the user who sent the request, by an app password with its name or, as an API key, without; "" for nobody.
func (h *handler) enter(r *http.Request) (string, error) {
	if key := r.Header.Get("X-Auth-Token"); key != "" {
		return h.Library.User(r.Context(), key)
	}
	name, password, _ := r.BasicAuth()
	return syncapi.User(r.Context(), h.Library, name, password)
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

// me is the owner, by the name of the app password.
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
	}{owner, name, false, "system_serif", "en_US", "UTC", "desc", "published_at", defaultLimit})
}

// owner is the number of the only user that there is.
const owner = 1
