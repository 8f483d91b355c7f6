package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"feedex/syncapi"
)

// policy lets a page load the dashboard's own stylesheet and script, pictures by way of the node, those that are part
// of the page, and nothing else; policyWithMedia also the sound and video that its reader plays.
const (
	policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; manifest-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; img-src 'self' data:"
	policyWithMedia = policy + "; media-src https: http:"
)

// protect sets the headers of every answer.
func protect(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	header.Set("Cache-Control", "private, no-cache")
}

// secure reports whether the page came by https.
func secure(r *http.Request) bool { return syncapi.Scheme(r) == "https" }

// cookie is a cookie of ours, age being its MaxAge. One that was set by https goes nowhere else, and has another name,
// so that no page by http, or of another host of the domain, can put its own in its place (RFC 6265bis §4.1.3.2). A
// link of another site brings it along, so that who follows one is who they were, and nothing else of such a site does.
func cookie(r *http.Request, name, value string, age int) *http.Cookie {
	return &http.Cookie{Name: cookieName(r, name), Value: value, Path: "/", MaxAge: age, Secure: secure(r),
		HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

func cookieName(r *http.Request, name string) string {
	if secure(r) {
		return "__Host-" + name
	}
	return name
}

// cookieOf is the value of a cookie of ours, "" where there is none.
func cookieOf(r *http.Request, name string) string {
	c, err := r.Cookie(cookieName(r, name))
	if err != nil {
		return ""
	}
	return c.Value
}

// visitCookie tells one browser from another, so that a form of one is of no use to another. It says nothing about the
// user.
const visitCookie = "feedex_visit"

// ownCookie comes with what pages of ours begin, and with nothing that one of another site does, not even a link. It
// tells the two apart where the browser does not say who asks, as by http on a local network (RFC 6265bis §8.8.2).
const ownCookie = "feedex_own"

// visitBytes is how many random bytes a visit's cookie holds.
const visitBytes = 16

// newKey is a key that nobody knows.
func newKey() []byte {
	key := make([]byte, 32)
	rand.Read(key)
	return key
}

// visitOf is the id that tells the browser from others, "" where it is not known.
func visitOf(r *http.Request) string {
	if id := cookieOf(r, visitCookie); len(id) == 2*visitBytes {
		return id
	}
	return ""
}

// visitor returns the token of the browser that asks. One that is not known gets a cookie.
func (h *kit) visitor(w http.ResponseWriter, r *http.Request) string {
	id := visitOf(r)
	if id == "" {
		chance := make([]byte, visitBytes)
		rand.Read(chance)
		id = hex.EncodeToString(chance)
		http.SetCookie(w, cookie(r, visitCookie, id, 0))
	}
	if cookieOf(r, ownCookie) == "" {
		own := cookie(r, ownCookie, "1", 0)
		own.SameSite = http.SameSiteStrictMode
		http.SetCookie(w, own)
	}
	return h.token(id, r)
}

// token is the token that forms of a browser must bear, and of who has logged in there: a page that is open from before
// sends nothing in another's name.
func (h *kit) token(visit string, r *http.Request) string {
	mac := hmac.New(sha256.New, h.key)
	fmt.Fprintf(mac, "form\x00%s|%v", visit, viewerOf(r.Context()))
	return hex.EncodeToString(mac.Sum(nil))
}

// errToken is for a form that is not from a page of ours, or from one of a node that has been restarted since.
var errToken = clientError{http.StatusForbidden, "Please try again",
	"This form is too old, or came from another site. Nothing was changed. Go back, load the page anew and send it " +
		"once more."}

// authentic is errToken where a request comes from no form of ours. Those that pages of other sites send do not come so
// far.
func (h *kit) authentic(r *http.Request) error {
	if id := visitOf(r); id == "" || !hmac.Equal([]byte(r.PostFormValue("token")), []byte(h.token(id, r))) {
		return errToken
	}
	return nil
}

// linked reports whether the browser opens the page in a window of its own, as a link or a bookmark has it.
func linked(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

// errForeign is for what another site may not begin: it costs something, or tells what is looked for.
var errForeign = clientError{http.StatusForbidden, "Please begin here",
	"Another site sent you to a page that does something. Begin it here, if you want it."}

// own reports whether the request was begun on a page of ours: those of other sites bear no strict cookie, and browsers
// say where they come from.
func (h *kit) own(r *http.Request) error {
	if syncapi.Foreign(r) || visitOf(r) == "" || cookieOf(r, ownCookie) == "" {
		return errForeign
	}
	return nil
}

// Limits of a form. Anybody may send the one that logs in.
const (
	maxFormBytes = syncapi.StrangersBody
	maxFileBytes = 16<<20 + maxFormBytes // with a list of feeds
)

// change serves a form: what it asks for is done, and the browser sent on to a page that shows it.
func (h *kit) change(do func(http.ResponseWriter, *http.Request) (next string, err error)) http.HandlerFunc {
	return h.form(maxFormBytes, do)
}

// form serves a form of so many bytes at most.
func (h *kit) form(limit int64, do func(http.ResponseWriter, *http.Request) (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		err := r.ParseForm()
		if err == nil {
			err = r.ParseMultipartForm(limit)
		}
		if errors.Is(err, http.ErrNotMultipart) {
			err = nil
		}
		if r.MultipartForm != nil {
			defer r.MultipartForm.RemoveAll()
		}
		next := ""
		if err != nil {
			err = clientError{http.StatusBadRequest, "That form could not be read",
				"It is too large, or broken off. Nothing was changed."}
		} else if err = h.authentic(r); err == nil {
			next, err = do(w, r)
		}
		if err != nil {
			h.show(w, r, h.visitor(w, r), h.failure(r, err))
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	}
}

// feedOf is the number of the feed that a form is about.
func feedOf(r *http.Request) (int64, error) {
	number, err := strconv.ParseInt(r.PostFormValue("feed"), 10, 64)
	if err != nil {
		return 0, ErrNone
	}
	return number, nil
}
