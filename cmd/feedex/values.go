package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"feedex/archive"
	"feedex/daemon"
	"feedex/feed"
	"feedex/node"
	"feedex/polling"
)

// A rule says which texts a setting may hold.
type rule interface {
	check(text string) error
	want() string // an article, what it is and an example
	kind() string // one word for help texts
}

// A text is a setting that keeps to a rule, whichever way it was set: as a flag, in the environment or
// in the config file. Its zero value means that nothing was set.
type text[R rule] string

// check says what is wrong with the text.
func (t text[R]) check() error {
	var r R
	if err := r.check(string(t)); err != nil {
		return fmt.Errorf("%w: want %s", err, r.want())
	}
	return nil
}

// want says what the text may be.
func (t text[R]) want() string { var r R; return r.want() }

// Set implements pflag.Value.
func (t *text[R]) Set(s string) error {
	if err := text[R](s).check(); err != nil {
		return err
	}
	*t = text[R](s)
	return nil
}

// String implements pflag.Value.
func (t *text[R]) String() string { return string(*t) }

// Type implements pflag.Value.
func (t *text[R]) Type() string { var r R; return r.kind() }

// A namedValue is a flag of any text; kind is what help calls it.
type namedValue struct {
	text *string
	kind string
}

// Set implements pflag.Value.
func (v *namedValue) Set(s string) error { *v.text = s; return nil }

// String implements pflag.Value.
func (v *namedValue) String() string {
	if v.text == nil { // the zero value, which pflag makes to learn the default
		return ""
	}
	return *v.text
}

// Type implements pflag.Value.
func (v *namedValue) Type() string { return v.kind }

// A list is a flag that may be repeated. The first value replaces what the setting held.
type list[R rule] struct {
	items *[]text[R]
	begun bool
}

// Set implements pflag.Value.
func (l *list[R]) Set(s string) error {
	var t text[R]
	if err := t.Set(s); err != nil {
		return err
	}
	if !l.begun {
		*l.items, l.begun = nil, true
	}
	*l.items = append(*l.items, t)
	return nil
}

// String implements pflag.Value.
func (l *list[R]) String() string { return strings.Join(texts(*l.items), ",") }

// Type implements pflag.Value.
func (l *list[R]) Type() string { var r R; return r.kind() }

// GetSlice implements pflag.SliceValue, with Append and Replace.
func (l *list[R]) GetSlice() []string { return texts(*l.items) }

// Append adds to what is set.
func (l *list[R]) Append(s string) error { l.begun = true; return l.Set(s) }

// Replace sets all anew.
func (l *list[R]) Replace(all []string) error {
	l.begun = false
	for _, s := range all {
		if err := l.Set(s); err != nil {
			return err
		}
	}
	return nil
}

var _ pflag.SliceValue = (*list[hostRule])(nil)

// texts are the items as plain strings.
func texts[R rule](items []text[R]) []string {
	var out []string
	for _, t := range items {
		out = append(out, string(t))
	}
	return out
}

// What settings hold.
type (
	address   = text[addressRule]
	trackerAt = text[trackerRule]
	feedURL   = text[feedRule]
	wish      = text[wishRule]
	pageURL   = text[pageRule]
	peer      = text[peerRule]
	pushed    = text[pushRule]
	host      = text[hostRule]
	ownName   = text[ownNameRule]
	network   = text[networkRule]
	words     = text[wordsRule]
	span      = text[spanRule]
	moment    = text[momentRule]
	past      = text[pastRule]
	level     = text[levelRule]
	format    = text[formatRule]
	policy    = text[policyRule]
	askOthers = text[askOthersRule]
	proxyKind = text[proxyRule]
	size      = text[sizeRule]
	age       = text[ageRule]
)

// proxyRule is for what the node does as a proxy of feed readers.
type proxyRule struct{}

func (proxyRule) kind() string { return "choice" }
func (proxyRule) want() string { return `"off", "known" or "subscribe"` }
func (proxyRule) check(s string) error {
	return oneOf(s, string(daemon.ProxyOff), string(daemon.ProxyKnown), string(daemon.ProxySubscribe))
}

// addressRule is for addresses to listen at.
type addressRule struct{}

func (addressRule) kind() string { return "address" }
func (addressRule) want() string { return `an address such as ":7790" or "127.0.0.1:7790"` }
func (addressRule) check(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf("%q is no address", s)
	}
	return checkPort(s, port, 0)
}

// checkPort refuses ports that are no number from lowest on.
func checkPort(s, port string, lowest uint64) error {
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n < lowest {
		return fmt.Errorf("%q has no valid port", s)
	}
	return nil
}

// checkURLPort refuses the port of a URL, if it names one, that none can have.
func checkURLPort(s string, u *url.URL) error {
	if u.Port() == "" {
		return nil
	}
	return checkPort(s, u.Port(), 1)
}

type trackerRule struct{}

func (trackerRule) kind() string { return "URL" }
func (trackerRule) want() string {
	return `a tracker's URL such as "http://tracker.example.net:7788/"`
}
func (trackerRule) check(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("%q is no http or https URL", s)
	}
	return checkURLPort(s, u)
}

type feedRule struct{}

func (feedRule) kind() string { return "URL" }
func (feedRule) want() string { return `a feed's URL such as "https://example.com/feed.xml"` }
func (feedRule) check(s string) error {
	f, err := feed.ParseURL(s)
	if err != nil {
		return fmt.Errorf("%q is no feed URL", s)
	}
	u, err := url.Parse(string(f))
	if err != nil {
		return fmt.Errorf("%q is no feed URL", s)
	}
	return checkURLPort(s, u)
}

// pageRule is for a page that people are pointed to, or none.
type pageRule struct{}

func (pageRule) kind() string { return "URL" }
func (pageRule) want() string { return `a page's URL such as "https://example.com/about-my-node"` }
func (pageRule) check(s string) error {
	if s == "" {
		return nil
	}
	if _, err := feed.ParseURL(s); err != nil || strings.ContainsAny(s, "();") || len(s) > 200 {
		return fmt.Errorf("%q is no URL that fits in a user agent", s)
	}
	return nil
}

// feedURLs are the URLs in normal form.
func feedURLs(items []feedURL) []feed.URL {
	var out []feed.URL
	for _, t := range items {
		u, _ := feed.ParseURL(string(t)) // the rule has checked it
		out = append(out, u)
	}
	return out
}

// wishRule is for a feed to follow, with how it is to be followed in front.
type wishRule struct{}

func (wishRule) kind() string { return "URL" }
func (wishRule) want() string {
	return feedRule{}.want() + `, or one with "public:", "private:" or "discreet:" in front`
}
func (wishRule) check(s string) error {
	_, u := manner(s)
	return feedRule{}.check(u)
}

// manner is how a feed is to be followed, "" where nothing is said of it, and its URL.
func manner(s string) (how, u string) {
	for _, how := range []string{"public", "private", "discreet"} {
		if u, ok := strings.CutPrefix(s, how+":"); ok {
			return how, u
		}
	}
	return "", s
}

// wishes are the feeds of which nothing is said, and how the others are to be followed.
func wishes(items []wish) (plain []feed.URL, others []node.Subscribe) {
	yes, no := true, false
	for _, t := range items {
		how, raw := manner(string(t))
		u, _ := feed.ParseURL(raw) // the rule has checked it
		s := node.Subscribe{Feeds: []feed.URL{u}, Standing: true}
		switch how {
		case "public":
			s.Private = &no
		case "private":
			s.Private = &yes
		case "discreet":
			s.Discreet = &yes
		default:
			plain = append(plain, u)
			continue
		}
		others = append(others, s)
	}
	return plain, others
}

type peerRule struct{}

func (peerRule) kind() string { return "host:port" }
func (peerRule) want() string { return `a node's address such as "node.example.net:7790"` }
func (peerRule) check(s string) error {
	name, port, err := net.SplitHostPort(s)
	if err != nil || name == "" || strings.ContainsAny(name, "/@ ") {
		return fmt.Errorf("%q is no host and port", s)
	}
	return checkPort(s, port, 1)
}

// pushRule is for programs that are pushed what is new.
type pushRule struct{ peerRule }

func (pushRule) want() string { return `a program's address such as "127.0.0.1:8080"` }

type hostRule struct{}

func (hostRule) kind() string { return "host" }
func (hostRule) want() string {
	return `a host as feed URLs name it, such as "nas.local" or "192.168.1.9"`
}
func (hostRule) check(s string) error {
	if s == "" || strings.ContainsAny(s, "/@ ") || strings.Contains(s, ":") && !isAddr(s) {
		return fmt.Errorf("%q is no host name or address", s)
	}
	return nil
}

// ownNameRule is for names of the node's own.
type ownNameRule struct{ hostRule }

func (ownNameRule) want() string { return `a host name without a port, such as "nas.local"` }

func isAddr(s string) bool { _, err := netip.ParseAddr(s); return err == nil }

type networkRule struct{}

func (networkRule) kind() string { return "network" }
func (networkRule) want() string { return `an address or network such as "127.0.0.1" or "10.0.0.0/8"` }
func (networkRule) check(s string) error {
	_, err := parsePrefix(s)
	return err
}

// parsePrefix reads a network; a single address is one of one address.
func parsePrefix(s string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is no address or network", s)
	}
	return netip.PrefixFrom(a, a.BitLen()), nil
}

// prefixes are the networks.
func prefixes(items []network) []netip.Prefix {
	var out []netip.Prefix
	for _, t := range items {
		p, _ := parsePrefix(string(t)) // the rule has checked it
		out = append(out, p)
	}
	return out
}

// wordsRule is for what a query looks for.
type wordsRule struct{}

func (wordsRule) kind() string { return "words" }
func (wordsRule) want() string {
	return `a word or a number, such as election, emission* or "climate change"`
}
func (wordsRule) check(s string) error {
	if len(archive.Phrases([]string{s})) == 0 {
		return fmt.Errorf("%q holds nothing to search for", s)
	}
	return nil
}

type levelRule struct{}

func (levelRule) kind() string { return "level" }
func (levelRule) want() string { return `"debug", "info", "warn" or "error"` }
func (levelRule) check(s string) error {
	if new(slog.Level).UnmarshalText([]byte(s)) != nil {
		return fmt.Errorf("%q is no log level", s)
	}
	return nil
}

type formatRule struct{}

func (formatRule) kind() string         { return "format" }
func (formatRule) want() string         { return `"text" or "json"` }
func (formatRule) check(s string) error { return oneOf(s, "text", "json") }

type policyRule struct{}

func (policyRule) kind() string { return "policy" }
func (policyRule) want() string {
	return `"auto", "feedex", "fixed", "fix-learned", "moving-average" or "post-rate"`
}
func (policyRule) check(s string) error {
	return oneOf(s, polling.Names()...)
}

func oneOf(s string, words ...string) error {
	if !slices.Contains(words, s) {
		return fmt.Errorf("%q is none of the choices", s)
	}
	return nil
}
