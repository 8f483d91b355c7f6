package notify_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"feedex/reading"
)

func ok(http.ResponseWriter, *http.Request) {}

func hook(id reading.ReceiverID) reading.Receiver {
	return reading.Receiver{ID: id, Name: "hook", Kind: reading.Webhook, Address: "http://hook.example/" +
		strconv.Itoa(int(id))}
}

// What waits is told once, and what comes meanwhile with the next message.
func TestTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("hook.example:80", false, ok)
		s.keep(hook(1))
		s.hit(1, "a")
		if got := titles(s.requests()); !slices.Equal(got, []string{"a"}) {
			t.Errorf("told %q", got)
		}
		time.Sleep(24 * time.Hour)
		if got := titles(s.requests()); got != nil {
			t.Errorf("told again %q", got)
		}
		s.hit(1, "b")
		if got := titles(s.requests()); !slices.Equal(got, []string{"b"}) {
			t.Errorf("told %q", got)
		}
	})
}

// A receiver that fails is tried ever more rarely, for ever, and gets everything in one message when it is back.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		answer := http.StatusBadGateway
		s.serves("hook.example:80", false, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no <b>luck</b>", answer)
		})
		s.keep(hook(1))
		s.hit(1, "a")
		if n := len(s.requests()); n != 1 {
			t.Fatalf("%d requests", n)
		}
		if r := s.store.receiver(1); !strings.Contains(r.Problem, "502") || !strings.Contains(r.Problem, "no luck") {
			t.Errorf("the problem is %q", r.Problem)
		}
		time.Sleep(59 * time.Second)
		if n := len(s.requests()); n != 0 {
			t.Errorf("%d requests within a minute", n)
		}
		time.Sleep(2 * time.Second)
		if n := len(s.requests()); n != 1 {
			t.Errorf("%d requests after a minute", n)
		}
		time.Sleep(30 * 24 * time.Hour)
		if n := len(s.requests()); n < 100 || n > 140 {
			t.Errorf("%d requests in 30 days", n)
		}
		s.hit(1, "b")
		answer = http.StatusNoContent
		time.Sleep(6 * time.Hour)
		got := s.requests()
		if len(got) != 1 || !strings.Contains(string(got[0].body), `"2 entries: storm"`) {
			t.Errorf("told %q", titles(got))
		}
		if r := s.store.receiver(1); r.Failures != 0 || r.Problem != "" {
			t.Errorf("after a success: %+v", r)
		}
	})
}

// A receiver that asks to be left alone is, for a day at most, and one that is gone is asked never again.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		after := "7200"
		s.serves("hook.example:80", false, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/2" {
				w.WriteHeader(http.StatusGone)
				return
			}
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		s.keep(hook(1))
		s.hit(1, "a")
		s.requests()
		time.Sleep(2*time.Hour - time.Second)
		if n := len(s.requests()); n != 0 {
			t.Errorf("%d requests before it wants any", n)
		}
		after = "999999999"
		time.Sleep(2 * time.Second)
		if n := len(s.requests()); n != 1 {
			t.Errorf("%d requests then", n)
		}
		time.Sleep(24*time.Hour + 2*time.Second)
		if n := len(s.requests()); n != 1 {
			t.Errorf("%d requests after a day", n)
		}
		s.keep(hook(2))
		s.hit(2, "b")
		if n := len(s.requests()); n != 1 {
			t.Errorf("%d requests to who is gone", n)
		}
		time.Sleep(12 * time.Hour)
		if n := len(s.requests()); n != 0 || !s.store.receiver(2).Ended {
			t.Errorf("%d more requests, %+v", n, s.store.receiver(2))
		}
	})
}

// Receivers that take a connection and say nothing hold no other up, and are given up after a while.
func TestSilentReceivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("hook.example:80", false, func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/9" {
				<-r.Context().Done()
			}
		})
		for id := range reading.ReceiverID(4) {
			s.keep(hook(id + 1))
			s.hit(id+1, "a")
		}
		s.keep(hook(9))
		s.hit(9, "b")
		time.Sleep(31 * time.Second)
		got := titles(s.requests())
		slices.Sort(got)
		if !slices.Equal(got, []string{"a", "a", "a", "a", "b"}) {
			t.Errorf("told %q", got)
		}
		if p := s.store.receiver(1).Problem; p == "" {
			t.Error("a receiver that says nothing has no problem")
		}
	})
}

// The private network is reached only where the owner has a receiver there, and a redirect leads nowhere.
func TestPrivateNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("home.example:80", false, ok)
		s.serves("hook.example:80", false, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://home.example/secret", http.StatusTemporaryRedirect)
		})
		r := hook(1)
		r.Address = "http://home.example/"
		s.keep(r)
		s.hit(1, "a")
		if n := len(s.requests()); n != 0 || s.store.receiver(1).Problem == "" {
			t.Errorf("%d requests at home", n)
		}
		r.ID, r.Local = 2, true
		s.keep(r)
		s.hit(2, "b")
		if n := len(s.requests()); n != 1 {
			t.Errorf("%d requests at home to who is there", n)
		}
		r = hook(3)
		r.Local = true
		s.keep(r)
		s.hit(3, "c")
		if got := s.requests(); len(got) != 1 || got[0].url != "/3" || s.store.receiver(3).Failures != 1 {
			t.Errorf("a redirect leads to %+v", got)
		}
	})
}

// A node that ends notes nothing of what was under way: it is sent again.
func TestEndWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		s.serves("hook.example:80", false, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		s.keep(hook(1))
		s.hit(1, "a")
		if n := len(s.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
		s.end()
		if r := s.store.receiver(1); r.Failures != 0 || len(s.store.waiting) != 1 {
			t.Errorf("%+v, %d wait", r, len(s.store.waiting))
		}
	})
}
