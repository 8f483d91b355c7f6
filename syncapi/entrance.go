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

// Admit refuses a request of nobody, who is told why and asked for a name and a password, and one that a page of
// another site sends: with it goes the password, where a web browser has kept one. For other methods than POST browsers
// ask first, and are not let.
func Admit(w http.ResponseWriter, r *http.Request, user, why string) error {
	origin := r.Header.Get("Origin")
	_, host, _ := strings.Cut(origin, "://")
	switch {
	case user == "":
		// A web browser would keep the password, and give it to whatever page asks. Readers know what to send.
		if !strings.HasPrefix(r.UserAgent(), "Mozilla/") {
			w.Header().Set("WWW-Authenticate", `Basic realm="feedex"`)
		}
		return Refusal{http.StatusUnauthorized, why}
	case r.Method == http.MethodPost && origin != "" && !strings.EqualFold(host, r.Host):
		return Refusal{http.StatusForbidden, "A page of another site asks for this."}
	}
	return nil
}
