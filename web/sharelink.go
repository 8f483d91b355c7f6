package web

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

// shareCookie keeps, for one browser, a link by which another site takes an entry.
const shareCookie = "feedex_share"

// maxShareLink is how long such a link may be, in bytes: browsers keep cookies of 4 KB.
const maxShareLink = 1000

// A shareLink is the address of a page that takes an entry, with {url} and {title} where these are to stand; "" for
// none.
type shareLink string

// shareLinkOf is that of the browser that asks.
func shareLinkOf(r *http.Request) shareLink {
	text, err := base64.RawURLEncoding.DecodeString(cookieOf(r, shareCookie))
	if l := shareLink(text); err == nil && l.valid() {
		return l
	}
	return ""
}

// valid reports whether entries can be taken there: it is on the web, whatever an entry says.
func (l shareLink) valid() bool {
	u, err := url.Parse(string(l))
	return err == nil && webLink(string(l)) != "" && u.Host != "" && !strings.Contains(u.Host, "{") &&
		strings.Contains(string(l), "{url}") && len(l) <= maxShareLink
}

// Host is the name of the site.
func (l shareLink) Host() string {
	u, err := url.Parse(string(l))
	if err != nil {
		return ""
	}
	return u.Host
}

// of is the address for one entry, "" where there is none.
func (l shareLink) of(link, title string) string {
	if l == "" || link == "" {
		return ""
	}
	return strings.NewReplacer("{url}", url.QueryEscape(link), "{title}", url.QueryEscape(title)).Replace(string(l))
}

// setShareLink keeps the link that a form names, or none.
func (h *kit) setShareLink(w http.ResponseWriter, r *http.Request) (string, error) {
	l := shareLink(strings.TrimSpace(r.PostFormValue("link")))
	if l != "" && !l.valid() {
		return "", clientError{http.StatusBadRequest, "That cannot be a link for sharing",
			"It is an address such as https://example.com/?url={url}&title={title}, and {url} stands in it, behind " +
				"the host. Nothing was changed."}
	}
	age := lookAge
	if l == "" {
		age = -1
	}
	http.SetCookie(w, cookie(r, shareCookie, base64.RawURLEncoding.EncodeToString([]byte(l)), age))
	return "/settings#sharing", nil
}
