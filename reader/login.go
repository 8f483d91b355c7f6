package reader

import (
	"errors"
	"net/http"
	"strconv"

	"feedex/reading"
)

// admits reports whether a client may come in, and notes who that is: people's programs by their passwords (RFC 7617),
// wherever they are, or they would be taken for the owner's, and without any whoever needs none. It answers the others.
func (h *handler) admits(w http.ResponseWriter, r *http.Request, visitor *reading.Visitor) bool {
	if h.Entrance == nil {
		return true
	}
	name, password, ok := r.BasicAuth()
	if !ok && h.Known != nil && h.Known(r) {
		return true
	}
	if ok {
		v, err := h.Entrance.Visitor(r.Context(), password)
		if slowed := (reading.Slowed{}); errors.As(err, &slowed) {
			w.Header().Set("Retry-After", strconv.Itoa(slowed.Seconds()))
			say(w, http.StatusTooManyRequests, "%v.", slowed)
			return false
		}
		if err != nil {
			h.fail(w, "look up password", err)
			return false
		}
		if v.Name != "" && v.Name == name {
			*visitor = v
			return true
		}
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="feedex", charset="UTF-8"`)
	if ok {
		say(w, http.StatusUnauthorized, "No such name has that password. 'feedex password list' has the names.")
		return false
	}
	say(w, http.StatusUnauthorized,
		"This node is reached from other machines and wants a name and a password. To make them:\n\n\tfeedex "+
			"password add NAME")
	return false
}
