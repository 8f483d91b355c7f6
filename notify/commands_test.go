package notify_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"feedex/notify/ntfytest"
	"feedex/reading"
)

// orders are the part of a queue that keeps commands, and what was done by them.
type orders struct {
	did      []string
	undoable error // of what is to be done
	commands []reading.Command
}

func (q *queue) do(_ context.Context, _ reading.PersonID, text string, _ time.Time) (string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.undoable != nil {
		return "", q.undoable
	}
	q.did = append(q.did, text)
	return "done: " + text, nil
}

func (q *queue) Heard(_ context.Context, at reading.Receiver, c reading.Command) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return q.err
	}
	for i := range q.receivers {
		if r := &q.receivers[i]; r.ID == at.ID && r.Word == at.Word {
			r.Heard = c.Message
		}
	}
	if c.Answer != "" {
		q.commands = append(q.commands, c)
	}
	return nil
}

func (q *queue) Answered(_ context.Context, _ reading.Receiver, message string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.commands {
		if q.commands[i].Message == message {
			q.commands[i].Answer = ""
		}
	}
	return q.err
}

func (q *queue) Deaf(_ context.Context, at reading.Receiver, problem string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.receivers {
		if q.receivers[i].ID == at.ID {
			q.receivers[i].Deaf = problem
		}
	}
	return q.err
}

func (q *queue) WasHeard(_ context.Context, _ reading.ReceiverID, message string) (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.commands, func(c reading.Command) bool { return c.Message == message }), nil
}

func (q *queue) Unanswered(context.Context, reading.ReceiverID) (list []reading.Command, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range q.commands {
		if c.Answer != "" {
			list = append(list, c)
		}
	}
	return list, nil
}

// wantDone checks what was done since the last call.
func (s *stage) wantDone(want ...string) {
	s.t.Helper()
	synctest.Wait()
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	if !slices.Equal(s.store.did, want) {
		s.t.Errorf("done %q, want %q", s.store.did, want)
	}
	s.store.did = nil
}

const (
	word = "abcd-efgh-2345-wxyz"
	cmds = "orders"
)

// commander is a receiver that may command.
func commander() reading.Receiver {
	return reading.Receiver{ID: 1, Person: reading.Owner, Name: "phone", Kind: reading.Ntfy, Secret: "tk_1",
		Address: "https://example.com/alerts", Commands: cmds, Word: reading.WordHash(word)}
}

// hears has a server of ntfy on the stage.
func (s *stage) hears() *ntfytest.Server {
	ntfy := &ntfytest.Server{Token: "tk_1"}
	s.serves("example.com:443", true, ntfy.ServeHTTP)
	return ntfy
}

// Commands are done at once, each once, with the word alone, and answered; those of before the node began to hear, too,
// as far as they are of the last day.
func TestCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		ntfy := s.hears()
		ntfy.Publish(cmds, word+" too old", time.Now().Add(-reading.MessageAge-time.Second))
		ntfy.Publish(cmds, word+" waited", time.Now().Add(-time.Hour))
		ntfy.Publish(cmds, "ABCDefgh2345WXYZ  as phones write it ", time.Now())
		s.keep(commander())
		s.wantDone("waited", "as phones write it")
		for _, text := range []string{"", " ", word[:18] + " list", word + "x list", "list", "list " + word,
			"unknown list", strings.Repeat("a", 8192)} {
			ntfy.Publish(cmds, text, time.Now())
		}
		ntfy.Publish("others", word+" elsewhere", time.Now())
		s.wantDone()
		ntfy.Publish(cmds, word+"\tlist\nnews", time.Now())
		ntfy.Publish(cmds, word, time.Now())
		s.wantDone("list\nnews", "")
		want := []string{"done: waited", "done: as phones write it", "done: list\nnews", "done: "}
		if got := ntfy.Texts("alerts"); !slices.Equal(got, want) {
			t.Errorf("answered %q, want %q", got, want)
		}
		time.Sleep(24 * time.Hour)
		if since, open := ntfy.Asked(); len(since) != 1 || since[0] != "all" || open != 1 {
			t.Errorf("in a day of keepalives it streamed since %q, %d open", since, open)
		}
	})
}

// Nobody hears the answer to what has no word, and no receiver of another kind or word is heard.
func TestNoCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		ntfy := s.hears()
		none := commander()
		none.Word = reading.Hash{} // which is nobody's
		s.keep(none)
		for range 1000 {
			ntfy.Publish(cmds, "list", time.Now())
			ntfy.Publish(cmds, "", time.Now())
		}
		time.Sleep(time.Hour)
		s.wantDone()
		if got := ntfy.Texts("alerts"); got != nil {
			t.Errorf("answered %q", got)
		}
	})
}

// A stream that ends goes on behind what was heard, also where the server has forgotten that or says all again, and
// what was done is not done again.
func TestCommandsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		ntfy := s.hears()
		s.keep(commander())
		ntfy.Publish(cmds, word+" one", time.Now())
		last := ntfy.Publish(cmds, "nothing", time.Now())
		s.wantDone("one")
		ntfy.Cut()
		synctest.Wait()
		ntfy.Publish(cmds, word+" two", time.Now())
		time.Sleep(11 * time.Second)
		s.wantDone("two")
		if since, _ := ntfy.Asked(); !slices.Equal(since, []string{"all", last}) {
			t.Errorf("streamed since %q, last is %s", since, last)
		}
		s.store.mu.Lock()
		s.store.receivers[0].Heard = "gone" // as where the archive was put back
		s.store.receivers[0].Secret = "tk_2"
		s.store.mu.Unlock()
		s.teller.Wake()
		synctest.Wait()
		s.store.mu.Lock()
		s.store.receivers[0].Secret = "tk_1"
		s.store.mu.Unlock()
		s.teller.Wake()
		s.wantDone()
		ntfy.Forget()
		ntfy.Publish(cmds, word+" three", time.Now())
		s.wantDone("three")
		for range 20 { // a server that ends each stream is asked ever more rarely
			ntfy.Cut()
			time.Sleep(31 * time.Minute)
			synctest.Wait()
		}
		ntfy.Refuse(func(w http.ResponseWriter, _ *http.Request) bool {
			fmt.Fprintln(w, `{"event":"open"}`)
			return true
		})
		ntfy.Cut()
		s.requests()
		time.Sleep(24 * time.Hour)
		if n := len(s.requests()); n > 60 {
			t.Errorf("asked %d times in a day", n)
		}
	})
}

// Who removes a receiver or gives it another word is obeyed at once.
func TestCommandsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		ntfy := s.hears()
		s.keep(commander())
		s.store.mu.Lock()
		s.store.receivers[0].Word = reading.WordHash("another")
		s.store.mu.Unlock()
		s.teller.Wake()
		synctest.Wait()
		ntfy.Publish(cmds, word+" old", time.Now())
		ntfy.Publish(cmds, "another new", time.Now())
		s.wantDone("new")
		s.store.mu.Lock()
		s.store.receivers[0].ID = 2 // removed and added as it was, between two looks
		s.store.mu.Unlock()
		s.teller.Wake()
		synctest.Wait()
		ntfy.Publish(cmds, "another again", time.Now())
		s.wantDone("again")
		if r := s.store.receiver(2); r.Heard == "" {
			t.Error("what was heard of a receiver is not noted once it was removed and added again")
		}
		s.store.mu.Lock()
		s.store.receivers = nil
		s.store.mu.Unlock()
		s.teller.Wake()
		synctest.Wait()
		ntfy.Publish(cmds, "another late", time.Now())
		s.wantDone()
		if _, open := ntfy.Asked(); open != 0 {
			t.Errorf("%d streams are open", open)
		}
	})
}

// What cannot be done now, noted or answered is tried again until it is, in order, and what was done and noted is not
// done again.
func TestCommandsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		ntfy := s.hears()
		s.keep(commander())
		set := func(undoable, err error) {
			s.store.mu.Lock()
			defer s.store.mu.Unlock()
			s.store.undoable, s.store.err = undoable, err
		}
		set(errors.New("the disk is full"), nil)
		ntfy.Publish(cmds, word+" one", time.Now())
		ntfy.Publish(cmds, word+" two", time.Now())
		time.Sleep(10 * time.Minute)
		s.wantDone()
		if r := s.store.receiver(1); r.Deaf != "the disk is full" {
			t.Errorf("said to be %q", r.Deaf)
		}
		set(nil, nil)
		time.Sleep(lastHearing)
		s.wantDone("one", "two")
		if r := s.store.receiver(1); r.Deaf != "" {
			t.Errorf("still said to be %q", r.Deaf)
		}
		var down atomic.Bool
		ntfy.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost || !down.Load() {
				return false
			}
			w.Header().Set("Retry-After", "7200")
			http.Error(w, "limit reached", http.StatusTooManyRequests)
			return true
		})
		down.Store(true)
		ntfy.Publish(cmds, word+" three", time.Now())
		s.wantDone("three")
		s.requests()
		time.Sleep(7190 * time.Second)
		if n := len(s.requests()); n != 0 {
			t.Errorf("%d requests before the server wants some", n)
		}
		down.Store(false)
		time.Sleep(20 * time.Second)
		s.wantDone()
		if got := ntfy.Texts("alerts"); !slices.Equal(got, []string{"done: one", "done: two", "done: three"}) {
			t.Errorf("answered %q", got)
		}
		set(nil, errors.New("no room"))
		ntfy.Publish(cmds, word+" four", time.Now())
		synctest.Wait()
		set(nil, nil)
		time.Sleep(lastHearing)
		s.wantDone("four", "four") // the first was not noted: commands may be done twice
	})
}

const lastHearing = 31 * time.Minute

// No more commands are done in an hour than may be; the others wait at the server.
func TestCommandFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		ntfy := s.hears()
		var want []string
		for n := range 130 {
			want = append(want, fmt.Sprint(n))
			ntfy.Publish(cmds, word+" "+want[n], time.Now())
		}
		s.keep(commander())
		s.wantDone(want[:60]...)
		time.Sleep(59 * time.Minute)
		s.wantDone()
		time.Sleep(2 * time.Minute)
		s.wantDone(want[60:120]...)
		time.Sleep(61 * time.Minute)
		s.wantDone(want[120:]...)
	})
}

// A server that says nothing, lines without an end, lines that are no messages, or something else than ntfy, is left
// and asked again; a line that is too long is read past.
func TestBadStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		ntfy := s.hears()
		s.keep(commander())
		for _, line := range []string{
			strings.Repeat("x", 3<<20), "\n", "{}\n", "null\n", "[1]\n", `{"event":"message","id":7}` + "\n",
			`{"event":"message","id":"` + strings.Repeat("i", 65) + `","message":"` + word + ` long"}` + "\n",
			`{"event":"poll_request","id":"p","message":"` + word + ` poll"}` + "\n",
			`{"event":"message","id":"","message":"` + word + ` nameless"}` + "\n",
			`{"event":"message","id":"huge","message":"` + word + " " + strings.Repeat("x", 1<<20) + `"}` + "\n",
			string(bytes.Repeat([]byte{0}, 100)) + "\n",
		} {
			ntfy.Say([]byte(line))
			synctest.Wait() // so that the server says them one after the other, and no message within one
		}
		ntfy.Publish(cmds, word+" after all that", time.Now())
		s.wantDone("after all that")
		if _, open := ntfy.Asked(); open != 1 {
			t.Errorf("%d streams are open", open)
		}
		for _, c := range []struct {
			what, problem string
			answer        func(http.ResponseWriter, *http.Request)
		}{
			{"it hangs", "says nothing", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
			{"it opens and hangs", "", func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprintln(w, `{"event":"open"}`)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}},
			{"a web page", "no ntfy server", func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, "<p>Welcome</p>\n"+`{"event":"message","id":"x","message":"%s page"}`+"\n", word)
			}},
			{"it never ends", "too much", func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprintln(w, `{"event":"open"}`)
				for line := bytes.Repeat([]byte("x"), 1<<20); r.Context().Err() == nil; {
					if _, err := w.Write(line); err != nil {
						return
					}
				}
			}},
			{"a redirect", "302", func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://home.example/", http.StatusFound)
			}},
			{"forbidden", "403", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }},
		} {
			ntfy.Refuse(func(w http.ResponseWriter, r *http.Request) bool { c.answer(w, r); return true })
			ntfy.Cut()
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if r := s.store.receiver(1); !strings.Contains(r.Deaf, c.problem) {
				t.Errorf("%s: said to be %q", c.what, r.Deaf)
			}
			ntfy.Refuse(nil)
			ntfy.Publish(cmds, word+" "+c.what, time.Now())
			time.Sleep(lastHearing)
			s.wantDone(c.what)
		}
	})
}

// Commands are heard in the private network where the owner named it alone.
func TestCommandsOfThePrivateNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		ntfy := &ntfytest.Server{}
		s.serves("home.example:80", false, ntfy.ServeHTTP)
		r := commander()
		r.Address, r.Secret = "http://home.example/alerts", ""
		ntfy.Publish(cmds, word+" list", time.Now())
		s.keep(r)
		s.wantDone()
		s.store.mu.Lock()
		s.store.receivers[0].Local = true
		s.store.mu.Unlock()
		s.teller.Wake()
		s.wantDone("list")
	})
}

// What lets in by the query of the address does so where commands are heard, too.
func TestCommandsByAQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		ntfy := s.hears()
		ntfy.Token = ""
		ntfy.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
			refused := r.URL.Query().Get("auth") != "QmVhcmVyIHRrXzI="
			if refused {
				http.Error(w, "forbidden", http.StatusForbidden)
			}
			return refused
		})
		r := commander()
		r.Address, r.Secret = r.Address+"?auth=QmVhcmVyIHRrXzI%3D", ""
		s.keep(r)
		last := ntfy.Publish(cmds, word+" list", time.Now())
		s.wantDone("list")
		if got := ntfy.Texts("alerts"); !slices.Equal(got, []string{"done: list"}) {
			t.Errorf("answered %q", got)
		}
		ntfy.Cut()
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if since, _ := ntfy.Asked(); !slices.Equal(since, []string{"all", last}) {
			t.Errorf("streamed since %q, last is %s", since, last)
		}
	})
}

// What comes while a receiver is mute is told when that ends.
func TestMute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("hook.example:80", false, ok)
		r := hook(1)
		r.Muted = time.Now().Add(2 * time.Hour)
		s.keep(r)
		s.hit(1, "a")
		s.hit(1, "b")
		time.Sleep(2*time.Hour - time.Second)
		if n := len(s.requests()); n != 0 {
			t.Errorf("told %d times while mute", n)
		}
		time.Sleep(2 * time.Second)
		if got := titles(s.requests()); !slices.Equal(got, []string{"2 entries: storm"}) {
			t.Errorf("told %q", got)
		}
		r.ID, r.Muted = 2, time.Now().AddDate(10, 0, 0) // by a clock that was ahead
		s.keep(r)
		s.hit(2, "c")
		if n := len(s.requests()); n != 1 {
			t.Errorf("told %d times though no receiver is mute for ten years", n)
		}
	})
}
