package websub_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"feedex/archive"
	"feedex/reader/websub"
)

const (
	topic    = "http://127.0.0.1:7791/feeds/1.atom"
	callback = "http://127.0.0.1:8080/push?for=me"
)

// A publication is the reader address: one feed, of which each version is a number.
type publication struct {
	mu      sync.Mutex
	version int
	more    int // bytes of a document, besides what it says
}

func (p *publication) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.RequestURI != "/feeds/1.atom" || r.Host != "127.0.0.1:7791" {
		http.NotFound(w, r)
		return
	}
	etag := fmt.Sprintf(`"%d"`, p.version)
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	self := topic
	if r.Header.Get("X-Forwarded-Proto") == "https" {
		self = "https" + strings.TrimPrefix(topic, "http")
	}
	w.Header().Add("Link", "<"+self+`>; rel="self"`)
	w.Header().Add("Link", `<http://127.0.0.1:7791/hub>; rel="hub"`)
	if r.Header.Get("A-IM") == "feed" {
		w.WriteHeader(http.StatusIMUsed)
	}
	if r.Method != http.MethodHead {
		fmt.Fprintf(w, "from %s to %s%s", r.Header.Get("If-None-Match"), etag, strings.Repeat(" ", p.more))
	}
}

// memory is a Store in memory.
type memory struct {
	mu   sync.Mutex
	list []archive.HubSubscription
	err  error
}

func (s *memory) HubSubscriptions(context.Context) ([]archive.HubSubscription, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list), s.err
}

func (s *memory) Keep(_ context.Context, x archive.HubSubscription) error {
	s.Drop(context.Background(), x.Callback, x.Topic)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.list = append(s.list, x)
	}
	return s.err
}

func (s *memory) Drop(_ context.Context, callback, topic string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(x archive.HubSubscription) bool {
		return x.Callback == callback &&
			x.Topic == topic
	})
	return s.err
}

// A subscriber is the server at the callback. It is also the way there.
type subscriber struct {
	mu     sync.Mutex
	code   int                           // of its answers, 200 where 0
	err    error                         // it cannot be reached
	echo   func(challenge string) string // what it makes of a challenge
	asked  []url.Values
	bodies []string
	last   *http.Request
}

func (s *subscriber) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	resp := &http.Response{StatusCode: s.code, Header: http.Header{"Location": {"http://169.254.169.254/"}},
		Body: http.NoBody, Request: r}
	if s.code == 0 {
		resp.StatusCode = 200
	}
	if r.Method == http.MethodPost {
		text, err := io.ReadAll(r.Body)
		s.bodies, s.last = append(s.bodies, string(text)), r
		return resp, err
	}
	q := r.URL.Query()
	s.asked = append(s.asked, q)
	text := q.Get("hub.challenge")
	if s.echo != nil {
		text = s.echo(text)
	}
	resp.Body = io.NopCloser(strings.NewReader(text))
	return resp, nil
}

// A stage is a hub that runs in a bubble of synctest.
type stage struct {
	t     *testing.T
	hub   *websub.Hub
	feeds *publication
	store *memory
	sub   *subscriber
	stop  func()
}

// play starts one.
func play(t *testing.T) *stage {
	s := &stage{t: t, feeds: &publication{version: 1}, store: &memory{}, sub: &subscriber{}}
	s.start()
	return s
}

// end ends it, and must be called.
func (s *stage) end() { s.stop() }

func (s *stage) start() {
	s.hub = websub.New(websub.Config{Feeds: s.feeds, Store: s.store, Transport: s.sub})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.hub.Run(ctx) }()
	s.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Errorf("Run: %v", err)
		}
	}
	synctest.Wait()
}

// ask sends the hub a request, with changes in pairs, and waits for what it does about it.
func (s *stage) ask(changes ...string) *httptest.ResponseRecorder {
	form := url.Values{"hub.mode": {"subscribe"}, "hub.callback": {callback}, "hub.topic": {topic}}
	for i := 0; i < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:7791/hub", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.hub.ServeHTTP(w, r)
	synctest.Wait()
	return w
}

// publish makes a version of the feed.
func (s *stage) publish(version int) {
	s.feeds.mu.Lock()
	s.feeds.version = version
	s.feeds.mu.Unlock()
	s.hub.Wake()
	synctest.Wait()
}

// wantBodies checks the bodies that the subscriber got since it was asked last.
func (s *stage) wantBodies(want ...string) {
	s.t.Helper()
	synctest.Wait()
	s.sub.mu.Lock()
	defer s.sub.mu.Unlock()
	if !slices.Equal(s.sub.bodies, want) {
		s.t.Errorf("delivered %q, want %q", s.sub.bodies, want)
	}
	s.sub.bodies = nil
}

// stored are the subscriptions that would survive a restart.
func (s *stage) stored() []archive.HubSubscription {
	synctest.Wait()
	list, _ := s.store.HubSubscriptions(s.t.Context())
	return list
}

// delivered is how many deliveries were tried since wantBodies.
func (s *stage) delivered() int {
	synctest.Wait()
	s.sub.mu.Lock()
	defer s.sub.mu.Unlock()
	return len(s.sub.bodies)
}

// answer has the subscriber answer so.
func (s *stage) answer(code int, err error) {
	s.sub.mu.Lock()
	defer s.sub.mu.Unlock()
	s.sub.code, s.sub.err = code, err
}
