package notify_test

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/mail"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"feedex/feed"
	"feedex/notify/webpush/webpushtest"
	"feedex/reading"
)

// A webhook is signed as Standard Webhooks has it: the secret is text, or base64 behind "whsec_". What is none there is
// text, too, where it was kept before it was refused.
func TestWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("hook.example:80", false, ok)
		key := []byte("a key of twenty-four b.")
		const old = "whsec_no base64"
		for i, secret := range []string{string(key), "whsec_" + base64.StdEncoding.EncodeToString(key), old} {
			r := hook(reading.ReceiverID(i + 1))
			r.Secret = secret
			s.keep(r)
			s.hit(r.ID, `"quoted" & more`)
			got := s.requests()
			if len(got) != 1 {
				t.Fatalf("%d requests", len(got))
			}
			h := got[0].header
			if secret == old {
				key = []byte(old)
			}
			mac := hmac.New(sha256.New, key)
			mac.Write([]byte(h.Get("Webhook-Id") + "." + h.Get("Webhook-Timestamp") + "."))
			mac.Write(got[0].body)
			if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); h.Get("Webhook-Signature") != want ||
				h.Get("Webhook-Id") != fmt.Sprintf("feedex-%s-%[2]d-%[2]d-%[2]d", s.sender.PublicKey()[:22], i+1) ||
				h.Get("Webhook-Timestamp") != fmt.Sprint(time.Now().Unix()) {
				t.Errorf("signed %s at %s, want %s", h.Get("Webhook-Signature"), h.Get("Webhook-Timestamp"), want)
			}
			var doc struct {
				Title, Text, Body string
				Entries           []struct {
					ID, Filter, Feed, Title, Link string
					Published, Arrived            time.Time
				}
				More int
			}
			if err := json.Unmarshal(got[0].body, &doc); err != nil {
				t.Fatal(err)
			}
			if e := doc.Entries; len(e) != 1 || e[0].Title != `"quoted" & more` || doc.Title != e[0].Title ||
				e[0].ID != (feed.EntryID{byte(i + 1)}).String() || e[0].Filter != "storm" || e[0].Feed != "The News" ||
				!e[0].Published.Equal(time.Now().Add(-time.Minute)) || doc.Text != "The News · storm "+e[0].Link ||
				doc.Body != doc.Text || doc.More != 0 {
				t.Errorf("%s", got[0].body)
			}
		}
		r := hook(4)
		s.keep(r)
		s.hit(r.ID, "one", "two")
		if got := s.requests(); len(got) != 1 || !strings.Contains(string(got[0].body),
			`"text":"• two (The News) https://news.example/two\n• one (The News) https://news.example/one"`) {
			t.Errorf("of two entries bridges are sent %+v", got)
		}
	})
}

// An entry without a title is told by the beginning of its text, as lists have it, and where it has none by its feed.
func TestWithoutTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("hook.example:80", false, ok)
		s.keep(hook(1))
		for lead, title := range map[string]string{"<p>Ships <b>wait</b>": "Ships wait", "": "The News"} {
			s.store.mu.Lock()
			s.store.last++
			m := reading.Message{ID: s.store.last, Filter: "storm", Feed: "The News", Arrived: time.Now(), Lead: lead}
			s.store.waiting = append(s.store.waiting, queued{1, m})
			s.store.mu.Unlock()
			s.teller.Wake()
			if got := titles(s.requests()); !slices.Equal(got, []string{title}) {
				t.Errorf("of %q is told %q, want %q", lead, got, title)
			}
		}
	})
}

// What one neighbor alone vouches for is told as that, in whatever form people see it.
func TestWhatNobodyConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("hook.example:80", false, ok)
		letters := s.post("localhost:25", false, false)
		s.keep(hook(1))
		s.keep(reading.Receiver{ID: 2, Kind: reading.Mail, Address: "me@example.com"})
		long := strings.Repeat("News", 100)
		forged := reading.Message{Filter: "storm", Feed: long, Title: "Forged", Unconfirmed: true}
		shown, untitled := forged, forged
		shown.Unconfirmed, untitled.Title = false, ""
		for _, c := range []struct {
			list  []reading.Message
			marks int
		}{
			{[]reading.Message{forged}, 1}, {[]reading.Message{shown}, 0},
			{[]reading.Message{forged, shown, untitled}, 2},
		} {
			s.store.mu.Lock()
			for _, m := range c.list {
				for to := range reading.ReceiverID(2) {
					s.store.last++
					m.ID, m.Arrived = s.store.last, time.Now()
					s.store.waiting = append(s.store.waiting, queued{to + 1, m})
				}
			}
			s.store.mu.Unlock()
			s.teller.Wake()
			got := s.requests()
			if len(got) != 1 || len(letters) != 1 {
				t.Fatalf("of %d entries there are %d requests and %d letters", len(c.list), len(got), len(letters))
			}
			var doc struct {
				Text    string
				Entries []struct{ Unconfirmed bool }
			}
			if err := json.Unmarshal(got[0].body, &doc); err != nil || doc.Entries[0].Unconfirmed != (c.marks > 0) {
				t.Errorf("%s, %v", got[0].body, err)
			}
			for _, text := range []string{doc.Text, (<-letters).text} {
				if got := strings.Count(text, ", not confirmed"); got != c.marks {
					t.Errorf("%d of %d are told as not confirmed, want %d:\n%s", got, len(c.list), c.marks, text)
				}
			}
		}
	})
}

// The topic is the last part of the address; what is before it is the server.
func TestNtfy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.serves("ntfy.example:80", false, ok)
		for i, c := range []struct{ address, path string }{
			{"http://ntfy.example/alerts", "/"},
			{"http://ntfy.example/under/here/alerts", "/under/here"},
		} {
			r := reading.Receiver{ID: reading.ReceiverID(i + 1), Kind: reading.Ntfy, Address: c.address, Secret: "tk_1"}
			s.keep(r)
			s.hit(r.ID, "日本")
			got := s.requests()
			var m struct{ Topic, Title, Message, Click string }
			if len(got) != 1 || got[0].url != c.path || got[0].header.Get("Authorization") != "Bearer tk_1" ||
				json.Unmarshal(got[0].body, &m) != nil || m.Topic != "alerts" || m.Title != "日本" ||
				m.Message != "The News · storm" || m.Click != "https://news.example/日本" {
				t.Errorf("%s: %+v, %+v", c.address, got, m)
			}
		}
		for range 1000 {
			s.hit(1, strings.Repeat("long ", 40))
		}
		for _, r := range s.requests() {
			var m struct{ Message string }
			if err := json.Unmarshal(r.body, &m); err != nil || len(m.Message) > 4096 {
				t.Errorf("a message of %d bytes, %v", len(m.Message), err)
			}
		}
	})
}

// What is sent by Web Push is read by who subscribed alone, and says by what key it is sent.
func TestWebPush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		var answer atomic.Int64
		answer.Store(http.StatusCreated)
		s.serves("push.example.com:443", true, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(int(answer.Load()))
		})
		browser, err := webpushtest.New("https://push.example.com/for/me")
		if err != nil {
			t.Fatal(err)
		}
		s.keep(reading.Receiver{ID: 1, Kind: reading.WebPush, Address: string(browser.Subscription())})
		for _, title := range []string{"a", strings.Repeat("\x01", 100_000), strings.Repeat("日", 5000)} {
			s.hit(1, title)
			got := s.requests()
			if len(got) != 1 {
				t.Fatalf("%d requests: %s", len(got), s.store.receiver(1).Problem)
			}
			r := got[0]
			claim, err := webpushtest.Verify(r.header.Get("Authorization"), "https://push.example.com", r.at)
			if err != nil || claim.Key != s.sender.PublicKey() || r.url != "/for/me" ||
				r.header.Get("TTL") != "86400" || r.header.Get("Content-Encoding") != "aes128gcm" {
				t.Errorf("%v, %v", r.header, err)
			}
			text, err := browser.Open(r.body)
			var m struct{ Title, Text, Link, Entry string }
			if err != nil || json.Unmarshal(text, &m) != nil ||
				!strings.HasPrefix(title, strings.TrimSuffix(m.Title, "…")) ||
				m.Text != "The News · storm" || m.Entry == "" || title == "a" && m.Link != "https://news.example/a" {
				t.Errorf("%s, %v", text, err)
			}
		}
		answer.Store(http.StatusNotFound) // which a push service says of who is there no more
		s.hit(1, "b")
		if n := len(s.requests()); n != 1 || !s.store.receiver(1).Ended {
			t.Errorf("%d requests, %+v", n, s.store.receiver(1))
		}
	})
}

// A letter is what a mail server took.
type letter struct{ from, to, login, text string }

// post has a host of the stage take mail, by TLS from the begin or after STARTTLS. It offers AUTH, and what is named.
func (s *stage) post(host string, fromBegin bool, secure bool, offers ...string) <-chan letter {
	letters := make(chan letter, 10)
	certificate, _ := certificateOfTests(s.t)
	config := &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[host] = func(conn net.Conn) {
		defer func() { conn.Close() }()
		if fromBegin {
			conn = tls.Server(conn, config)
		}
		var l letter
		in := bufio.NewReader(conn)
		say := func(lines ...string) { _, _ = io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n") }
		encrypted := fromBegin
		say("220 mail.example.com")
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			switch command := strings.ToUpper(line[:min(4, len(line))]); command {
			case "EHLO":
				if secure && !encrypted {
					say("250-mail.example.com", "250 STARTTLS")
				} else {
					say("250-mail.example.com")
					for _, offer := range offers {
						say("250-" + offer)
					}
					say("250 AUTH PLAIN")
				}
			case "STAR":
				say("220 go ahead")
				conn = tls.Server(conn, config)
				in, encrypted = bufio.NewReader(conn), true
			case "AUTH":
				coded := strings.Fields(line)[2]
				login, _ := base64.StdEncoding.DecodeString(coded)
				l.login = strings.ReplaceAll(string(login), "\x00", " ")
				say("235 welcome")
			case "MAIL":
				l.from = strings.TrimSpace(line)
				say("250 yes")
			case "RCPT":
				l.to = strings.TrimSpace(line)
				say("250 yes")
			case "DATA":
				say("354 go on")
				var text bytes.Buffer
				for {
					part, err := in.ReadString('\n')
					if err != nil {
						return
					}
					if part == ".\r\n" {
						break
					}
					text.WriteString(part)
				}
				if l.text = text.String(); strings.Contains(l.text, "poison") {
					say("554 5.7.1 no <b>poison</b>")
					continue
				}
				letters <- l
				say("250 taken")
			case "QUIT":
				say("221 bye")
				return
			default:
				say("250 yes")
			}
		}
	}
	return letters
}

func TestMail(t *testing.T) {
	for _, c := range []struct {
		server, host      string
		fromBegin, secure bool
		login             string
		title             string
	}{
		{"", "localhost:25", false, false, "", "Sturm über\r\nBcc: all@example.com"},
		{"smtp://mail.example.com", "mail.example.com:587", false, true, " me@example.com pass word",
			"=?utf-8?Q?=0D=0ABcc:all@example.com?="},
		{"smtps://someone@mail.example.com", "mail.example.com:465", true, true, " someone pass word", "a"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := play(t)
			defer s.end()
			letters := s.post(c.host, c.fromBegin, c.secure)
			r := reading.Receiver{ID: 1, Kind: reading.Mail, Address: "me@example.com", Server: c.server}
			if c.secure {
				r.Secret = "pass word"
			}
			s.keep(r)
			s.hit(1, c.title)
			synctest.Wait()
			if p := s.store.receiver(1).Problem; p != "" || len(letters) != 1 {
				t.Fatalf("%q: %d letters, %s", c.server, len(letters), p)
			}
			l := <-letters
			m, err := mail.ReadMessage(strings.NewReader(l.text))
			if err != nil {
				t.Fatal(err)
			}
			id := m.Header.Get("Message-Id")
			subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
			if err != nil || strings.Contains(subject, "\n") != strings.Contains(c.title, "\n") ||
				m.Header.Get("User-Agent") != "feedex" ||
				m.Header.Get("X-Mailer") != "" {
				t.Errorf("subject %q, %v, %v", subject, err, m.Header)
			}
			if l.login != c.login || !strings.Contains(l.from, "<me@example.com>") ||
				!strings.Contains(l.to, "<me@example.com>") ||
				m.Header.Get("Bcc") != "" || m.Header.Get("Auto-Submitted") != "auto-generated" ||
				!strings.HasPrefix(id, "<feedex-"+s.sender.PublicKey()[:22]+"-1-1-1@") ||
				!strings.Contains(l.text, "storm") {
				t.Errorf("%q: %+v", c.server, l)
			}
		})
	}
}

// An address with letters beyond ASCII goes to a server alone that takes those.
func TestMailBeyondASCII(t *testing.T) {
	for offer, letters := range map[string]int{"8BITMIME": 0, "SMTPUTF8": 1} {
		synctest.Test(t, func(t *testing.T) {
			s := play(t)
			defer s.end()
			took := s.post("localhost:25", false, false, offer)
			s.keep(reading.Receiver{ID: 1, Kind: reading.Mail, Address: "мe@exämple.com"})
			s.hit(1, "a")
			synctest.Wait()
			p := s.store.receiver(1).Problem
			if len(took) != letters || (letters == 0) != strings.Contains(p, "SMTPUTF8") {
				t.Errorf("%s: %d letters, the problem is %q", offer, len(took), p)
			}
		})
	}
}

// Passwords go over no connection that is not encrypted.
func TestMailWithoutTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		letters := s.post("mail.example.com:587", false, false)
		s.keep(reading.Receiver{ID: 1, Kind: reading.Mail, Address: "me@example.com", Secret: "x",
			Server: "smtp://mail.example.com"})
		s.hit(1, "a")
		synctest.Wait()
		if p := s.store.receiver(1).Problem; p == "" || len(letters) != 0 {
			t.Errorf("%d letters, the problem is %q", len(letters), p)
		}
	})
}

// A mail server that never ends what it says, by TLS or before it, is read so far and no further.
func TestMailServerThatSaysTooMuch(t *testing.T) {
	for server, host := range map[string]string{
		"": "localhost:25", "smtps://mail.example.com": "mail.example.com:465",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := play(t)
			defer s.end()
			certificate, _ := certificateOfTests(t)
			lines := strings.Repeat("220-on and on\r\n", 1000)
			var said atomic.Int64
			s.hosts[host] = func(conn net.Conn) {
				if server != "" {
					conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}})
				}
				for said.Load() < 1<<20 {
					n, err := io.WriteString(conn, lines)
					if said.Add(int64(n)); err != nil {
						return
					}
				}
				conn.Close()
			}
			s.keep(reading.Receiver{ID: 1, Kind: reading.Mail, Address: "me@example.com", Server: server})
			s.hit(1, "a")
			time.Sleep(10 * time.Second) // in which the connection is closed
			if p := s.store.receiver(1).Problem; said.Load() > 300<<10 || !strings.Contains(p, "too much") {
				t.Errorf("%d bytes were read, the problem is %q", said.Load(), p)
			}
		})
	}
}
