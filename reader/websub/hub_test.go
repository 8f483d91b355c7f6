package websub_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"feedex/reader/websub"
)

// §5.1, §5.3, §7 and §7.1: asked, verified, delivered, signed.
func TestSubscribeAndDeliver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		if w := s.ask("hub.secret", "s3cret", "hub.unknown", "x"); w.Code != http.StatusAccepted {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		q := s.sub.asked[0]
		if q.Get("for") != "me" || q.Get("hub.mode") != "subscribe" || q.Get("hub.topic") != topic ||
			q.Get("hub.lease_seconds") != "864000" || len(q.Get("hub.challenge")) < 32 {
			t.Errorf("the callback was asked %v", q)
		}
		s.wantBodies()
		s.publish(2)
		s.wantBodies(`from "1" to "2"`)
		mac := hmac.New(sha256.New, []byte("s3cret"))
		mac.Write([]byte(`from "1" to "2"`))
		h := s.sub.last.Header
		if h.Get("User-Agent") != "feedex" || h.Get("X-Hub-Signature") != "sha256="+hex.EncodeToString(mac.Sum(nil)) ||
			h.Get("Content-Type") != "application/atom+xml; charset=utf-8" ||
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

// Subscribers that come by a web server with TLS know the feeds by https.
func TestTopicBehindTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		if w := s.ask("hub.topic", "https"+strings.TrimPrefix(topic, "http")); w.Code != http.StatusAccepted {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		s.publish(2)
		s.wantBodies(`from "1" to "2"`)
		if link := s.sub.last.Header["Link"][0]; link != "<https"+strings.TrimPrefix(topic, "http")+`>; rel="self"` {
			t.Errorf("delivered as %s", link)
		}
	})
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
			r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:7791/hub",
				strings.NewReader("hub.mode=subscribe&hub.topic="+topic+"&hub.callback="+callback))
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
		// It does not run.
		h := websub.New(websub.Config{Feeds: &publication{}, Store: &memory{}, Transport: &subscriber{}})
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
