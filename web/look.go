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

// A pageStyle is how pages look in one browser.
type pageStyle struct {
	Theme string // "light", "dark", or "" for that of the system
	Text  string // its size: "small", "large", "larger", or "" for that of the browser
}

// Themes and Sizes are the choices, by the Path that names them.
func (pageStyle) Themes() []section {
	return []section{{"", "automatic"}, {"light", "light"}, {"dark", "dark"}}
}

func (pageStyle) Sizes() []section {
	return []section{{"small", "small"}, {"", "usual"}, {"large", "large"}, {"larger", "larger"}}
}

// Scheme is which of its own colors the browser may use.
func (s pageStyle) Scheme() string {
	if s.Theme == "" {
		return "light dark"
	}
	return s.Theme
}

// newPageStyle is one that has nothing but what there is to choose.
func newPageStyle(theme, text string) (s pageStyle) {
	is := func(name string) func(section) bool { return func(c section) bool { return c.Path == name } }
	if slices.ContainsFunc(s.Themes(), is(theme)) {
		s.Theme = theme
	}
	if slices.ContainsFunc(s.Sizes(), is(text)) {
		s.Text = text
	}
	return s
}

// lookOf is the look of the browser that asks.
func lookOf(r *http.Request) pageStyle {
	theme, text, _ := strings.Cut(cookieOf(r, lookCookie), ".")
	return newPageStyle(theme, text)
}

// setLook has pages look in this browser as a form says.
func (h *kit) setLook(w http.ResponseWriter, r *http.Request) (string, error) {
	s := newPageStyle(r.PostFormValue("theme"), r.PostFormValue("text"))
	http.SetCookie(w, cookie(r, lookCookie, s.Theme+"."+s.Text, lookAge))
	return "/settings#look", nil
}
