package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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

// user is the name of the password that the browser has shown, "" for none. One that is a reader's opens no session.
func (h *Handler) user(r *http.Request) (string, error) {
	parts := strings.Split(cookieOf(r, sessionCookie), "|")
	if len(parts) != 3 {
		return "", nil
	}
	name, ends, code := parts[0], parts[1], parts[2]
	end, err := strconv.ParseInt(ends, 10, 64)
	if err != nil || !h.Now().Before(time.Unix(end, 0)) {
		return "", nil
	}
	list, err := h.Source.Passwords(r.Context())
	if err != nil {
		return "", err
	}
	for i := range list {
		if list[i].Name == name && list[i].Scope == reading.OwnerScope &&
			hmac.Equal([]byte(code), []byte(sessionCode(&list[i], name+"|"+ends))) {
			return name, nil
		}
	}
	return "", nil
}

// LoggedIn reports whether the browser has logged in.
func (h *Handler) LoggedIn(r *http.Request) bool {
	name, err := h.user(r)
	return err == nil && name != ""
}

// userKey is where the name of the user is in the context of a request.
type userKey struct{}

// loggedIn reports whether the browser has shown an owner's password. Only then does it see feeds whose URL is a
// secret, and passwords: other users of the machine can open the pages too.
func loggedIn(ctx context.Context) bool { return userOf(ctx) != "" }

func userOf(ctx context.Context) string {
	name, _ := ctx.Value(userKey{}).(string)
	return name
}

// admit finds out which user asks. Where a login is required it answers browsers that have not logged in.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	name, err := h.user(r)
	switch {
	case err != nil:
		h.Log.Error("passwords not read", "err", err)
		http.Error(w, "The node could not read its archive. Its log says why.", http.StatusInternalServerError)
		return r, false
	case name != "":
		return r.WithContext(context.WithValue(r.Context(), userKey{}, name)), true
	case !h.Login(r), r.URL.Path == "/login", r.URL.Path == offlinePath, r.URL.Path == workerPath,
		strings.HasPrefix(r.URL.Path, "/assets/"),
		strings.HasPrefix(r.URL.Path, reading.IconPath):
		return r, true
	case r.Method == http.MethodGet && r.URL.Path != "/live" && r.URL.Path != "/search/network":
		http.Redirect(w, r, "/login?"+url.Values{"next": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
	default:
		http.Error(w, "Log in first.", http.StatusUnauthorized)
	}
	return r, false
}

// loginPage asks for a password.
type loginPage struct {
	Next     string
	User     string // that has logged in already
	Required bool
	Wrong    bool // the password is none
	Reader   bool // the password is a reader's
}

func (h *Handler) loginPage(r *http.Request) (view, error) {
	return view{Page: "login", Title: "Log in", Body: loginPage{Next: local(r.FormValue("next")),
		User: userOf(r.Context()), Required: h.Login(r), Wrong: r.FormValue("wrong") == "1",
		Reader: r.FormValue("wrong") == "reader"}}, nil
}

// login begins a session, where the password is one of an owner's.
func (h *Handler) login(w http.ResponseWriter, r *http.Request) (string, error) {
	next := local(r.PostFormValue("next"))
	visitor, err := h.Source.Visitor(r.Context(), r.PostFormValue("password"))
	if err != nil {
		return "", err
	}
	name := visitor.Name
	wrong := func(how string) string { return "/login?" + url.Values{"next": {next}, "wrong": {how}}.Encode() }
	if name == "" {
		return wrong("1"), nil
	}
	list, err := h.Source.Passwords(r.Context())
	if err != nil {
		return "", err
	}
	for i := range list {
		switch {
		case list[i].Name != name:
		case list[i].Scope != reading.OwnerScope:
			return wrong("reader"), nil
		default:
			http.SetCookie(w, cookie(r, sessionCookie, session(&list[i], h.Now().Add(sessionTime)),
				int(sessionTime/time.Second)))
		}
	}
	return next, nil
}

// logout ends the session, and all others that were begun by the same password: of its cookies there may be copies.
func (h *Handler) logout(w http.ResponseWriter, r *http.Request) (string, error) {
	if name := userOf(r.Context()); name != "" {
		if err := h.Source.EndSessions(r.Context(), name); err != nil {
			return "", err
		}
	}
	for _, name := range []string{sessionCookie, visitCookie} {
		http.SetCookie(w, cookie(r, name, "", -1))
	}
	return "/login", nil
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
