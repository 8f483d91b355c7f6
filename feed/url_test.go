package feed_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"feedex/feed"
)

func TestParseURL(t *testing.T) {
	for raw, want := range map[string]feed.URL{
		"http://example.com":                       "http://example.com/",
		"http://example.com/":                      "http://example.com/",
		"  https://example.com/feed\n":             "https://example.com/feed",
		"HTTP://EXAMPLE.com/Feed.XML":              "http://example.com/Feed.XML",
		"http://example.com:80/a":                  "http://example.com/a",
		"https://example.com:443/a":                "https://example.com/a",
		"https://example.com:80/a":                 "https://example.com:80/a",
		"http://example.com:/a":                    "http://example.com/a",
		"http://example.com?x=1":                   "http://example.com/?x=1",
		"http://example.com/a?b=/c#d":              "http://example.com/a?b=/c",
		"http://example.com/a%2fb/%7Ec/../d//e":    "http://example.com/a%2fb/%7Ec/../d//e",
		"http://example.com/?b=2&a=1&utm_source=x": "http://example.com/?b=2&a=1&utm_source=x",
		"feed:https://example.com/a":               "https://example.com/a",
		"feed://example.com/a":                     "http://example.com/a",
		"http://[2001:DB8::1]:80/a":                "http://[2001:db8::1]/a",
		"http://[2001:db8::1]:8080":                "http://[2001:db8::1]:8080/",
		"http://Ann:p%40ss@example.com/a":          "http://Ann:p%40ss@example.com/a",
		"http://bücher.example/ä":                  "http://bücher.example/ä",
	} {
		got, err := feed.ParseURL(raw)
		if err != nil || got != want {
			t.Errorf("ParseURL(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{
		"", "   ", "example.com/feed", "/feed", "//example.com/feed", "ftp://example.com/", "file:///etc/passwd",
		"javascript:alert(1)", "http:", "http://", "http:///feed", "http:example.com", "https:///", "feed:", "feed:/x",
		"http://exa mple.com/", "http://example.com/a b", "http://example.com/\x00", "http://example.com/a\nb",
		"http://example.com/<a>", "http://example.com/\"", "http://example.com:port/", "http://[::1/", "http://%zz/",
		"http://example.com/%zz", "http://example.com/" + strings.Repeat("a", feed.MaxURLBytes),
		"http://example.com/\xff", "http://example.com:0/", "http://example.com:65536/", "http://[fe80::1%25eth0]/",
	} {
		if got, err := feed.ParseURL(raw); !errors.Is(err, feed.ErrURL) || got != "" {
			t.Errorf("ParseURL(%q) = %q, %v, want an ErrURL", raw, got, err)
		}
	}
}

// Addresses that people type are taken as browsers take them.
func TestParseTyped(t *testing.T) {
	for raw, want := range map[string]feed.URL{
		" example.com ":             "https://example.com/",
		"Example.com/Feed?x=1":      "https://example.com/Feed?x=1",
		"example.com:8080/feed":     "https://example.com:8080/feed",
		"192.0.2.1:8080":            "https://192.0.2.1:8080/",
		"bücher.example":            "https://bücher.example/",
		"http://example.com/feed":   "http://example.com/feed",
		"feed://example.com/feed":   "http://example.com/feed",
		"feed:https://example.com/": "https://example.com/",
	} {
		tries := []feed.URL{want}
		if !strings.Contains(raw, ":/") {
			tries = append(tries, "http"+feed.URL(strings.TrimPrefix(string(want), "https")))
		}
		if got, err := feed.ParseTyped(raw); err != nil || !slices.Equal(got, tries) {
			t.Errorf("ParseTyped(%q) = %q, %v, want %q", raw, got, err, tries)
		}
	}
	for _, raw := range []string{
		"", "news", "localhost:8080", "/feed.xml", "./feed.xml", "../feed", "//example.com/", "mailto:ann@example.com",
		"ann@example.com",
		"http:example.com", "feed:example.com", "javascript:alert(1.5)", "ftp://example.com/", "example.com/a b",
		"example.com:feed",
	} {
		if got, err := feed.ParseTyped(raw); !errors.Is(err, feed.ErrURL) || got != nil {
			t.Errorf("ParseTyped(%q) = %q, %v, want an ErrURL", raw, got, err)
		}
	}
	for _, raw := range []string{"news", "localhost:8080/feed", "192.0.2.1:port/feed", "[::1]:80/feed"} {
		if _, err := feed.ParseTyped(raw); err == nil ||
			!strings.HasSuffix(err.Error(), ": want http:// or https:// in front") {
			t.Errorf("ParseTyped(%q): %v, which does not say what to do", raw, err)
		}
	}
}

func TestURLSecret(t *testing.T) {
	for u, want := range map[feed.URL]bool{
		"http://example.com/feed":                                                        false,
		"http://example.com/feed?page=2&format=rss":                                      false,
		"http://example.com/token/feed":                                                  false,
		"http://example.com/?keys=1&monkey=2":                                            false,
		"http://ann@example.com/":                                                        true,
		"http://ann:word@example.com/":                                                   true,
		"http://:@example.com/":                                                          true,
		"http://example.com/?token=1":                                                    true,
		"http://example.com/?a=1&API_KEY=2":                                              true,
		"http://example.com/?a=1;token=2":                                                true,
		"http://example.com/?%74oken=2":                                                  true,
		"http://example.com/?a=%zz&auth":                                                 true,
		"http://example.com/?sig=a&b=c":                                                  true,
		"http://example.com/private.rss?feed_token=abc":                                  true,
		"http://example.com/?rssToken=abc":                                               true,
		"http://example.com/?feed-key=abc":                                               true,
		"http://example.com/?os_password=abc":                                            true,
		"http://example.com/.rss?user=ann&feed=0123456789abcdef0123456789ABCDEF01234567": true,
		"http://example.com/?id=0123456789":                                              false,
		"http://example.com/rss/secret:0123456789/u:ann/":                                true,
		"http://example.com/shows/7/private/feed-of-ann.rss":                             true,
		"http://example.com/private.rss":                                                 false,
		"http://example.com/content/eyJhbGciOiJIUzI1NiJ9.e30.c2ln.rss":                   true,
		"http://%zz": true,
	} {
		if got := u.Secret(); got != want {
			t.Errorf("URL(%q).Secret() = %v", u, got)
		}
	}
}

func TestURLLocal(t *testing.T) {
	for u, want := range map[feed.URL]bool{
		"http://example.com/":            false,
		"http://example.com./":           false,
		"http://local.example.com/":      false,
		"http://mylocal/":                true,
		"http://1.1.1.1/":                false,
		"http://[2606:4700::1111]/":      false,
		"http://localhost/":              true,
		"http://localhost:8080/":         true,
		"http://feeds.localhost/":        true,
		"http://127.0.0.1/":              true,
		"http://127.1/":                  true,
		"http://0x7f.1/":                 true,
		"http://2130706433/":             true,
		"http://0177.0.0.1/":             true,
		"http://10.1.2.3/":               true,
		"http://169.254.169.254/":        true,
		"http://[::1]/":                  true,
		"http://[::ffff:10.0.0.1]/":      true,
		"http://[fe80::1%25eth0]/":       true,
		"http://printer.local/":          true,
		"http://printer.local./":         true,
		"http://nas.lan/":                true,
		"http://router.home.arpa/":       true,
		"http://wiki.corp/":              true,
		"http://metadata.internal/":      true,
		"http://abcdefghijklmnop.onion/": true,
		"":                               true,
	} {
		if got := u.Local(); got != want {
			t.Errorf("URL(%q).Local() = %v", u, got)
		}
	}
}

// Parsing a URL that was parsed changes nothing, so that it is one key.
func TestParseURLIdempotent(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"http", "https", "feed", "FTP", ":", "//", "/", "?", "#", "@", "&", "=", "%41", "%", ".", "..", ";", ":80",
		":443", ":8080",
		":99999", "[fe80::1%25eth0]",
		"example.com", "EXAMPLE.org", "[::1]", "[2001:DB8::1]", "ann", "ä", "a", "\\", "+", " ",
	})
	rapid.Check(t, func(t *rapid.T) {
		raw := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
		if rapid.Bool().Draw(t, "absolute") {
			raw = "http://" + raw
		}
		once, err := feed.ParseURL(raw)
		if err != nil {
			return
		}
		twice, err := feed.ParseURL(string(once))
		if err != nil || twice != once {
			t.Fatalf("ParseURL(%q) = %q, and of that %q, %v", raw, once, twice, err)
		}
	})
}

// Where a URL is told from others at sight, parsing says the same.
func TestHostIsThatOfParsing(t *testing.T) {
	piece := rapid.SampledFrom([]string{"http://", "https://", "example.com", "a-b.example.org", "127.1", "/", "//",
		"/feed.xml", "/A_b~c", ".", "%41", "%zz", "?", "?a=1",
		"@", ":", ":8080", "[::1]", "#", "é", "A", " ", "\x01"})
	rapid.Check(t, func(t *rapid.T) {
		u := feed.URL(strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), ""))
		host, credentials := "", false
		p, err := url.Parse(string(u))
		if err == nil {
			host, credentials = p.Hostname(), p.User != nil
		}
		if s, _ := u.Secrecy(); u.Host() != host || credentials && s != feed.Credentials || err != nil &&
			s == feed.Open {
			t.Errorf("%q is of %q, %v; want %q, credentials %v, %v", u, u.Host(), s, host, credentials, err)
		}
	})
}
