package websub_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
	"time"

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
	w.Header().Add("Link", "<"+topic+`>; rel="self"`)
	w.Header().Add("Link", `<http://127.0.0.1:7791/hub>; rel="hub"`)
	if r.Header.Get("A-IM") == "feed" {
		w.WriteHeader(http.StatusIMUsed)
	}
	if r.Method != http.MethodHead {
		fmt.Fprintf(w, "from %s to %s", r.Header.Get("If-None-Match"), etag)
	}
}

// shelf is a Store in memory.
type shelf struct {
	mu   sync.Mutex
	list []websub.Subscription
	err  error
}

func (s *shelf) Subscriptions(context.Context) ([]websub.Subscription, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list), s.err
}

func (s *shelf) Keep(_ context.Context, x websub.Subscription) error {
	s.Drop(context.Background(), x.Callback, x.Topic)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.list = append(s.list, x)
	}
	return s.err
}

func (s *shelf) Drop(_ context.Context, callback, topic string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(x websub.Subscription) bool { return x.Callback == callback && x.Topic == topic })
	return s.err
}

// A subscriber is what is at the callback. It is also the way there.
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
	resp := &http.Response{StatusCode: s.code, Header: http.Header{"Location": {"http://169.254.169.254/"}}, Body: http.NoBody, Request: r}
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
	store *shelf
	sub   *subscriber
	stop  func()
}

// play starts one.
func play(t *testing.T) *stage {
	s := &stage{t: t, feeds: &publication{version: 1}, store: &shelf{}, sub: &subscriber{}}
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

// wantBodies are what the subscriber got since it was asked last.
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
func (s *stage) stored() []websub.Subscription {
	synctest.Wait()
	list, _ := s.store.Subscriptions(s.t.Context())
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

// §5.1, §5.3, §7 and §7.1: asked, verified, delivered, signed.
func TestSubscribeAndDeliver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		if w := s.ask("hub.secret", "s3cret", "hub.unknown", "x"); w.Code != http.StatusAccepted {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		q := s.sub.asked[0]
		if q.Get("for") != "me" || q.Get("hub.mode") != "subscribe" || q.Get("hub.topic") != topic || q.Get("hub.lease_seconds") != "864000" || len(q.Get("hub.challenge")) < 32 {
			t.Errorf("the callback was asked %v", q)
		}
		s.wantBodies()
		s.publish(2)
		s.wantBodies(`from "1" to "2"`)
		mac := hmac.New(sha256.New, []byte("s3cret"))
		mac.Write([]byte(`from "1" to "2"`))
		h := s.sub.last.Header
		if h.Get("X-Hub-Signature") != "sha256="+hex.EncodeToString(mac.Sum(nil)) || h.Get("Content-Type") != "application/atom+xml; charset=utf-8" ||
			len(h["Link"]) != 2 || s.sub.last.URL.String() != callback {
			t.Errorf("delivered to %s with %v", s.sub.last.URL, h)
		}
		s.publish(2)
		s.wantBodies()
		s.ask() // again, without a secret
		s.publish(3)
		s.wantBodies(`from "2" to "3"`)
		if got := s.sub.last.Header.Get("X-Hub-Signature"); got != "" {
			t.Errorf("signed without a secret: %s", got)
		}
		s.ask("hub.mode", "unsubscribe")
		if q := s.sub.asked[2]; q.Get("hub.mode") != "unsubscribe" || q.Has("hub.lease_seconds") {
			t.Errorf("the callback was asked %v", q)
		}
		s.publish(4)
		s.wantBodies()
		if len(s.stored()) != 0 {
			t.Errorf("still stored: %+v", s.stored())
		}
	})
}

// Only who agrees is subscribed or unsubscribed.
func TestVerificationOfIntent(t *testing.T) {
	for name, refuse := range map[string]func(s *subscriber){
		"404":          func(s *subscriber) { s.code = 404 },
		"a redirect":   func(s *subscriber) { s.code = 302 },
		"another word": func(s *subscriber) { s.echo = func(string) string { return "yes" } },
		"more":         func(s *subscriber) { s.echo = func(c string) string { return c + "\n" } },
		"nobody there": func(s *subscriber) { s.err = errors.New("refused") },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := play(t)
			defer s.end()
			refuse(s.sub)
			s.ask()
			if len(s.stored()) != 0 || len(s.sub.asked) > 1 {
				t.Errorf("%s: subscribed: %+v, asked %d times", name, s.stored(), len(s.sub.asked))
			}
			s.sub.code, s.sub.err, s.sub.echo = 0, nil, nil
			s.ask()
			refuse(s.sub)
			s.ask("hub.mode", "unsubscribe")
			if len(s.stored()) != 1 {
				t.Errorf("%s: unsubscribed", name)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		for _, c := range []struct {
			code    int
			changes []string
		}{
			{400, []string{"hub.mode", "publish"}},
			{400, []string{"hub.mode", ""}},
			{400, []string{"hub.callback", ""}},
			{400, []string{"hub.callback", "ftp://127.0.0.1/"}},
			{400, []string{"hub.callback", "http:///x"}},
			{400, []string{"hub.callback", "http://a:b@127.0.0.1/"}},
			{400, []string{"hub.callback", "http://127.0.0.1/" + strings.Repeat("x", 3000)}},
			{400, []string{"hub.topic", "http://example.com/feed"}},
			{400, []string{"hub.topic", "http://127.0.0.1:7792/feeds/1.atom"}},
			{400, []string{"hub.topic", ""}},
			{404, []string{"hub.topic", "http://127.0.0.1:7791/feeds/2.atom"}},
			{400, []string{"hub.secret", strings.Repeat("x", 200)}},
			{400, []string{"hub.lease_seconds", "long"}},
			{400, []string{"hub.lease_seconds", "-1"}},
			{400, []string{"x", strings.Repeat("x", 20_000)}},
		} {
			if w := s.ask(c.changes...); w.Code != c.code || w.Body.Len() == 0 {
				t.Errorf("%.60q: %d %s, want %d", c.changes, w.Code, w.Body, c.code)
			}
		}
		for header, value := range map[string]string{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"} {
			r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:7791/hub", strings.NewReader("hub.mode=subscribe&hub.topic="+topic+"&hub.callback="+callback))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set(header, value)
			w := httptest.NewRecorder()
			if s.hub.ServeHTTP(w, r); w.Code != http.StatusForbidden {
				t.Errorf("a web page: %d", w.Code)
			}
		}
		w := httptest.NewRecorder()
		if s.hub.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/hub", nil)); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("GET: %d", w.Code)
		}
		if len(s.sub.asked) != 0 {
			t.Errorf("callbacks were asked: %v", s.sub.asked)
		}
	})
}

// A lease is what was asked for within bounds, and nothing is delivered when it is over.
func TestLeases(t *testing.T) {
	for asked, want := range map[string]time.Duration{"": 240 * time.Hour, "0": 240 * time.Hour, "1": time.Hour, "7200": 2 * time.Hour, "999999999999": 720 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := play(t)
			defer s.end()
			s.ask("hub.lease_seconds", asked)
			if got := s.sub.asked[0].Get("hub.lease_seconds"); got != fmt.Sprint(int(want.Seconds())) {
				t.Errorf("a lease of %q is %s seconds", asked, got)
			}
			time.Sleep(want - time.Second)
			s.publish(2)
			s.wantBodies(`from "1" to "2"`)
			time.Sleep(2 * time.Second)
			s.publish(3)
			s.wantBodies()
			if len(s.stored()) != 0 {
				t.Errorf("a subscription outlives its lease: %+v", s.stored())
			}
		})
	}
}

// What failed is tried again, ever less often, and includes what came meanwhile; who is dead is forgotten.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.ask("hub.lease_seconds", "2592000")
		s.answer(500, nil)
		s.publish(2)
		s.wantBodies(`from "1" to "2"`)
		s.publish(3)
		s.wantBodies() // not before a minute is over
		time.Sleep(59 * time.Second)
		s.wantBodies()
		time.Sleep(2 * time.Second)
		s.wantBodies(`from "1" to "3"`)
		s.answer(0, errors.New("refused"))
		time.Sleep(3 * time.Minute)
		s.answer(0, nil)
		time.Sleep(5 * time.Minute)
		s.wantBodies(`from "1" to "3"`)
		if x := s.stored()[0]; x.Failures != 0 || x.ETag != `"3"` {
			t.Errorf("after a success: %+v", x)
		}
		s.answer(503, nil)
		s.publish(4)
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		if n := s.delivered(); n < 10 || n > 16 || len(s.stored()) != 1 {
			t.Errorf("%d tries in ten hours, %d subscriptions", n, len(s.stored()))
		}
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if n := s.delivered(); n != 16 || len(s.stored()) != 0 {
			t.Errorf("%d tries at last, %d subscriptions", n, len(s.stored()))
		}
	})
}

// §7: 410 is the subscriber's way to end it.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.ask()
		s.answer(410, nil)
		s.publish(2)
		s.answer(0, nil)
		s.publish(3)
		s.wantBodies(`from "1" to "2"`)
		if len(s.stored()) != 0 {
			t.Errorf("still there: %+v", s.stored())
		}
	})
}

// Redirects are failures, and lead nowhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.ask()
		s.answer(307, nil)
		s.publish(2)
		s.wantBodies(`from "1" to "2"`)
		if s.sub.last.URL.Host != "127.0.0.1:8080" || s.stored()[0].Failures != 1 {
			t.Errorf("went to %s, %+v", s.sub.last.URL, s.stored())
		}
	})
}

// A hub that starts again knows its subscribers, and what each has.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.ask("hub.secret", "x")
		s.publish(2)
		s.wantBodies(`from "1" to "2"`)
		s.stop()
		s.feeds.version = 5
		s.start()
		s.wantBodies(`from "2" to "5"`)
		if s.sub.last.Header.Get("X-Hub-Signature") == "" {
			t.Error("not signed any more")
		}
	})
}

// What changed without a word is delivered within ten minutes.
func TestLooksByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.ask()
		s.feeds.mu.Lock()
		s.feeds.version = 2
		s.feeds.mu.Unlock()
		time.Sleep(10*time.Minute + time.Second)
		s.wantBodies(`from "1" to "2"`)
	})
}

// There are no more subscriptions, and no more requests at a time, than there may be.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		for i := range websub.MaxSubscriptions {
			if w := s.ask("hub.callback", fmt.Sprint("http://127.0.0.1/", i)); w.Code != http.StatusAccepted {
				t.Fatalf("subscription %d: %d", i, w.Code)
			}
		}
		if w := s.ask(); w.Code != http.StatusServiceUnavailable {
			t.Errorf("one too many: %d", w.Code)
		}
		if w := s.ask("hub.callback", "http://127.0.0.1/7"); w.Code != http.StatusAccepted {
			t.Errorf("one again: %d", w.Code)
		}
		s.publish(2)
		if n := s.delivered(); n != websub.MaxSubscriptions {
			t.Errorf("%d deliveries", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		h := websub.New(websub.Config{Feeds: &publication{}, Store: &shelf{}, Transport: &subscriber{}}) // does not run
		s := &stage{t: t, hub: h}
		for i := range websub.MaxWaiting {
			if w := s.ask("hub.callback", fmt.Sprint("http://127.0.0.1/", i)); w.Code != http.StatusAccepted {
				t.Fatalf("request %d: %d", i, w.Code)
			}
		}
		if w := s.ask(); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("one too many: %d", w.Code)
		}
	})
}
