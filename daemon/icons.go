package daemon

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"feedex/archive"
	"feedex/discover"
	"feedex/feed"
	"feedex/fetch"
	"feedex/internal/sleep"
	"feedex/picture"
	"feedex/reading"
)

const (
	// firstIcon is how long after its start a node looks for the first picture of a feed: polls that fell due meanwhile
	// go first.
	firstIcon = time.Minute
	// iconPause is the time between two feeds whose pictures are looked for, and between two looks at whether there is
	// one.
	iconPause = 10 * time.Second
	// iconTrouble is when a publisher is asked again who did not answer, or with an error of its server.
	iconTrouble = 3 * 24 * time.Hour
	// iconOutage is the pause after nobody answered: it may be our own network.
	iconOutage = 10 * time.Minute
	// maxIconTries is how many of the pictures are asked for that a page names.
	maxIconTries = 2
	// maxSharedIcons is of how many addresses it is remembered for a day what was there: other feeds may have the same.
	maxSharedIcons = 64
)

// iconFinder looks for the pictures of feeds, of one after another.
type iconFinder struct {
	host *host
	seen map[feed.URL]seenIcon
}

// A seenIcon is what was at an address: a picture, a page that names pictures, or nothing.
type seenIcon struct {
	content []byte
	named   []feed.URL
	at      time.Time
}

// seenAt returns what was at an address within a day, where it may be asked for.
func (f *iconFinder) seenAt(of *archive.Feed, u feed.URL) (s seenIcon, ok bool) {
	s, ok = f.seen[u]
	return s, ok && mayAsk(of, u) && time.Since(s.at) < 24*time.Hour
}

// remember notes what was at an address.
func (f *iconFinder) remember(u feed.URL, s seenIcon) {
	if len(f.seen) >= maxSharedIcons {
		clear(f.seen)
	}
	s.at = time.Now()
	f.seen[u] = s
}

// findIcons looks for the pictures of the feeds that are followed until ctx ends.
func (h *host) findIcons(ctx context.Context) {
	f := iconFinder{host: h, seen: make(map[feed.URL]seenIcon)}
	every := cmp.Or(h.config.iconPause, iconPause)
	for pause := min(firstIcon, 6*every); sleep.For(ctx, pause) == nil; {
		pause = every
		due, err := h.store.IconDue(ctx, time.Now())
		if err == nil && due.URL != "" && f.host.online(ctx) == nil {
			var unreached bool
			if unreached, err = f.look(ctx, &due); unreached {
				pause = iconOutage
			}
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, reading.ErrRests) {
			h.config.Log.Warn("the picture of a feed cannot be kept", "err", err)
		}
	}
}

// look looks for the picture of a feed and keeps what comes of that. It reports whether nobody answered.
func (f *iconFinder) look(ctx context.Context, of *archive.Feed) (unreached bool, err error) {
	content, failed := f.find(ctx, of)
	if ctx.Err() != nil || errors.Is(failed, reading.ErrRests) {
		return false, failed
	}
	now := time.Now()
	err = f.host.durably(ctx, func(d reading.Database) error {
		switch {
		case content == nil && failed != nil: // what it had may still be there
			d.DeferIcon(of.URL, now.Add(iconTrouble))
		default:
			d.KeepIcon(of.URL, content, now.Add(reading.IconHolds))
		}
		return nil
	})
	if content != nil && err == nil {
		f.host.changes.Add(1)
	}
	if told := f.host.config.iconLooked; told != nil {
		told(of.URL)
	}
	return errors.Is(failed, errUnreached), err
}

// errUnreached says that nobody answered.
var errUnreached = errors.New("nobody answers")

// find returns the picture of a feed: that which its document names, else that of its site. The error says why there
// may be one all the same.
func (f *iconFinder) find(ctx context.Context, of *archive.Feed) (content []byte, err error) {
	var failed error
	try := func(u feed.URL) bool {
		found, err := f.at(ctx, of, u)
		failed = cmp.Or(failed, err)
		content = found
		return found != nil
	}
	if of.Icon != "" && try(of.Icon) {
		return content, nil
	}
	page, err := feed.ParseURL(of.Link)
	if err != nil || !mayAsk(of, page) {
		page = rootOf(cmp.Or(of.Alias, of.URL))
	}
	named, err := f.namedBy(ctx, of, page)
	failed = cmp.Or(failed, err)
	if errors.Is(err, errUnreached) || ctx.Err() != nil {
		return nil, failed
	}
	last := named[len(named)-1] // where browsers look
	for _, u := range append(named[:min(len(named)-1, maxIconTries)], last) {
		if try(u) {
			return content, nil
		}
	}
	return nil, failed
}

// namedBy returns the pictures that a page names, and where its site has one that no page need name. The error says why
// it may name others.
func (f *iconFinder) namedBy(ctx context.Context, of *archive.Feed, page feed.URL) ([]feed.URL, error) {
	if s, ok := f.seenAt(of, page); ok && len(s.named) > 0 { // it may have been looked at as a picture
		return s.named, nil
	}
	got, err := f.get(ctx, of, fetch.Want{URL: page, Accept: "text/html, application/xhtml+xml",
		MaxBytes: discover.MaxPageBytes})
	named := discover.Icons(cmp.Or(got.URL, page), got.Type, got.Body)
	if err == nil {
		f.remember(page, seenIcon{named: named})
	}
	return named, err
}

// at returns the picture at an address, nil where there is none. The error says why there may be one all the same.
func (f *iconFinder) at(ctx context.Context, of *archive.Feed, u feed.URL) ([]byte, error) {
	if s, ok := f.seenAt(of, u); ok {
		return s.content, nil
	}
	got, err := f.get(ctx, of, fetch.Want{URL: u, Accept: "image/*", MaxBytes: reading.MaxIconBytes})
	if err != nil {
		return nil, err
	}
	var content []byte
	if picture.Type(got.Body) != "" {
		content = got.Body
	}
	f.remember(u, seenIcon{content: content})
	return content, nil
}

// get gets something for the sake of a feed. The error is nil where its publisher says that there is nothing.
func (f *iconFinder) get(ctx context.Context, of *archive.Feed, w fetch.Want) (fetch.Resource, error) {
	if !mayAsk(of, w.URL) {
		return fetch.Resource{}, nil
	}
	w.For, w.SameSite = of.URL, quiet(of)
	got, err := f.host.getResource(ctx, w)
	a := &got.Answer
	switch {
	case err != nil:
		return got, err
	case a.Err == nil, errors.Is(a.Err, fetch.ErrTooLarge), errors.Is(a.Err, fetch.ErrElsewhere):
		return got, nil
	case a.Unreached:
		return got, errUnreached
	case a.Status == http.StatusTooManyRequests, a.Status >= 500, a.Status == 0:
		return got, a.Err
	}
	return got, nil
}

// quiet reports whether nobody but its publisher, who sees the polls, is to learn of a feed.
func quiet(f *archive.Feed) bool {
	return f.Private || f.Withheld || f.Discreet || f.URL.Secret() || f.Led()
}

// mayAsk reports whether what is at an address may be asked for, for the sake of a feed.
func mayAsk(f *archive.Feed, u feed.URL) bool {
	site := func(u feed.URL) string { return strings.TrimPrefix(u.Host(), "www.") }
	return !quiet(f) || slices.Contains([]string{site(f.URL), site(cmp.Or(f.Alias, f.URL))}, site(u))
}

// rootOf is the page at the root of a feed's host.
func rootOf(u feed.URL) feed.URL {
	at, err := url.Parse(string(u))
	if err != nil {
		return u
	}
	return feed.URL(at.Scheme + "://" + at.Host + "/")
}

// A getter gets what belongs to feeds: a fetch.Client.
type getter interface {
	Get(ctx context.Context, w fetch.Want) fetch.Resource
}

// getResource gets what belongs to a feed when it is its host's turn, has the node heed what the answer says about how
// often that may be asked, and logs the requests. The error says that nobody was asked.
func (h *host) getResource(ctx context.Context, w fetch.Want) (fetch.Resource, error) {
	if err := h.awaitHost(ctx, w.URL); err != nil {
		return fetch.Resource{}, err
	}
	got := h.getter.Get(ctx, w)
	leavePlace(h.fetching)
	a := &got.Answer
	if err := h.heed(ctx, w.URL, a); err != nil {
		return fetch.Resource{}, err
	}
	return got, h.durably(ctx, func(d reading.Database) error { d.KeepRequests(a.Requests); return nil })
}
