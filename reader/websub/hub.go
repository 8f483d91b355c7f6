// Package websub is the hub of the documents that the node's reader address serves (WebSub, W3C Recommendation of 23
// January 2018): feed readers that can be pushed to learn of entries as soon as the node has them. Section numbers in
// comments are those of the Recommendation.
//
// A hub makes requests to addresses that others name. This one serves its own documents alone, asks each callback for
// its consent, and its Transport must see to it that it reaches the owner's machines and nothing else.
package websub

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"feedex/archive"
)

const (
	// MaxSubscriptions is how many there may be. One owner has few readers; each change costs a look at every one.
	MaxSubscriptions = 500
	// MaxWaiting is how many requests may wait to be verified.
	MaxWaiting = 32
	// maxWorking is how many requests to callbacks are under way at a time.
	maxWorking = 8
	// maxForm is the largest request, maxCallback the longest address, and maxSecret the longest secret (§5.1), in
	// bytes.
	maxForm, maxCallback, maxSecret = 16 << 10, 2048, 199
	// defaultLease is for how long a subscription lasts that does not say; no lease is outside of the other two.
	defaultLease, minLease, maxLease = 10 * 24 * time.Hour, time.Hour, 30 * 24 * time.Hour
)

// A Store keeps subscriptions that were verified. A change is durable when a method returns.
type Store interface {
	archive.HubList
	// Keep stores s in place of the one with its Callback and Topic.
	Keep(ctx context.Context, s archive.HubSubscription) error
	// Drop forgets a subscription; it is no error if there is none.
	Drop(ctx context.Context, callback, topic string) error
}

// Config holds the dependencies of a hub. All but Log must be set.
type Config struct {
	// Feeds serves the topics, to the hub itself: it wants no password.
	Feeds http.Handler
	Store Store
	// Transport is how callbacks are reached. It refuses addresses that the hub must not reach for a Subscriber, and
	// keeps no connection for another one.
	Transport http.RoundTripper
	// From is the address that sent a request. Default: it is not known.
	From func(*http.Request) netip.Addr
	// Check says why a callback cannot be had by a subscriber at an address, as far as that is known before it is
	// called; the text is for the subscriber. Default: it can.
	Check func(from netip.Addr, callback *url.URL) error
	// Log takes what went wrong. Default: nowhere.
	Log *slog.Logger
}

// A Hub takes subscriptions and delivers what is new. Its methods may be called by several goroutines at once.
type Hub struct {
	Config
	client  http.Client
	wake    chan struct{}
	asked   chan verification
	working chan struct{} // a place each for maxWorking requests to callbacks

	keeping sync.Mutex // held while one is stored or forgotten, so that the store has the latest

	mu   sync.Mutex
	subs map[key]*activeSubscription
}

type key struct{ callback, topic string }

func keyOf(s *archive.HubSubscription) key { return key{s.Callback, s.Topic} }

// subscriberKey is where the address of a subscriber is in the context of requests to its callback.
type subscriberKey struct{}

// Subscriber is the address of the subscriber for which a request with this context is made: it alone is to be reached.
func Subscriber(ctx context.Context) netip.Addr {
	a, _ := ctx.Value(subscriberKey{}).(netip.Addr)
	return a
}

// requestTo is a request to the callback of s.
func requestTo(ctx context.Context, s *archive.HubSubscription, method, callback string,
	body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(context.WithValue(ctx, subscriberKey{}, s.From), method, callback, body)
	if err == nil {
		r.Header.Set("User-Agent", "feedex")
	}
	return r, err
}

// An activeSubscription is a subscription with what is going on about it.
type activeSubscription struct {
	archive.HubSubscription
	busy  bool // a delivery is under way
	stale bool // there may be something new
}

// A verification is one of a subscriber that waits to be verified.
type verification struct {
	archive.HubSubscription
	leave bool // to end the subscription
	lease time.Duration
}

// New makes a hub. It delivers while Run does.
func New(cfg Config) *Hub {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.From == nil {
		cfg.From = func(*http.Request) netip.Addr { return netip.Addr{} }
	}
	if cfg.Check == nil {
		cfg.Check = func(netip.Addr, *url.URL) error { return nil }
	}
	return &Hub{
		Config: cfg,
		client: http.Client{
			Transport: cfg.Transport,
			// §7: "subscribers MUST NOT use HTTP redirects". Following them would lead past the consent of a callback.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		wake: make(chan struct{}, 1), asked: make(chan verification, MaxWaiting),
		working: make(chan struct{}, maxWorking), subs: make(map[key]*activeSubscription),
	}
}

// CloseIdle closes the connections that are not in use.
func (h *Hub) CloseIdle() { h.client.CloseIdleConnections() }

// ServeHTTP takes requests of subscribers (§5.1): what can be checked at once is, and what is asked for comes about
// when the callback has agreed.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		refuse(w, http.StatusMethodNotAllowed, "This is a WebSub hub. Subscribers send it a POST.")
		return
	}
	// A form on any web page could send one from the owner's browser; subscribers are no browsers.
	if site := r.Header.Get("Sec-Fetch-Site"); r.Header.Get("Origin") != "" || site != "" && site != "none" {
		refuse(w, http.StatusForbidden, "Web pages cannot subscribe here.")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		refuse(w, http.StatusBadRequest, "The form cannot be read: "+err.Error())
		return
	}
	q, problem := readRequest(r.PostForm)
	q.From = h.From(r)
	scheme, rest, _ := strings.Cut(q.Topic, "://")
	if problem == "" && (scheme != "http" && scheme != "https" || !strings.HasPrefix(rest, r.Host+"/")) {
		problem = "hub.topic: this hub serves the feeds of http://" + r.Host + " alone."
	}
	if problem != "" {
		refuse(w, http.StatusBadRequest, problem)
		return
	}
	if at, err := url.Parse(q.Callback); err == nil {
		err = h.Check(q.From, at)
		if err != nil {
			refuse(w, http.StatusForbidden, "hub.callback: "+err.Error()+".")
			return
		}
	}
	if !q.leave {
		if q.ETag = h.version(r.Context(), q.Topic); q.ETag == "" {
			refuse(w, http.StatusNotFound, "hub.topic: there is no such feed here.")
			return
		}
		if h.full(keyOf(&q.HubSubscription)) {
			refuse(w, http.StatusServiceUnavailable, "There are as many subscriptions as there may be.")
			return
		}
	}
	select {
	case h.asked <- q:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusServiceUnavailable, "Too many requests wait to be verified.")
	}
}

// readRequest reads the form of a subscriber, or says what is wrong with it. Parameters that it does not know mean
// nothing.
func readRequest(form url.Values) (q verification, problem string) {
	q.Callback, q.Topic, q.Secret = form.Get("hub.callback"), form.Get("hub.topic"), form.Get("hub.secret")
	switch form.Get("hub.mode") {
	case "subscribe":
	case "unsubscribe":
		q.leave = true
	default:
		return q, `hub.mode: want "subscribe" or "unsubscribe".`
	}
	u, err := url.Parse(q.Callback)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.Fragment != "" || len(q.Callback) > maxCallback {
		return q, "hub.callback: want an address at http:// or https://, without a user name and a fragment."
	}
	if len(q.Topic) > maxCallback {
		return q, "hub.topic: it is too long."
	}
	if len(q.Secret) > maxSecret {
		return q, "hub.secret: want less than 200 bytes."
	}
	q.lease = defaultLease
	if text := form.Get("hub.lease_seconds"); text != "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds < 0 {
			return q, "hub.lease_seconds: want a number of seconds."
		}
		if seconds > 0 {
			q.lease = time.Duration(min(max(seconds, int64(minLease/time.Second)),
				int64(maxLease/time.Second))) * time.Second
		}
	}
	return q, ""
}

// full reports whether there is no place for another subscription, k not being one already.
func (h *Hub) full(k key) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.subs[k] == nil && len(h.subs) >= MaxSubscriptions
}

func refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text + "\n")) // a client that went away wants no answer
}
