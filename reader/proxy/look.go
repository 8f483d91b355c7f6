package proxy

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"feedex/feed"
)

const (
	// lookTime is how long a look at a document may take, waiting for one's turn at its host included.
	lookTime = time.Minute
	// failedFor is how long what came of a look is remembered where it was no feed, or its publisher answered
	// otherwise: readers ask again every minute. That nobody answered, or that the node rests, may end any moment.
	failedFor = time.Hour
	// maxLooks is how many addresses that is remembered of, and maxLooking how many looks are under way at a time.
	maxLooks, maxLooking = 1000, 8
)

// errBusy says that too many addresses are being looked at.
var errBusy = errors.New("the node is looking at other addresses")

// looks are the addresses that the node looked at because somebody asked for them. The zero value is ready.
type looks struct {
	mu   sync.Mutex
	all  map[feed.URL]*attempt
	open int // how many are under way
}

// An attempt is a look that is under way or failed.
type attempt struct {
	done chan struct{} // closed at the end
	doc  *feed.Document
	err  error
	at   time.Time // when it failed, zero while it is under way
}

// at looks at u, once for all requests at the same time, and not again for a while if its publisher gave no feed.
func (l *looks) at(ctx context.Context, u feed.URL, now time.Time,
	f func(context.Context) (*feed.Document, error)) (*feed.Document, error) {
	l.mu.Lock()
	x := l.all[u]
	if x != nil && !x.at.IsZero() && now.Sub(x.at) >= failedFor {
		x = nil
	}
	if x != nil {
		l.mu.Unlock()
		select {
		case <-x.done:
			return x.doc, x.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if l.open >= maxLooking {
		l.mu.Unlock()
		return nil, errBusy
	}
	l.open++
	x = &attempt{done: make(chan struct{}), err: errBusy} // for those who wait, if f panics
	l.forget(now)
	l.all[u] = x
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open--
		if x.at = now; !answered(x.err) {
			delete(l.all, u) // it is followed from now on, or may be there the next time
		}
		close(x.done)
	}()

	// Others wait for it, whatever becomes of the request that asked first.
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	x.doc, x.err = f(looking)
	return x.doc, x.err
}

// answered reports whether a look failed by what its publisher answered.
func answered(err error) bool { return errors.Is(err, ErrNoFeed) || errors.Is(err, ErrAnswered) }

// forget makes room for one more: what is over first, and then whatever failed.
func (l *looks) forget(now time.Time) {
	if l.all == nil {
		l.all = make(map[feed.URL]*attempt)
	}
	for _, span := range []time.Duration{failedFor, 0} {
		for u, x := range l.all {
			if len(l.all) < maxLooks {
				return
			}
			if !x.at.IsZero() && now.Sub(x.at) >= span {
				delete(l.all, u)
			}
		}
	}
}

// look answers a request for something that is not followed: it is from now on, if it is a feed.
func (p *proxy) look(w http.ResponseWriter, r *http.Request, u feed.URL) {
	doc, err := p.looks.at(r.Context(), u, time.Now(), func(ctx context.Context) (*feed.Document, error) {
		doc, err := p.Feeds.Look(ctx, u)
		if err != nil {
			return nil, err
		}
		return doc, p.Feeds.Follow(ctx, u)
	})
	switch {
	case err == nil:
		p.Reader.ServeDocument(w, inner(r, u), doc)
	case p.Pass != nil: // a page for its visitor alone, say, or a file that is larger than any feed
		p.pass(w, func() { p.fetch(w, r) })
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "60")
		say(w, http.StatusServiceUnavailable, "%v. Ask again in a minute.", err)
	case errors.Is(err, ErrNoFeed):
		say(w, http.StatusForbidden, "This proxy is for feeds. %s is none: %v.", u, err)
	case answered(err):
		say(w, http.StatusBadGateway, "The node could not read %s: %v. It tries again in an hour.", u, err)
	default:
		say(w, http.StatusBadGateway, "The node could not read %s: %v. It tries again when it is asked.", u, err)
	}
}
