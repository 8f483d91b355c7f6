package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"feedex/control"
	"feedex/discover"
	"feedex/feed"
	"feedex/internal/sleep"
	"feedex/node"
	"feedex/reader"
	"feedex/reading"
)

// A numbering knows feeds by their numbers: an Owner.
type numbering interface {
	Numbered(ctx context.Context, number int64) (feed.URL, error)
}

// published is where a feed is published that a list has at the address of the owner's reader, "host:port" or one of
// hosts, by its URL or its number; others are as they are. For what the node makes of several feeds the error is
// errMadeHere: who follows that has every entry once more.
func published(ctx context.Context, o numbering, u feed.URL, own string, hosts []string) (feed.URL, error) {
	path, ok := ownPath(u, own, hosts)
	if !ok {
		return u, nil
	}
	if after, ok := strings.CutPrefix(path, "feed/"); ok {
		if behind := reader.FeedURLs(after); len(behind) > 0 {
			return behind[0], nil
		}
	}
	if m := byNumber.FindStringSubmatch(path); m != nil {
		number, _ := strconv.ParseInt(m[1], 10, 64) // of one that is too large there is no feed
		behind, err := o.Numbered(ctx, number)
		if key := reader.ChannelKey(behind); key != "" && m[2] != "-"+key {
			return u, err // a number can be guessed by who shall not know the address
		}
		return cmp.Or(behind, u), err
	}
	if ofSeveral.MatchString(path) && isHere(u.Host(), own, hosts) {
		return u, errMadeHere
	}
	return u, nil
}

// isHere reports whether a host is that of the reader for certain: another one in the private network may be that of
// another node, with the same port.
func isHere(host, own string, hosts []string) bool {
	listens, _, _ := net.SplitHostPort(own)
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost") || strings.EqualFold(host, listens) ||
		slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// errMadeHere says why something is not followed.
var errMadeHere = errors.New("this node itself makes it, of what it follows")

// ownPath is the path of a URL at the owner's reader, without its first slash, and false for other URLs. A name by
// which it is reached besides may be that of a server in front of it, at whatever port.
func ownPath(u feed.URL, own string, hosts []string) (path string, ok bool) {
	at, path, ok := strings.Cut(strings.SplitAfterN(string(u), "://", 2)[1], "/")
	if !ok {
		return "", false
	}
	at = at[strings.LastIndexByte(at, '@')+1:]
	if slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, u.Host()) }) {
		return path, true
	}
	_, port, err := net.SplitHostPort(own)
	return path, err == nil && u.Local() && strings.HasSuffix(at, ":"+port)
}

// byNumber is the path of a feed by its number, which has a key behind it where its address is a secret.
var byNumber = regexp.MustCompile(`^feeds/([0-9]+)(-[0-9a-f]+)?\.(atom|rss|json)$`)

// ofSeveral is the path of what the node makes of several feeds: all of them, or what a filter caught.
var ofSeveral = regexp.MustCompile(`^(all|filter/.+)\.(atom|rss|json)([/?]|$)`)

// maxFirstPollWait is the longest that anybody waits for a first poll.
const maxFirstPollWait = time.Minute

// FollowAddress implements control.Owner. The address is durably followed before it waits; an address that waits is
// asked for also after a restart, and its outcome is known then. Of several addresses at which there is nothing the
// last says why.
func (h *host) FollowAddress(ctx context.Context, w control.FollowAddress) (s control.FollowedAddress, err error) {
	if len(w.Feeds) == 0 || len(w.Feeds) > maxTries {
		return s, control.BadRequest{Err: errors.New("name one feed")}
	}
	for i, u := range w.Feeds { // what is followed is not looked for elsewhere
		if f, err := h.feed(ctx, u); err != nil {
			return s, err
		} else if f != nil {
			w.Feeds = w.Feeds[i : i+1]
			break
		}
	}
	for _, u := range w.Feeds {
		if s, err = h.followOne(ctx, w, u); err != nil || !s.Unread || s.Page != "" {
			break
		}
	}
	return s, err
}

// maxTries is how many addresses are tried, at most, for one wish.
const maxTries = 2

// followOne is FollowAddress for one address.
func (h *host) followOne(ctx context.Context, w control.FollowAddress, u feed.URL) (control.FollowedAddress, error) {
	u, err := published(ctx, h, u, h.at.Reader, h.config.ReaderHosts)
	if errors.Is(err, errMadeHere) {
		return control.FollowedAddress{Problem: err.Error()}, nil
	} else if err != nil {
		return control.FollowedAddress{}, err
	}
	w.Feeds = []feed.URL{u}
	before, err := glance(ctx, h.loop, func(n *node.Node) feed.URL {
		if f := n.Feed(u); f != nil {
			return f.URL
		}
		followed, _ := n.Became(u)
		return followed
	})
	if err != nil {
		return control.FollowedAddress{}, err
	}
	if err := h.Subscribe(ctx, w.Subscribe); err != nil {
		return control.FollowedAddress{}, err
	}
	f, err := h.firstPoll(ctx, u, w.Wait)
	if err != nil {
		return control.FollowedAddress{}, err
	}
	return h.outcome(ctx, &w, u, f, f.URL != before && !f.known)
}

// A polledFeed is a feed as its first poll left it.
type polledFeed struct {
	*node.FeedStatus
	waits bool // it was not polled yet
	known bool // it is in the place of a page, and was followed before that
}

// firstPoll waits until what was followed at u is polled, and what is followed in its place.
func (h *host) firstPoll(ctx context.Context, u feed.URL, wait time.Duration) (f polledFeed, err error) {
	waiting, cancel := context.WithTimeout(ctx, min(wait, maxFirstPollWait))
	defer cancel()
	err = h.FirstPolls(waiting, []feed.URL{u}, func(int) error { return nil })
	if err != nil && (waiting.Err() == nil || ctx.Err() != nil) {
		return f, err
	} // else it may take longer
	return look(ctx, h.loop, func(n *node.Node) (f polledFeed, err error) {
		if n == nil {
			return f, reading.ErrRests
		}
		f.FeedStatus, f.waits = n.Feed(u), n.AwaitsPoll(u)
		if f.FeedStatus == nil || f.URL != u {
			var to feed.URL
			to, f.known = n.Became(u)
			f.FeedStatus = n.Feed(to)
		}
		if f.FeedStatus == nil {
			err = fmt.Errorf("%s is followed no more", u.Redacted())
		}
		return f, err
	})
}

const (
	// manyWaiting is of how many feeds, at most, those that wait are looked for after every poll.
	manyWaiting = 100
	// lookEvery is how often they are of more feeds, at most.
	lookEvery = 500 * time.Millisecond
)

// FirstPolls implements control.Owner.
func (h *host) FirstPolls(ctx context.Context, list []feed.URL, each func(waiting int) error) error {
	list = slices.Clone(list) // a look may go on when its caller does not
	for {
		polled := h.polled.next()
		waiting, err := look(ctx, h.loop, func(n *node.Node) (waiting []feed.URL, err error) {
			if n == nil {
				return nil, reading.ErrRests
			}
			for _, u := range list {
				if n.AwaitsPoll(u) {
					waiting = append(waiting, u)
				}
			}
			return waiting, nil
		})
		if err != nil {
			return err
		}
		list = waiting
		if err := each(len(list)); err != nil || len(list) == 0 {
			return err
		}
		if len(list) > manyWaiting {
			if err := sleep.For(ctx, lookEvery); err != nil {
				return err
			}
		}
		select {
		case <-polled:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// A signal tells those who wait for it that something has happened. The zero value is ready.
type signal struct {
	mu    sync.Mutex
	again chan struct{} // closed when it happens; nil while nobody waits
}

// next returns a channel that is closed when it happens the next time.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again == nil {
		s.again = make(chan struct{})
	}
	return s.again
}

// tell tells that it has happened.
func (s *signal) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again != nil {
		close(s.again)
		s.again = nil
	}
}

// outcome returns the result of the first poll of u, and does what follows from it: a page that turned out to be no
// feed, and what could not be read, is followed no more, if it was not before.
func (h *host) outcome(ctx context.Context, w *control.FollowAddress, u feed.URL, f polledFeed,
	added bool) (s control.FollowedAddress, err error) {
	problem := f.LastError
	if at, err := url.Parse(string(f.URL)); err == nil {
		problem = strings.TrimPrefix(problem, "get "+at.Host+": ")
	}
	if problem == "" && !f.waits && f.LastSuccess.IsZero() && !f.NotBefore.IsZero() {
		problem = "it is left alone until " + f.NotBefore.Local().Format("2006-01-02 15:04")
	}
	s = control.FollowedAddress{Feed: f.URL, Title: f.Title, New: added,
		Problem: problem, Waiting: f.waits}
	drop := false
	none := f.WebPage && f.URL == u && len(f.Names) == 0 // it may name a feed later
	s.Unread = s.New && !w.Anyway && (none || !f.WebPage) && problem != "" && f.LastSuccess.IsZero()
	switch {
	case f.URL != u:
		s.Page = u
		if f.WebPage { // it is no better than the page that named it
			s.Problem, drop = fmt.Sprintf("it names %s, and there is no feed either", f.URL.Redacted()), s.New
		} else if s.Unread {
			s.Problem = fmt.Sprintf("it names %s, which could not be read: %s", f.URL.Redacted(), problem)
		} else if wish := again(w, f.URL); wish != nil {
			err = h.Subscribe(ctx, *wish)
		}
	case f.WebPage && len(f.Names) > 0:
		s.Page, s.Choices, s.Problem, drop = u, discover.LendAll(u, f.Names), "", s.New && !w.Keep
	case none && s.Unread:
		s.Page = u
	}
	if drop || s.Unread {
		s.Feed, s.New = "", false
		return s, h.Unsubscribe(ctx, f.URL)
	}
	if err != nil {
		return s, err
	}
	now, err := h.feed(ctx, s.Feed)
	if now != nil {
		s.Kept, s.Undecided = now.Kept, now.Undecided
	}
	return s, err
}

// again is the same wish for another feed, nil where it says nothing about how to follow it.
func again(w *control.FollowAddress, u feed.URL) *node.Subscribe {
	s := w.Subscribe
	if s.Weight == 0 && s.Discreet == nil && s.Policy == nil && s.Private == nil && s.Sharing == nil {
		return nil
	}
	s.Feeds = []feed.URL{u}
	return &s
}
