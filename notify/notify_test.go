package notify_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
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

// Of what a receiver answers the text is told that it shows: of a page without its markup.
func TestWhatReceiversAnswer(t *testing.T) {
	for said, want := range map[[2]string]string{
		{"text/html", "<!DOCTYPE html>\n<html><style>a{}</style><body>no <b>luck</b>"}: "no luck",
		{"application/json", `{"error":"want <= 99 bytes"}`}:                           `{"error":"want <= 99 bytes"}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := play(t)
			defer s.end()
			s.serves("hook.example:80", false, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", said[0])
				w.WriteHeader(http.StatusBadGateway)
				io.WriteString(w, said[1])
			})
			s.keep(hook(1))
			s.hit(1, "a")
			synctest.Wait()
			if r := s.store.receiver(1); r.Problem != "it answers 502 Bad Gateway: "+want {
				t.Errorf("the problem is %q", r.Problem)
			}
		})
	}
}

// A receiver that fails is tried ever more rarely, for ever, and gets everything in one message when it is back.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		var answer atomic.Int64
		answer.Store(http.StatusBadGateway)
		s.serves("hook.example:80", false, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no luck", int(answer.Load()))
		})
		s.keep(hook(1))
		s.hit(1, "a")
		if n := len(s.requests()); n != 1 {
			t.Fatalf("%d requests", n)
		}
		if r := s.store.receiver(1); r.Problem != "it answers 502 Bad Gateway: no luck" {
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
		answer.Store(http.StatusNoContent)
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

// A receiver is tried at once where the next time is further away than any: the clock was set back.
func TestATimeTooFarAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("hook.example:80", false, ok)
		for id, wait := range []time.Duration{24 * time.Hour, 24*time.Hour + time.Second, 365 * 24 * time.Hour} {
			r := hook(reading.ReceiverID(id + 1))
			r.Next = time.Now().Add(wait)
			s.keep(r)
			s.hit(r.ID, "a")
			if n := len(s.requests()); n != min(id, 1) {
				t.Errorf("to be tried after %s: %d requests", wait, n)
			}
		}
	})
}

// What comes while a receiver is mute goes out behind that, by its hours: with the next digest, if it has those.
func TestMuteAndDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("hook.example:80", false, ok)
		day := time.Now().Local()
		at := func(hour, minute int) time.Time {
			return time.Date(day.Year(), day.Month(), day.Day()+1, hour, minute, 0, 0, time.Local)
		}
		time.Sleep(time.Until(at(17, 0)))
		r := hook(1)
		r.Hours.Digest = []reading.TimeOfDay{18 * 60}
		r.Muted = at(24, 32).UTC()
		s.keep(r)
		s.hit(1, "a")
		plain := hook(2)
		plain.Muted = r.Muted
		s.keep(plain)
		s.hit(2, "b")
		var told []time.Time
		for range 48 {
			time.Sleep(time.Hour)
			for _, q := range s.requests() {
				told = append(told, q.at)
			}
		}
		if len(told) != 2 || !told[0].Equal(at(24, 32)) || !told[1].Equal(at(24+18, 0)) {
			t.Errorf("told at %v", told)
		}
	})
}

// A receiver that asks to be left alone is, for a day at most, and one that is gone is asked never again.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		var after atomic.Int64
		after.Store(7200)
		s.serves("hook.example:80", false, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/2" {
				w.WriteHeader(http.StatusGone)
				return
			}
			w.Header().Set("Retry-After", strconv.Itoa(int(after.Load())))
			w.WriteHeader(http.StatusTooManyRequests)
		})
		s.keep(hook(1))
		s.hit(1, "a")
		s.requests()
		time.Sleep(2*time.Hour - time.Second)
		if n := len(s.requests()); n != 0 {
			t.Errorf("%d requests before it wants any", n)
		}
		after.Store(999_999_999)
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
		const more = "nothing more is sent"
		if r := s.store.receiver(2); len(s.requests()) != 0 || !r.Ended || !strings.Contains(r.Problem, more) {
			t.Errorf("more requests, or %+v", r)
		}
		if err := s.teller.Try(t.Context(), hook(2)); err == nil || strings.Contains(err.Error(), more) {
			t.Errorf("a trial says %v", err)
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
		s.hosts["localhost:25"] = func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
		for id := range reading.ReceiverID(4) {
			r := hook(id + 1)
			if id == 3 {
				r = reading.Receiver{ID: id + 1, Kind: reading.Mail, Address: "me@example.com"}
			}
			s.keep(r)
			s.hit(id+1, "a")
		}
		s.keep(hook(9))
		s.hit(9, "b")
		time.Sleep(31 * time.Second)
		got := titles(s.requests())
		slices.Sort(got)
		if !slices.Equal(got, []string{"a", "a", "a", "b"}) {
			t.Errorf("told %q", got)
		}
		for id := range reading.ReceiverID(4) {
			if p := s.store.receiver(id + 1).Problem; p != "no answer within 30 s" {
				t.Errorf("the problem of a receiver that says nothing is %q", p)
			}
		}
	})
}

// What receivers write into errors is told as one line, and not for ever.
func TestLongRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		long := "\x1b[2J" + strings.Repeat("x", 60_000)
		answers := func(text string) func(net.Conn) {
			return func(conn net.Conn) {
				go io.Copy(io.Discard, conn)
				_, _ = io.WriteString(conn, text)
			}
		}
		s.hosts["hook.example:80"] = answers("HTTP/1.1 500 " + long + "\r\nContent-Length: 0\r\n\r\n")
		s.hosts["localhost:25"] = answers(strings.Repeat("554-"+long[:500]+"\r\n", 100) + "554 no\r\n")
		mail := reading.Receiver{Kind: reading.Mail, Address: "me@example.com"}
		for _, r := range []reading.Receiver{hook(1), mail} {
			err := s.teller.Try(t.Context(), r)
			if err == nil || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\x1b\r\n") {
				t.Errorf("%s: the error is %.80q…", r.Kind, fmt.Sprint(err))
			}
		}
	})
}

// A message that was taken is not sent again because that cannot be stored, as on a full disk; nor is one tried again
// at once that was not.
func TestNothingCanBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("hook.example:80", false, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/2" {
				w.WriteHeader(http.StatusBadGateway)
			}
		})
		s.store.err = errUnknownHost
		s.keep(hook(1))
		s.keep(hook(2))
		s.hit(1, "a")
		s.hit(2, "b")
		time.Sleep(10 * time.Minute)
		s.hit(1, "c")
		time.Sleep(10 * time.Minute)
		if got := titles(s.requests()); len(got) != 2 {
			t.Errorf("sent %q", got)
		}
		s.store.mu.Lock()
		s.store.err = nil
		s.store.mu.Unlock()
		time.Sleep(2 * time.Minute)
		if got := titles(s.requests()); !slices.Contains(got, "c") || slices.Contains(got, "a") {
			t.Errorf("sent %q once it can be stored", got)
		}
	})
}

// What a receiver can never take keeps nothing else from it: it hears that there is something.
func TestUnfit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("hook.example:80", false, func(w http.ResponseWriter, _ *http.Request) {
			s.mu.Lock()
			took := s.took[len(s.took)-1].body
			s.mu.Unlock()
			if strings.Contains(string(took), "poison") {
				w.WriteHeader(http.StatusRequestEntityTooLarge)
			}
		})
		s.keep(hook(1))
		s.hit(1, "poison")
		if got := titles(s.requests()); len(got) != 2 || strings.Contains(got[1], "poison") ||
			s.store.receiver(1).Failures != 0 {
			t.Errorf("sent %q, %+v", got, s.store.receiver(1))
		}
		s.hit(1, "a")
		if got := titles(s.requests()); !slices.Equal(got, []string{"a"}) {
			t.Errorf("then %q", got)
		}
		s.store.mu.Lock() // what a neighbor made up comes with what polls have shown
		for _, title := range []string{"b", "poison", "c"} {
			s.store.last++
			m := reading.Message{ID: s.store.last, Filter: "storm", Title: title, Arrived: time.Now()}
			m.Unconfirmed = title == "poison"
			s.store.waiting = append(s.store.waiting, queued{1, m})
		}
		s.store.mu.Unlock()
		s.teller.Wake()
		got := s.requests()
		const told = `"text":"• c\n• An entry that cannot be told here (not confirmed)\n• b"`
		if len(got) != 2 || !strings.Contains(string(got[1].body), told) {
			t.Errorf("of others it is told %s", got[len(got)-1].body)
		}
	})
}

// A receiver that fails by what is in a message, and says that it is itself out of order, is not silent for ever.
func TestStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("hook.example:80", false, func(w http.ResponseWriter, _ *http.Request) {
			s.mu.Lock()
			took := s.took[len(s.took)-1].body
			s.mu.Unlock()
			if strings.Contains(string(took), "poison") {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		s.keep(hook(1))
		s.hit(1, "poison")
		s.requests()
		time.Sleep(time.Hour)
		if r := s.store.receiver(1); r.Failures < 6 {
			t.Errorf("within an hour: %+v", r)
		}
		time.Sleep(2 * time.Hour)
		s.requests()
		s.hit(1, "a")
		if got := titles(s.requests()); !slices.Equal(got, []string{"a"}) || s.store.receiver(1).Failures != 0 {
			t.Errorf("then it is told %q: %+v", got, s.store.receiver(1))
		}
	})
}

// So it is where a mail server refuses what is in a mail; what it refuses for ever is tried again all the same.
func TestUnfitMail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		letters := s.post("localhost:25", false, false)
		s.keep(reading.Receiver{ID: 1, Kind: reading.Mail, Address: "me@example.com"})
		s.hit(1, "poison")
		synctest.Wait()
		if r := s.store.receiver(1); len(letters) != 1 || r.Failures != 0 {
			t.Fatalf("%d letters, %+v", len(letters), r)
		}
		if l := <-letters; !strings.Contains(l.text, "An entry that cannot be told here") {
			t.Errorf("sent %s", l.text)
		}
		r := s.store.receiver(1)
		r.ID, r.Address = 2, "poison@example.com" // which the bare message has as well
		s.keep(r)
		s.hit(2, "a")
		synctest.Wait()
		if p := s.store.receiver(2).Problem; p != `it answers 554 "5.7.1 no poison"` {
			t.Errorf("the problem is %q", p)
		}
	})
}

// Of many entries that wait each message has some, and no address is in what is said of trouble.
func TestManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.keep(hook(1))
		s.hit(1, strings.Repeat("\"", 1000))
		s.requests()
		if p := s.store.receiver(1).Problem; p == "" || strings.Contains(p, "hook.example") {
			t.Errorf("the problem is %q", p)
		}
		for range 249 {
			s.hit(1, "a")
		}
		s.serves("hook.example:80", false, ok)
		time.Sleep(time.Hour)
		got := s.requests()
		if len(got) != 3 || len(got[0].body) > 100<<10 ||
			!strings.Contains(string(got[2].body), `"50 entries: storm"`) {
			t.Errorf("%d messages", len(got))
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
		if said := s.store.receiver(3).Problem; !strings.Contains(said, "redirects are not followed") {
			t.Errorf("of a redirect it is said: %s", said)
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
