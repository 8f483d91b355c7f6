package lab

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"feedex/courtesy"
	"feedex/feed"
	"feedex/node"
)

// Conduct is how publishers behave. The zero value is the paper's world: each feed is on a host of its own, which
// answers every request, asks for nothing, and changes nothing that it published.
type Conduct struct {
	// PerHost is how many feeds a host has on average; of so many hosts the k-th has 1/k as many as the first.
	// Default: a host of its own for each.
	PerHost int
	// Hinting is the share of the feeds that say for how long they need not be asked again, 5 minutes to an hour, half
	// of them by Cache-Control and half by ttl.
	Hinting float64
	// MaxAge is for how long all feeds say, by Cache-Control, that they need not be asked again; 0 where Hinting alone
	// says it.
	MaxAge time.Duration
	// Failing is the share of the time in which a host answers with status 503, in outages of 20 minutes. Half of them
	// say when to come again.
	Failing float64
	// Throttling is the share of the hosts that answer an address once in ten minutes, and else with status 429 and how
	// much of that is left.
	Throttling float64
	// Edited is the share of the entries that are changed once, within six hours of their publication.
	Edited float64
	// Stale is how old a copy of a document may be that a request is answered with, by any of eight caches in front of
	// its publisher, which ask that so often, each at moments of its own. 0 for publishers that answer themselves.
	Stale time.Duration
}

const (
	outage      = 20 * time.Minute
	throttle    = 10 * time.Minute
	leastHint   = 5 * time.Minute
	hintSteps   = 12 // of leastHint each: an hour at most
	editedAfter = 6 * time.Hour
	copies      = 8
)

func (c Conduct) validate() error {
	for _, share := range []struct {
		what string
		of   float64
	}{{"of the feeds hint", c.Hinting}, {"of the time hosts fail", c.Failing},
		{"of the hosts throttle", c.Throttling}, {"of the entries are edited", c.Edited}} {
		if !(share.of >= 0 && share.of < 1) {
			return fmt.Errorf("%w: %v %s, want 0 or more and less than 1", ErrConfig, share.of, share.what)
		}
	}
	if c.Stale < 0 {
		return fmt.Errorf("%w: copies that are %v old, want 0 or more", ErrConfig, c.Stale)
	}
	if c.MaxAge < 0 {
		return fmt.Errorf("%w: feeds that need not be asked for %v, want 0 or more", ErrConfig, c.MaxAge)
	}
	if c.PerHost < 0 {
		return fmt.Errorf("%w: %d feeds a host, want 1 or more, or 0 for a host of its own for each", ErrConfig,
			c.PerHost)
	}
	return nil
}

// happens reports whether what has that share of all chances has this one, which has a number for its kind and more.
func (w *World) happens(share float64, kind uint64, more ...uint64) bool {
	return share > 0 && mix(uint64(w.config.Seed), append([]uint64{kind}, more...)...)>>32 < uint64(share*(1<<32))
}

// A site is a host that feeds are on.
type site struct {
	name     string
	index    uint64
	throttle bool
	answered map[netip.Addr]time.Time // whom it answered last when, where it throttles
}

// newSites are the hosts of the feeds, nil where each has its own.
func newSites(w *World) []*site {
	per := w.config.Conduct.PerHost
	if per == 0 {
		return nil
	}
	sites := make([]*site, (len(w.config.Feeds)+per-1)/per)
	for i := range sites {
		sites[i] = &site{name: fmt.Sprintf("host-%d.example.com", i), index: uint64(i)}
	}
	return sites
}

// siteOf is the one of them that feed number i is on.
func siteOf(sites []*site, seed Seed, i int) *site {
	return sites[ByZipf(len(sites), float64(mix(uint64(seed), 'h', uint64(i))>>32)/(1<<32))]
}

// down reports whether the host is in an outage at t, since the World's start.
func (w *World) down(s *site, t time.Duration) bool {
	return w.happens(w.config.Conduct.Failing, 'o', s.index, uint64(t/outage))
}

var (
	errDown      = errors.New("HTTP status 503 Service Unavailable")
	errThrottled = errors.New("HTTP status 429 Too Many Requests")
)

// refuses reports whether the host does not serve a request that comes in from an address at t, and how it says so.
func (w *World) refuses(s *site, from netip.Addr, t time.Time) (ev node.Fetched, refused bool) {
	since := t.Sub(w.config.Start)
	if w.down(s, since) {
		ev.Status, ev.Err = http.StatusServiceUnavailable, errDown
		if w.happens(.5, 'r', s.index) {
			ev.RetryAfter = (since/outage+1)*outage - since
		}
		return ev, true
	}
	if !s.throttle {
		return ev, false
	}
	if left := throttle - t.Sub(s.answered[from]); left > 0 {
		return node.Fetched{Status: http.StatusTooManyRequests, Err: errThrottled, RetryAfter: left}, true
	}
	s.answered[from] = t
	return ev, false
}

// hint is what a feed says of how long it need not be asked again.
func (w *World) hint(index int) (f courtesy.Freshness, p feed.PollingHints) {
	if age := w.config.Conduct.MaxAge; age > 0 {
		return courtesy.Freshness{Stated: true, Lifetime: age}, p
	}
	if !w.happens(w.config.Conduct.Hinting, 't', uint64(index)) {
		return f, p
	}
	h := mix(uint64(w.config.Seed), 'T', uint64(index))
	every := leastHint * time.Duration(1+h>>1%hintSteps)
	if h%2 == 0 {
		return courtesy.Freshness{Stated: true, Lifetime: every}, p
	}
	return f, feed.PollingHints{Every: every}
}

// copied is when the cache that answers the latest request, which came in at t, asked the publisher.
func (p *Publisher) copied(t time.Time) time.Time {
	w := p.world
	stale := w.config.Conduct.Stale
	if stale == 0 {
		return t
	}
	seed, index := uint64(w.config.Seed), uint64(p.index)
	which := mix(seed, 'c', index, uint64(p.Requests)) % copies
	phase := time.Duration(mix(seed, 'C', index, which) % uint64(stale))
	return t.Add(-(t.Sub(w.config.Start) + phase) % stale)
}

// A correction is the change of an entry.
type correction struct {
	at    int64 // Unix time
	entry int
}

// corrections are those of a feed's entries, in order of time.
func (p *Publisher) corrections() (list []correction) {
	w := p.world
	for i, out := range p.Feed.Times {
		if w.happens(w.config.Conduct.Edited, 'x', uint64(p.index), uint64(i)) {
			after := 1 + mix(uint64(w.config.Seed), 'X', uint64(p.index), uint64(i))%uint64(editedAfter/time.Second)
			list = append(list, correction{out + int64(after), i})
		}
	}
	slices.SortFunc(list, func(a, b correction) int { return cmp.Compare(a.at, b.at) })
	return list
}
