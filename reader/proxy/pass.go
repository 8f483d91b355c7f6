package proxy

import (
	"errors"
	"net/http"
	"net/http/httputil"

	"feedex/guard"
)

// pass fetches what is no feed for the client, as any proxy does. Nothing is kept, and nothing is said about the
// client.
func (p *proxy) pass(w http.ResponseWriter, r *http.Request) {
	forward := httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			// The reverse proxy has taken away what is for proxies alone; the address is complete already.
			r.Out.Host = r.In.Host
		},
		Transport: p.Pass,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, guard.ErrForbidden) {
				say(w, http.StatusForbidden, "This proxy leads to the public Internet alone.")
				return
			}
			say(w, http.StatusBadGateway, "%s does not answer: %v.", r.URL.Host, err)
		},
	}
	forward.ServeHTTP(w, r)
}
