package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedex/reading"
)

const (
	// sessionCookie is by what a browser is known that has shown a password: its name, when the session ends in Unix
	// seconds, and a code that only the password's hash makes of both and of its epoch. So a session outlives a restart
	// of the node, and ends with the password or its epoch.
	sessionCookie = "feedex_session"
	// sessionTime is how long a session lasts.
	sessionTime = 30 * 24 * time.Hour
)

// session is the value of the cookie.
func session(p *reading.Password, ends time.Time) string {
	value := p.Name + "|" + strconv.FormatInt(ends.Unix(), 10)
	return value + "|" + sessionCode(p, value)
}

func sessionCode(p *reading.Password, value string) string {
	mac := hmac.New(sha256.New, p.Hash[:])
	mac.Write([]byte("feedex session\x00" + value + "|" + strconv.FormatInt(p.Epoch, 10)))
	return hex.EncodeToString(mac.Sum(nil))
}

// A viewer is who asks for a page. The zero viewer has not logged in where that is required.
type viewer struct {
	Person reading.PersonID // whose pages these are
	Scope  reading.Scope
	Name   string // of the password that was shown, "" for none
}

// settles reports whether more is open to them than what is read: the passwords of their readers, and to the owner all
// that is the node's.
func (c viewer) settles() bool { return c.Scope == reading.OwnerScope }

// owns reports whether what is the owner's is open to them.
func (c viewer) owns() bool { return c.settles() && c.Person == reading.Owner }

// String tells one viewer from another.
func (c viewer) String() string { return strings.TrimSpace(fmt.Sprintln(c.Person, c.Scope, c.Name)) }

// viewer is who asks, as the browser's session says; without one it is the owner where no login is required.
func (h *Handler) viewer(r *http.Request) (c viewer, err error) {
	if !h.Login(r) {
		c = viewer{Person: reading.Owner, Scope: reading.OwnerScope}
	}
	parts := strings.Split(cookieOf(r, sessionCookie), "|")
	if len(parts) != 3 {
		return c, nil
	}
	name, ends, code := parts[0], parts[1], parts[2]
	end, err := strconv.ParseInt(ends, 10, 64)
	if err != nil || !h.Now().Before(time.Unix(end, 0)) {
		return c, nil
	}
	list, err := h.Source.Passwords(r.Context())
	if err != nil {
		return c, err
	}
	for i := range list {
		if p := &list[i]; p.Name == name && hmac.Equal([]byte(code), []byte(sessionCode(p, name+"|"+ends))) {
			return viewer{p.Person, p.Scope, name}, nil
		}
	}
	return c, nil
}

// LoggedIn reports whether the browser has shown an owner's password.
func (h *Handler) LoggedIn(r *http.Request) bool {
	c, err := h.viewer(r)
	return err == nil && c.owns() && c.Name != ""
}

// viewerKey is where the viewer is in the context of a request.
type viewerKey struct{}

func viewerOf(ctx context.Context) viewer {
	c, _ := ctx.Value(viewerKey{}).(viewer)
	return c
}

// loggedIn reports whether the browser has shown a password. Only then does it see feeds whose URL is a secret, and the
// owner passwords: other users of the machine can open the pages too.
func loggedIn(ctx context.Context) bool { return userOf(ctx) != "" }

func userOf(ctx context.Context) string { return viewerOf(ctx).Name }

// loginPage asks for a password.
type loginPage struct {
	Next     string
	Required bool
	Wrong    bool // the password is none
}

func (h *Handler) loginPage(r *http.Request) (view, error) {
	return view{Page: "login", Title: "Log in", Body: loginPage{Next: local(r.FormValue("next")),
		Required: h.Login(r), Wrong: r.FormValue("wrong") == "1"}}, nil
}

// login begins a session, of whoever's password was shown.
func (h *Handler) login(w http.ResponseWriter, r *http.Request) (string, error) {
	next := local(r.PostFormValue("next"))
	visitor, err := h.Source.Visitor(r.Context(), r.PostFormValue("password"))
	if err != nil {
		return "", err
	}
	if visitor.Name == "" {
		return loginFor(next, "1"), nil
	}
	list, err := h.Source.Passwords(r.Context())
	if err != nil {
		return "", err
	}
	for i := range list {
		if list[i].Name == visitor.Name {
			forget(w)
			http.SetCookie(w, cookie(r, sessionCookie, session(&list[i], h.Now().Add(sessionTime)),
				int(sessionTime/time.Second)))
		}
	}
	return next, nil
}

// forget has the browser forget what it may show again, as pictures, to who reads there next.
func forget(w http.ResponseWriter) { w.Header().Set("Clear-Site-Data", `"cache"`) }

// loginFor is the page that asks for a password and leads on, having said that the last one was wrong where it was.
func loginFor(next, wrong string) string {
	return "/login?" + strings.TrimSuffix(queryOf("next", next, "wrong", wrong), "&")
}

// logout ends the session, and all others that were begun by the same password: of its cookies there may be copies.
func (h *Handler) logout(w http.ResponseWriter, r *http.Request) (string, error) {
	if name := userOf(r.Context()); name != "" {
		if err := h.Source.EndSessions(r.Context(), name); err != nil {
			return "", err
		}
	}
	forget(w)
	for _, name := range []string{sessionCookie, visitCookie} {
		http.SetCookie(w, cookie(r, name, "", -1))
	}
	return "/login", nil
}

// withQuery is an address with another query; one that is none stays as it is.
func withQuery(address string, change func(url.Values)) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	q := u.Query()
	change(q)
	u.RawQuery = q.Encode()
	return u.String()
}

// local is the path of a page of ours, the home page for anything else.
func local(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(raw, "/") || strings.HasPrefix(raw, "//") ||
		strings.Contains(raw, `\`) {
		return "/"
	}
	if u.Fragment != "" {
		return u.RequestURI() + "#" + u.EscapedFragment()
	}
	return u.RequestURI()
}
