package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"feedex/control"
	"feedex/discover"
	"feedex/feed"
	"feedex/node"
	"feedex/reading"
)

const (
	// maxFirstPollWait is the longest that anybody waits for a first poll.
	maxFirstPollWait = time.Minute
	// firstPollCheck is how often to look whether it was made.
	firstPollCheck = 50 * time.Millisecond
)

// FollowAddress implements control.Owner. That the address is followed is durable before it waits; what waits is asked
// for also after a restart, and its outcome is known then.
func (h *host) FollowAddress(ctx context.Context, w control.FollowAddress) (control.FollowedAddress, error) {
	if len(w.Feeds) != 1 {
		return control.FollowedAddress{}, control.BadRequest{Err: errors.New("name one feed")}
	}
	u, err := published(ctx, h, w.Feeds[0], h.at.Reader, h.config.ReaderHosts)
	if err != nil {
		return control.FollowedAddress{}, err
	}
	w.Feeds = []feed.URL{u}
	before, err := look(ctx, h, func(n *node.Node) (bool, error) { return n != nil && n.Feed(u) != nil, nil })
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
	return h.outcome(ctx, &w, u, f, !before)
}

// A polledFeed is a feed as its first poll left it, or that which is followed in its place.
type polledFeed struct {
	node.FeedStatus
	asked  bool // it was polled
	before bool // it is in the place of a page, and was followed before that
}

// firstPoll waits until what was followed at u is polled, and what is followed in its place.
func (h *host) firstPoll(ctx context.Context, u feed.URL, wait time.Duration) (polledFeed, error) {
	waiting, cancel := context.WithTimeout(ctx, min(wait, maxFirstPollWait))
	defer cancel()
	for {
		f, err := look(ctx, h, func(n *node.Node) (p polledFeed, err error) {
			if n == nil {
				return p, control.ErrRests
			}
			f := n.Feed(u)
			if f == nil {
				var to feed.URL
				to, p.before = n.Became(u)
				f = n.Feed(to)
			}
			if f == nil {
				return p, fmt.Errorf("%s is followed no more", u.Redacted())
			}
			p.FeedStatus = *f
			p.asked = f.Asked()
			return p, nil
		})
		if err != nil || f.asked || wait <= 0 {
			return f, err
		}
		if rest(waiting, firstPollCheck) != nil {
			return f, context.Cause(ctx) // it may take longer
		}
	}
}

// outcome is what the first poll of u showed, and does what follows from it: what turned out to be no feed is followed
// no more, if it was not before.
func (h *host) outcome(ctx context.Context, w *control.FollowAddress, u feed.URL, f polledFeed,
	added bool) (s control.FollowedAddress, err error) {
	problem := f.LastError
	if at, err := url.Parse(string(f.URL)); err == nil {
		problem = strings.TrimPrefix(problem, "get "+at.Host+": ")
	}
	s = control.FollowedAddress{Feed: f.URL, Title: f.Title, New: added &&
		!f.before, Problem: problem, Waiting: !f.asked}
	drop := false
	switch {
	case f.URL != u:
		s.Page = u
		if f.WebPage { // it is no better than the page that named it
			s.Problem, drop = fmt.Sprintf("it names %s, and there is no feed either", f.URL.Redacted()), s.New
		} else if wish := again(w, f.URL); wish != nil {
			err = h.Subscribe(ctx, *wish)
		}
	case f.WebPage && len(f.Names) > 0:
		s.Page, s.Choices, s.Problem, drop = u, f.Names, "", s.New && !w.Keep
		for i := range s.Choices {
			s.Choices[i].URL = discover.Lend(u, s.Choices[i].URL)
		}
	case f.WebPage:
		s.Page, drop = u, s.New
	}
	if drop {
		s.Feed, s.New = "", false
		return s, h.Unsubscribe(ctx, f.URL)
	}
	if err != nil {
		return s, err
	}
	s.Kept, s.Undecided, err = h.keeps(ctx, s.Feed)
	return s, err
}

// keeps says why a feed stays on the node, and whether its owner is to say whether it does.
func (h *host) keeps(ctx context.Context, u feed.URL) (why string, undecided bool, err error) {
	f, err := look(ctx, h, func(n *node.Node) (f *node.FeedStatus, err error) {
		if n != nil {
			f = n.Feed(u)
		}
		return f, nil
	})
	if f == nil {
		return "", false, err
	}
	return f.Kept, f.Undecided, err
}

// again is the same wish for another feed, nil where it says nothing about how to follow it.
func again(w *control.FollowAddress, u feed.URL) *node.Subscribe {
	s := w.Subscribe
	if s.Weight == 0 && s.Discreet == nil && s.Policy == nil && s.Private == nil {
		return nil
	}
	s.Feeds = []feed.URL{u}
	return &s
}

// How long a program of the owner waits for a first poll, and for one of a feed that was chosen for it: they give up
// after half a minute.
const (
	readerWait = 15 * time.Second
	choiceWait = 5 * time.Second
)

// Subscribe implements reading.Desk.
func (l *library) Subscribe(ctx context.Context, u feed.URL) (reading.FeedID, error) {
	s, err := l.host.FollowAddress(ctx, control.FollowAddress{Subscribe: node.Subscribe{Feeds: []feed.URL{u}},
		Wait: readerWait, Keep: true})
	if err == nil && len(s.Choices) > 0 {
		// A program cannot ask which, and publishers name the one first that they mean. That also decides what becomes
		// of the page.
		s,
			err = l.host.FollowAddress(ctx,
			control.FollowAddress{Subscribe: node.Subscribe{Feeds: []feed.URL{s.Choices[0].URL}},
				Wait: choiceWait})
	}
	if err != nil {
		return 0, err
	}
	if s.Feed == "" {
		return 0, fmt.Errorf("%w: %s", reading.ErrNoFeed, s.Problem)
	}
	return l.FeedID(ctx, s.Feed)
}

// Discover implements reading.Desk. What is followed is not asked for.
func (l *library) Discover(ctx context.Context, u feed.URL) ([]discover.Feed, error) {
	u, err := published(ctx, l.host, u, l.host.at.Reader, l.host.config.ReaderHosts)
	if err != nil {
		return nil, err
	}
	followed, err := look(ctx, l.host, func(n *node.Node) (*node.FeedStatus, error) {
		if n == nil {
			return nil, control.ErrRests
		}
		return n.Feed(u), nil
	})
	if err != nil {
		return nil, err
	}
	if followed != nil && !followed.WebPage {
		return []discover.Feed{{URL: u, Title: followed.Title}}, nil
	}
	got, err := l.host.prefetch(ctx, u)
	switch {
	case err != nil:
		return nil, err
	case got.Document != nil:
		return []discover.Feed{{URL: u, Title: got.Document.Title}}, nil
	case len(got.Named) > 0:
		for i := range got.Named {
			got.Named[i].URL = discover.Lend(u, got.Named[i].URL)
		}
		return got.Named, nil
	case got.WebPage, errors.Is(got.Err, feed.ErrFormat):
		return nil, fmt.Errorf("%w: %w", reading.ErrNoFeed, got.Err)
	}
	return nil, fmt.Errorf("%w: %w", reading.ErrUnread, got.Err)
}
