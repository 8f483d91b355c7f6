package discover

import (
	"net/url"
	"strings"
)

// header returns the links of one Link header (RFC 8288 §3) that lead to something. Text that it cannot read ends it.
func header(page *url.URL, value string) (links []pageLink) {
	for n := 0; n < maxNamed; n++ {
		value = strings.TrimLeft(value, " \t,")
		rest, ok := strings.CutPrefix(value, "<")
		if !ok {
			return links
		}
		href, rest, ok := strings.Cut(rest, ">")
		if !ok {
			return links
		}
		l := pageLink{base: page, href: href}
		value = l.parameters(rest)
		if l.strength() > 0 {
			links = append(links, l)
		}
	}
	return links
}

// parameters reads those of a link, and returns what stands behind them. The first of a name counts (§3.3).
func (l *pageLink) parameters(s string) (rest string) {
	for {
		s = strings.TrimLeft(s, " \t")
		if !strings.HasPrefix(s, ";") {
			return s
		}
		s = strings.TrimLeft(s[1:], " \t;")
		end := strings.IndexAny(s, "=;,")
		if end < 0 {
			return ""
		}
		name, value := strings.ToLower(strings.TrimSpace(s[:end])), ""
		if s = s[end:]; s[0] == '=' {
			value, s = parameterValue(strings.TrimLeft(s[1:], " \t"))
		}
		switch {
		case name == "rel" && l.rel == "":
			l.rel = value
		case name == "type" && l.mediaType == "":
			l.mediaType = value
		case name == "title" && l.title == "":
			l.title = value
		case name == "anchor":
			l.elsewhere = true
		}
	}
}

// parameterValue reads a token or a quoted string, and returns what stands behind it.
func parameterValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ";,")
		if end < 0 {
			end = len(s)
		}
		return strings.TrimSpace(s[:end]), s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:]
		case '\\':
			if i++; i == len(s) {
				return b.String(), ""
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}
