// Package nextcloud lets feed readers in that speak the API of Nextcloud's News, version 1.2 or 1.3: the part of it
// that they use. A reader that is asked for a Nextcloud takes
//
//	http://127.0.0.1:7791
//
// and, for the user name and the password, those of an app password.
//
// Times in the requests of a reader are about when entries arrived. A feed may be in several folders and is shown in
// the first.
package nextcloud

import (
	"encoding/xml"
	"net/http"
	"path"
	"regexp"
	"strconv"

	"feedex/reading"
	"feedex/syncapi"
)

type handler struct {
	syncapi.Config
	Library reading.Library // of the person who asks; nil before somebody came in
	text    reading.Text
	mux     *http.ServeMux
}

// Paths lists the beginnings of the paths at which the handler serves. The last is where one reader asks for the name
// of the user.
func Paths() []string {
	return []string{"/index.php/apps/news/api", "/apps/news/api", ocsPath}
}

const ocsPath = "/ocs/v1.php/cloud/users/"

// base is the part in front of all other paths.
var base = regexp.MustCompile(`^(/index\.php)?/apps/news/api(/v1-[23])?`)

// An endpoint answers a request that somebody may make.
type endpoint func(h *handler, w http.ResponseWriter, r *request) error

// New makes the handler.
func New(cfg syncapi.Config) http.Handler {
	h := &handler{Config: cfg.WithDefaults(), text: reading.NewText(), mux: http.NewServeMux()}
	for pattern, f := range map[string]endpoint{
		"GET /{$}":             (*handler).levels,
		"GET /status":          (*handler).status,
		"GET /version":         (*handler).version,
		"GET /user":            (*handler).user,
		"GET " + ocsPath:       (*handler).ocs,
		"GET /folders":         (*handler).folders,
		"POST /folders":        (*handler).addFolder,
		"PUT /folders/{id}":    (*handler).renameFolder,
		"DELETE /folders/{id}": (*handler).removeFolder,
		"GET /feeds":           (*handler).feeds,
		"POST /feeds":          (*handler).subscribe,
		"DELETE /feeds/{id}":   (*handler).unsubscribe,
		"GET /feeds/update":    (*handler).refresh,
		"GET /items":           (*handler).items,
		"GET /items/updated":   (*handler).updated,
	} {
		h.handle(pattern, f)
	}
	for pattern, f := range map[string]endpoint{
		"/folders/{id}/read":           (*handler).readFolder,
		"/feeds/{id}/read":             (*handler).readFeed,
		"/feeds/{id}/move":             (*handler).moveFeed,
		"/feeds/{id}/rename":           (*handler).renameFeed,
		"/items/read":                  (*handler).readAll,
		"/items/{id}/{state}":          (*handler).markItem, // or a guid, without saying what becomes of it
		"/items/{state}/multiple":      (*handler).markItems,
		"/items/{feed}/{guid}/{state}": (*handler).markGUID,
	} {
		h.handle("PUT "+pattern, f)  // version 1.2
		h.handle("POST "+pattern, f) // version 1.3
	}
	h.handle("/", func(*handler, http.ResponseWriter, *request) error { return errMissing })
	return syncapi.Guard(h)
}

func (h *handler) handle(pattern string, f endpoint) {
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		personal := *h
		asked, err := personal.enter(w, r)
		if err == nil {
			err = f(&personal, w, asked)
		}
		if err != nil {
			no := syncapi.Refused(w, err, http.StatusUnprocessableEntity, h.Log, "answer a reader of Nextcloud's API")
			_ = reply(w, no.Code, map[string]string{"message": no.Why})
		}
	})
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	r = r.Clone(r.Context())
	r.URL.Path, r.URL.RawPath = path.Clean("/"+base.ReplaceAllString(r.URL.Path, "")), ""
	h.mux.ServeHTTP(w, r)
}

// A request is one of a reader that may come in.
type request struct {
	*http.Request
	name string // of the app password
	args arguments
}

// enter lets readers in that show an app password with its name, to the library of its person.
func (h *handler) enter(w http.ResponseWriter, r *http.Request) (*request, error) {
	user, password, _ := r.BasicAuth()
	visitor, err := syncapi.Visitor(r.Context(), h.Entrance, user, password)
	if err == nil {
		err = syncapi.Admit(w, r, visitor.Name, "This is not the name and password of an app: feedex password add NAME")
	}
	if err != nil {
		return nil, err
	}
	h.Library = visitor.Library
	args, err := parse(w, r)
	return &request{r, visitor.Name, args}, err
}

// number is the number in the path. The error is errMissing where there could not be such a one.
func (r *request) number(name string) (int64, error) {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || n < 0 {
		return 0, errMissing
	}
	return n, nil
}

// errMissing is for what there is not.
var errMissing = syncapi.Refuse(http.StatusNotFound, "There is no such thing.")

// reply answers with JSON.
func reply(w http.ResponseWriter, code int, value any) error {
	return syncapi.Reply(w, code, "application/json; charset=utf-8", value)
}

// done answers that it was done, if it was, like Nextcloud with an empty list.
func done(w http.ResponseWriter, err error) error {
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, []int{})
}

// spoken is the News whose API this is. Readers send null for the folder of feeds that are in none to all since 15.1.
const spoken = "25.0.0"

func (h *handler) levels(w http.ResponseWriter, _ *request) error {
	return reply(w, http.StatusOK, map[string][]string{"apiLevels": {"v1-2", "v1-3"}})
}

func (h *handler) status(w http.ResponseWriter, _ *request) error {
	return reply(w, http.StatusOK, struct {
		Version  string          `json:"version"`
		Warnings map[string]bool `json:"warnings"`
	}{spoken, map[string]bool{"improperlyConfiguredCron": false, "incorrectDbCharset": false}})
}

func (h *handler) version(w http.ResponseWriter, _ *request) error {
	return reply(w, http.StatusOK, map[string]string{"version": spoken})
}

func (h *handler) user(w http.ResponseWriter, r *request) error {
	return reply(w, http.StatusOK, struct {
		ID     string  `json:"userId"`
		Name   string  `json:"displayName"`
		Login  int64   `json:"lastLoginTimestamp"`
		Avatar *string `json:"avatar"`
	}{r.name, r.name, 0, nil})
}

// ocs tells Readrops the name of the user, by another API of Nextcloud's.
func (h *handler) ocs(w http.ResponseWriter, r *request) error {
	text, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"ocs"`
		Status  string   `xml:"meta>status"`
		Code    int      `xml:"meta>statuscode"`
		ID      string   `xml:"data>id"`
		Name    string   `xml:"data>displayname"`
	}{Status: "ok", Code: 100, ID: r.name, Name: r.name})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	w.Write([]byte(xml.Header + string(text) + "\n"))
	return nil
}
