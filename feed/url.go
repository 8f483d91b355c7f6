package feed

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// MaxURLBytes is the longest feed URL that feedex accepts, in bytes.
const MaxURLBytes = 2048

// ErrURL is wrapped by every error of ParseURL.
var ErrURL = errors.New("not a feed URL")

// A URL names a feed: an absolute http or https URL in normal form. Make one with ParseURL; the zero
// value names no feed. Equal feeds have equal URLs, so a URL may be compared and used as a map key.
//
// Paper §3: "A feed is identified by the URL with which it is associated."
type URL string

// ParseURL brings raw into normal form: the scheme and host in lower case, a default port and the
// fragment dropped, an empty path written "/". Nothing else is touched, because servers may tell
// apart what looks alike. The pseudo scheme "feed:" that browsers hand over is removed.
func ParseURL(raw string) (URL, error) {
	s := strings.TrimSpace(raw)
	if rest, ok := strings.CutPrefix(s, "feed:"); ok {
		s = rest
		if strings.HasPrefix(s, "//") {
			s = "http:" + s
		}
	}
	if len(s) > MaxURLBytes {
		return "", fmt.Errorf("%w: longer than %d bytes", ErrURL, MaxURLBytes)
	}
	if s != Clean(s) || strings.ContainsAny(s, " \t\r\n<>\"") {
		return "", fmt.Errorf("%w: %q: holds a blank or a control character", ErrURL, raw)
	}
	u, err := url.Parse(s)
	if err != nil && !strings.Contains(s, "://") {
		u, err = new(url.URL), nil // whatever else is wrong with it, that comes first
	}
	if err != nil {
		return "", fmt.Errorf("%w: %q: %v", ErrURL, raw, errors.Unwrap(err))
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%w: %q: want http:// or https:// in front", ErrURL, raw)
	}
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16)
	switch {
	case u.Hostname() == "":
		return "", fmt.Errorf("%w: %q: has no host", ErrURL, raw)
	case strings.Contains(u.Hostname(), "%"): // as in an address of one of this machine's links alone
		return "", fmt.Errorf("%w: %q: its host holds a %%", ErrURL, raw)
	case err != nil || port == 0:
		return "", fmt.Errorf("%w: %q: its port is not from 1 to 65535", ErrURL, raw)
	}
	return URL(u.Scheme + "://" + normalHost(u) + afterHost(s)), nil
}

// ParseTyped is ParseURL for what a person typed, who may leave out https:// or http:// in front of a name or an
// address: it is then to be tried by both, in the order of the list.
func ParseTyped(raw string) (tries []URL, err error) {
	s := strings.TrimSpace(raw)
	host, _, _ := strings.Cut(s, "/")
	name, port, _ := strings.Cut(host, ":")
	schemes := []string{""}
	if strings.Contains(strings.Trim(name, "."), ".") && !strings.Contains(host, "@") &&
		strings.Trim(port, "0123456789") == "" {
		schemes = []string{"https://", "http://"}
	}
	for _, scheme := range schemes {
		u, err := ParseURL(scheme + s)
		if err != nil {
			return nil, err
		}
		tries = append(tries, u)
	}
	return tries, nil
}

// normalHost is the userinfo, host and port of u in normal form.
func normalHost(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := u.Port()
	if port != "" && !(u.Scheme == "http" && port == "80") && !(u.Scheme == "https" && port == "443") {
		host += ":" + port
	}
	if u.User != nil {
		host = u.User.String() + "@" + host
	}
	return host
}

// afterHost is the path and query of the absolute URL s, byte for byte.
func afterHost(s string) string {
	s = s[strings.Index(s, "://")+3:]
	s, _, _ = strings.Cut(s, "#")
	i := strings.IndexAny(s, "/?")
	if i < 0 {
		return "/"
	}
	if s[i] == '?' {
		return "/" + s[i:]
	}
	return s[i:]
}

// plain is the host of a URL that is nothing but a host and a path of letters, digits and "-._~/", as most are:
// what takes parsing to be told of others is plain to see.
func (u URL) plain() (host string, ok bool) {
	rest, ok := strings.CutPrefix(string(u), "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(string(u), "http://"); !ok {
			return "", false
		}
	}
	for i := range len(rest) {
		c := rest[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '.', c == '-':
		case c == '/' && i > 0:
			if host == "" {
				host = rest[:i]
			}
		case host != "" && ('A' <= c && c <= 'Z' || c == '_' || c == '~'):
		default:
			return "", false
		}
	}
	return host, host != ""
}

// Host is the host of the feed's URL without its port, as written; "" for the zero URL.
func (u URL) Host() string {
	if host, ok := u.plain(); ok {
		return host
	}
	p, err := url.Parse(string(u))
	if err != nil {
		return ""
	}
	return p.Hostname()
}

// HostName is the name of a host as hosts are compared: in lower case, without the dot at its end that stands for the
// root of all names, and an IPv6 address without brackets.
func HostName(host string) string {
	return strings.ToLower(strings.Trim(strings.TrimSuffix(host, "."), "[]"))
}

// SameButSpelling reports whether two addresses are the same path of the same site, by http or https, with or without
// "www." in front and a slash at the end.
func SameButSpelling(a, b *url.URL) bool {
	path := func(u *url.URL) string { return strings.TrimSuffix(u.EscapedPath(), "/") + "?" + u.RawQuery }
	return SiteOf(a.Hostname()) == SiteOf(b.Hostname()) && a.Port() == b.Port() && path(a) == path(b)
}

// SiteOf is a host without the "www." that one name of a site has and another has not.
func SiteOf(host string) string { return strings.TrimPrefix(HostName(host), "www.") }

// Local reports whether the URL's host is on this machine or a private network as far as its text
// tells: an address that is not public, a name without a dot, or a name that never leaves a local
// network (RFC 6761, RFC 6762, RFC 8375). A public name that resolves to a private address is found
// out only when it is dialled.
func (u URL) Local() bool {
	host := strings.TrimSuffix(u.Host(), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		return !PublicAddr(addr)
	}
	if !strings.Contains(host, ".") {
		return true
	}
	// inet_aton reads "127.1" and "0x7f.1" as addresses; no public name ends in a number.
	if last := host[strings.LastIndexByte(host, '.')+1:]; last == "" || (last[0] >= '0' && last[0] <= '9') {
		return true
	}
	for _, suffix := range []string{".localhost", ".local", ".internal", ".lan", ".home", ".home.arpa", ".corp",
		".test", ".onion"} {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}
