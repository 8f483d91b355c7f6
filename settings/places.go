package settings

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"feedex/daemon"
	"feedex/feed"
	"feedex/node"
	"feedex/polling"
)

// withNameOf are the names under which feed readers reach the node: one that it listens at is among them.
func withNameOf(address string, names []string) []string {
	if name, _, _ := net.SplitHostPort(address); name != "" && !isAddr(name) {
		return append(slices.Clip(names), name)
	}
	return names
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
func wishes(items []string) (plain []feed.URL, others []node.Subscribe) {
	for _, item := range items {
		how, raw := manner(item)
		u, _ := feed.ParseURL(raw) // its kind has checked it
		s := node.Subscribe{Feeds: []feed.URL{u}, Standing: true}
		switch how {
		case "public":
			s.Private = new(false)
		case "private":
			s.Private = new(true)
		case "discreet":
			s.Discreet = new(true)
		default:
			plain = append(plain, u)
			continue
		}
		others = append(others, s)
	}
	return plain, others
}

// prefixes are networks.
func prefixes(items []string) (out []netip.Prefix) {
	for _, item := range items {
		p, _ := parsePrefix(item) // its kind has checked it
		out = append(out, p)
	}
	return out
}

// numberOrNone is a number as nodes take it, for whom -1 is none and 0 the default.
func (v value) numberOrNone() int {
	if n := v.number(); n != 0 {
		return n
	}
	return -1
}

// start is the interval that a feed starts with, 0 for the default, which moves with the bounds.
func start(v value) time.Duration {
	if v.isUsual() {
		return 0
	}
	return v.span()
}

// policy is when feeds are polled that have no policy of their own: at the interval of the flag, if it is given.
func policy(c *daemon.Config, flag value) polling.Policy {
	if !flag.isUsual() {
		return polling.Fixed{Every: flag.span()}
	}
	p, _ := c.Node.Polling.Policy(flag.of.text("polling.policy")) // its kind has checked it, and checks its numbers
	return p
}
