package syncapi

import (
	"context"
	"net/http"
	"strings"

	"feedex/reading"
)

// Visitor is who shows an app password together with its name, in whatever letters; the zero Visitor is nobody. The
// error may be a reading.Slowed.
func Visitor(ctx context.Context, e reading.Entrance, name, password string) (reading.Visitor, error) {
	v, err := e.Visitor(ctx, password)
	if !strings.EqualFold(v.Name, name) {
		v = reading.Visitor{}
	}
	return v, err
}

// origin tells what pages of other sites send from anything else.
var origin http.CrossOriginProtection

// Foreign reports whether a page of another site had a browser send the request, by the browser's own word.
func Foreign(r *http.Request) bool {
	asChange := *r // of requests that change nothing the check knows nothing
	asChange.Method = http.MethodPost
	return origin.Check(&asChange) != nil
}

// Guard is a sync API to which pages of other sites have a browser send nothing: no password goes with it that the
// browser keeps, and none is looked at, as wrong ones would lock the owner's programs out. A program that is made of a
// browser, as Fluent Reader is, says of its own pages that they are files or the program's, or asks nobody for leave
// and does not say whose they are. No page of a site gets so far, where the browser says so: it does at this machine
// and by https, and elsewhere of what is sent with POST.
func Guard(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := r.Header.Get("Origin")
		scheme, _, whose := strings.Cut(from, "://")
		program := whose && scheme != "http" && scheme != "https"
		if Foreign(r) && !program && !(from == "" && r.Header.Get("Sec-Fetch-Mode") == "cors") {
			http.Error(w, "Pages of other sites may ask for nothing here.", http.StatusForbidden)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// Admit refuses a request of nobody, who is told why and asked for a name and a password.
func Admit(w http.ResponseWriter, r *http.Request, user, why string) error {
	if user != "" {
		return nil
	}
	// A web browser would keep the password, and give it to whatever page asks. Readers know what to send.
	if !strings.HasPrefix(r.UserAgent(), "Mozilla/") {
		w.Header().Set("WWW-Authenticate", `Basic realm="feedex"`)
	}
	return Refusal{http.StatusUnauthorized, why}
}
