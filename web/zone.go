package web

import (
	"net/http"
	"regexp"
	"time"
)

// zoneCookie is the time zone of a browser, as the script of a page notes it (live.js).
const zoneCookie = "feedex_zone"

// zoneName is the name of a zone as IANA has them; time.LoadLocation looks for a file of that name.
var zoneName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]{0,30}(/[A-Za-z0-9_+-]{1,30}){0,2}$`)

// zoneOf is the time zone of the browser that asks, that of the node where it is not known.
func zoneOf(r *http.Request) *time.Location {
	c, err := r.Cookie(zoneCookie) // which any page of this host may set: it changes what clocks say, and no more
	if err != nil || !zoneName.MatchString(c.Value) {
		return time.Local
	}
	zone, err := time.LoadLocation(c.Value)
	if err != nil {
		return time.Local
	}
	return zone
}

// now is the time by the clock of the browser that asks: where a day begins, and what all times on a page are said in.
func (h *kit) now(r *http.Request) time.Time { return h.Now().In(zoneOf(r)) }
