package web

import (
	"net/http"
	"slices"
	"strings"
)

// lookCookie keeps how pages look in one browser. It outlives a session: it tells nothing, and a screen stays as it is.
const lookCookie = "feedex_look"

// lookAge is for how long, in seconds, which is as long as browsers keep a cookie (RFC 6265bis §5.5).
const lookAge = 400 * 24 * 60 * 60

// A look is how pages look in one browser.
type look struct {
	Theme string // "light", "dark", or "" for that of the system
	Text  string // its size: "small", "large", "larger", or "" for that of the browser
}

// Themes and Sizes are the choices, by the Path that names them.
func (look) Themes() []section {
	return []section{{"", "as the system has it"}, {"light", "light"}, {"dark", "dark"}}
}

func (look) Sizes() []section {
	return []section{{"small", "small"}, {"", "usual"}, {"large", "large"}, {"larger", "larger"}}
}

// Scheme is which of its own colors the browser may use.
func (l look) Scheme() string {
	if l.Theme == "" {
		return "light dark"
	}
	return l.Theme
}

// newLook is a look that has nothing but what there is to choose.
func newLook(theme, text string) (l look) {
	is := func(name string) func(section) bool { return func(s section) bool { return s.Path == name } }
	if slices.ContainsFunc(l.Themes(), is(theme)) {
		l.Theme = theme
	}
	if slices.ContainsFunc(l.Sizes(), is(text)) {
		l.Text = text
	}
	return l
}

// lookOf is the look of the browser that asks.
func lookOf(r *http.Request) look {
	theme, text, _ := strings.Cut(cookieOf(r, lookCookie), ".")
	return newLook(theme, text)
}

// setLook has pages look in this browser as a form says.
func (h *Handler) setLook(w http.ResponseWriter, r *http.Request) (string, error) {
	l := newLook(r.PostFormValue("theme"), r.PostFormValue("text"))
	http.SetCookie(w, cookie(r, lookCookie, l.Theme+"."+l.Text, lookAge))
	return "/settings#look", nil
}
