package reader

import (
	"errors"
	"net/http"
	"strconv"

	"feedex/reading"
)

// admits reports whether a client may come in: everybody where that is so, and else people's programs by their
// passwords (RFC 7617), and notes who that is. It answers the others.
func (h *handler) admits(w http.ResponseWriter, r *http.Request, visitor *reading.Visitor) bool {
	if h.Entrance == nil || h.Known != nil && h.Known(r) {
		return true
	}
	name, password, ok := r.BasicAuth()
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
	say(w, http.StatusUnauthorized,
		"This node is reached from other machines and wants a name and a password. To make them:\n\n\tfeedex "+
			"password add NAME")
	return false
}
