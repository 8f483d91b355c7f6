package settings

import (
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/daemon"
	"feedex/feed"
	"feedex/internal/when"
	"feedex/node"
	"feedex/polling"
)

// A Kind says which texts a setting may hold, whichever way it is set: as a flag, in the environment or in the config
// file. Commands have flags of these kinds too. The empty text means that nothing was set.
type Kind struct {
	name string // one word for help texts
	want string // an article, what it is and an example
	read func(text string) error
}

// Kinds of values that settings and flags may hold.
var (
	File      = &Kind{"file", "a text in quotes", anything}
	Directory = &Kind{"directory", "a text in quotes", anything}
	Listener  = &Kind{"address", `an address such as ":7790" or "127.0.0.1:7790", or "none"`, checkListener}
	Address   = &Kind{"address", `an address such as ":7790" or "127.0.0.1:7790"`, checkAddress}
	// trackerListener is where a tracker listens, which is of no use where nobody can reach it.
	trackerListener = &Kind{"address", `an address such as ":7788" or "127.0.0.1:7788"`, checkAddress}
	OwnName         = &Kind{"host", `a host name without a port, such as "nas.local"`, checkHost}
	Host            = &Kind{"host", `a host as feed URLs name it, such as "nas.local" or "192.168.1.9"`, checkHost}
	Peer            = &Kind{"host", `a node's address such as "node.example.net:7790", ` +
		`or a site such as "example.org"`, checkSource("node", false)}
	Program    = &Kind{"host:port", `a program's address such as "127.0.0.1:8080"`, checkProgram}
	Network    = &Kind{"network", `an address or network such as "127.0.0.1" or "10.0.0.0/8"`, parsedBy(parsePrefix)}
	TrackerURL = &Kind{"URL", `a tracker's URL such as "http://tracker.example.net:7788/"`,
		checkSource("tracker", true)}
	FeedURL  = &Kind{"URL", `a feed's URL such as "https://example.com/feed.xml"`, checkFeedURL}
	TypedURL = &Kind{"URL", FeedURL.want, parsedBy(feed.ParseTyped)} // https:// may be left out
	Wish     = &Kind{"URL", FeedURL.want + `, or one with "public:", "private:" or "discreet:" in front`, checkWish}
	PageURL  = &Kind{"URL", `a page's URL such as "https://example.com/about-my-node"`, checkPageURL}
	Words    = &Kind{"words", `a word or a number, such as election, emission* or "climate change"`, checkWords}
	Span     = &Kind{"span", `a span of time such as "30m", "4h" or "2d"`, checkSpan}
	Past     = &Kind{"span", `"none", "all" or a span of time such as "90d" or "2y"`, checkPast}
	Age      = &Kind{"span", `a span of time such as "90d" or "2y", or "all"`, parsedBy(parseAge)}
	Size     = &Kind{"size", `a size such as "500MB" or "2GiB", or "all"`, parsedBy(parseSize)}
	Moment   = &Kind{"time",
		`a date (2025-01-31), a time (2025-01-31T15:04:05Z) or a span before now (36h, 2d, 2w, 1y)`,
		parsedBy(func(s string) (time.Time, error) { return when.Moment(s, time.Unix(0, 0)) })}
	Level       = &Kind{"level", `"debug", "info", "warn" or "error"`, checkLevel}
	Format      = choice("format", "text", "json")
	AskOthers   = choice("choice", node.AskNetwork, node.AlwaysNetwork, node.NeverNetwork)
	MeetByDHT   = choice("choice", control.DHTAsk, control.DHTOn, control.DHTOff)
	Proxy       = choice("choice", daemon.ProxyOff, daemon.ProxyFeeds, daemon.ProxyAll)
	PortMapping = choice("choice", daemon.MapNoPort, daemon.MapByPCP, daemon.MapByUPnP)
	Policy      = choice("policy", polling.Names()...)
)

// check says what is wrong with a text.
func (k *Kind) check(text string) error {
	if err := k.read(text); err != nil {
		return fmt.Errorf("%w: want %s", err, k.want)
	}
	return nil
}

func anything(string) error { return nil }

// choice is one of some words, two at least.
func choice[T ~string](name string, words ...T) *Kind {
	want := fmt.Sprintf("%q", words[0])
	for _, w := range words[1 : len(words)-1] {
		want += fmt.Sprintf(", %q", w)
	}
	return &Kind{name, fmt.Sprintf("%s or %q", want, words[len(words)-1]), func(s string) error {
		if !slices.Contains(words, T(s)) {
			return fmt.Errorf("%q is none of the choices", s)
		}
		return nil
	}}
}

// parsedBy is for what a function reads.
func parsedBy[T any](parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		_, err := parse(s)
		return err
	}
}

func checkListener(s string) error {
	if s == daemon.ListenNone {
		return nil
	}
	return checkAddress(s)
}

func checkAddress(s string) error {
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

func checkFeedURL(s string) error {
	if _, err := feed.ParseURL(s); err != nil {
		return fmt.Errorf("%q is no feed URL", s)
	}
	return nil
}

func checkWish(s string) error {
	_, u := manner(s)
	return checkFeedURL(u)
}

// checkPageURL is for a page that people are pointed to, or none.
func checkPageURL(s string) error {
	if s == "" {
		return nil
	}
	if _, err := feed.ParseURL(s); err != nil || strings.ContainsAny(s, "();") || len(s) > 200 {
		return fmt.Errorf("%q is no URL that fits in a user agent", s)
	}
	return nil
}

// checkSource is for a tracker, or for a node or a site that names nodes.
func checkSource(what string, isTracker bool) func(string) error {
	return func(s string) error {
		if _, tracker, err := control.ReadSource(s); err == nil && tracker == isTracker {
			return nil
		}
		if u, err := url.Parse(s); err == nil {
			s = u.Redacted()
		}
		return fmt.Errorf("%q names no %s", s, what)
	}
}

// sources are trackers or nodes by their names.
func sources(texts []string) []string {
	var names []string
	for _, s := range texts {
		name, _, _ := control.ReadSource(s) // its kind has checked it
		names = append(names, name)
	}
	return names
}

func checkProgram(s string) error {
	name, port, err := net.SplitHostPort(s)
	if err != nil || name == "" || strings.ContainsAny(name, "/@ ") {
		return fmt.Errorf("%q is no host and port", s)
	}
	return checkPort(s, port, 1)
}

func checkHost(s string) error {
	if s == "" || strings.ContainsAny(s, "/@ ") || strings.Contains(s, ":") && !isAddr(s) {
		return fmt.Errorf("%q is no host name or address", s)
	}
	return nil
}

func isAddr(s string) bool { _, err := netip.ParseAddr(s); return err == nil }

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

// checkWords is for what a query looks for.
func checkWords(s string) error {
	if len(archive.Phrases([]string{s})) == 0 {
		return fmt.Errorf("%q holds nothing to search for", s)
	}
	return nil
}

func checkLevel(s string) error {
	if new(slog.Level).UnmarshalText([]byte(s)) != nil {
		return fmt.Errorf("%q is no log level", s)
	}
	return nil
}

func checkSpan(s string) error {
	d, err := when.Span(s)
	if err == nil && d == 0 {
		err = fmt.Errorf("%q is no time at all", s)
	}
	return err
}

// Duration is the length of a span, 0 where none was set.
func Duration(s string) time.Duration {
	d, _ := when.Span(s) // its kind has checked it
	return d
}

// How people say that there is no limit, and nothing.
const (
	all  = "all"
	none = "none"
)

func checkPast(s string) error {
	if s == none || s == all {
		return nil
	}
	return checkSpan(s)
}

// reach is how far back a past goes, 0 for not at all.
func reach(s string) time.Duration {
	if s == all {
		return math.MaxInt64
	}
	return Duration(s)
}

// parseAge reads a span of time, 0 for all.
func parseAge(s string) (time.Duration, error) {
	if s == all {
		return 0, nil
	}
	d, err := when.Span(s)
	if err == nil && d < time.Second {
		err = fmt.Errorf("%q is less than a second", s)
	}
	return d, err
}

// Lifetime is the length of an age that was checked, 0 for all.
func Lifetime(s string) time.Duration { d, _ := parseAge(s); return d }

// parseSize reads a number of bytes, 0 for all.
func parseSize(s string) (int64, error) {
	if s == all {
		return 0, nil
	}
	wrong := fmt.Errorf("%q is no size", s)
	lower := strings.ToLower(s)
	for _, unit := range []struct {
		name  string
		bytes float64
	}{
		{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9},
		{"tb", 1e12}, {"b", 1},
	} {
		number, ok := strings.CutSuffix(lower, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if n *= unit.bytes; err != nil || !(n >= 1 && n < math.MaxInt64/2) {
			return 0, wrong
		}
		return int64(n), nil
	}
	return 0, wrong
}

// Bytes is the number of bytes of a size that was checked, 0 for all.
func Bytes(s string) int64 { n, _ := parseSize(s); return n }
