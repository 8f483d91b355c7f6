// Package ntfytest has a server for tests that takes and streams messages as ntfy does
// (https://docs.ntfy.sh/subscribe/api/ and /publish/), and can be made to fail.
package ntfytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A line is a message that a topic has, or what a stream says beside.
type line struct {
	ID      string `json:"id"`
	Time    int64  `json:"time"`
	Event   string `json:"event"`
	Topic   string `json:"topic"`
	Title   string `json:"title,omitempty"`
	Message string `json:"message,omitempty"`
}

// A Server is an http.Handler. The zero value has no messages and wants no token.
type Server struct {
	// Token lets in who shows it; "" everybody.
	Token string
	// KeepAlive is after what time a stream says that it is there. Default: 45 seconds, as ntfy does.
	KeepAlive time.Duration

	mu       sync.Mutex
	messages []line
	dropped  int // so many were before them
	n        int
	changed  chan struct{} // closed when something changes; nil while nobody waits
	streams  int
	asked    []string // the since of each stream
	refuse   func(http.ResponseWriter, *http.Request) bool
	cut      int // so many times all streams were ended
	raw      [][]byte
}

// Publish has a topic hold a message, sent at that moment, and returns its ID.
func (s *Server) Publish(topic, text string, at time.Time) string {
	return s.put(line{Topic: topic, Message: text}, at)
}

func (s *Server) put(m line, at time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	m.ID, m.Time, m.Event = fmt.Sprintf("m%08d", s.n), at.Unix(), "message"
	s.messages = append(s.messages, m)
	s.change()
	return m.ID
}

// change wakes those who stream. The caller holds the lock.
func (s *Server) change() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Forget drops what the topics hold, as a server's cache does after half a day.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped += len(s.messages)
	s.messages = nil
}

// Say has open streams say a line.
func (s *Server) Say(text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = append(s.raw, text)
	s.change()
}

// Cut ends all streams.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut++
	s.change()
}

// Refuse has f asked about each request; where it returns true it has answered.
func (s *Server) Refuse(f func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = f
}

// Texts are the messages that a topic has, but for those of Publish.
func (s *Server) Texts(topic string) (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.Topic == topic && m.Title != "" {
			list = append(list, m.Message)
		}
	}
	return list
}

// Asked are what was asked for by each stream since the last call, and how many are open.
func (s *Server) Asked() (since []string, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since = s.asked
	s.asked = nil
	return since, s.streams
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	refuse := s.refuse
	s.mu.Unlock()
	if refuse != nil && refuse(w, r) {
		return
	}
	if s.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Token {
		http.Error(w, `{"code":40301,"http":403,"error":"forbidden"}`, http.StatusForbidden)
		return
	}
	topic, stream := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/json")
	switch {
	case r.Method == http.MethodGet && stream:
		s.stream(w, r, topic)
	case r.Method == http.MethodPost && r.URL.Path == "/":
		var m line
		if json.NewDecoder(http.MaxBytesReader(w, r.Body, 8192)).Decode(&m) != nil || m.Topic == "" {
			http.Error(w, "not a message", http.StatusBadRequest)
			return
		}
		s.put(m, time.Now())
	default:
		http.NotFound(w, r)
	}
}

// stream says what a topic has behind what is known already, and what comes.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, topic string) {
	since := r.URL.Query().Get("since")
	s.mu.Lock()
	s.asked = append(s.asked, since)
	s.streams++
	cut, raw, next := s.cut, len(s.raw), s.dropped+len(s.messages)
	if since != "" {
		next = s.dropped
	}
	for i, m := range s.messages { // of an ID that it has forgotten ntfy says all
		if m.ID == since {
			next = s.dropped + i + 1
		}
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.streams--
	}()
	every := s.KeepAlive
	if every == 0 {
		every = 45 * time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	say := func(v any) {
		text, _ := json.Marshal(v)
		_, _ = w.Write(append(text, '\n'))
	}
	say(line{ID: "open", Time: time.Now().Unix(), Event: "open", Topic: topic})
	for {
		s.mu.Lock()
		fresh, lines, ended := s.messages[max(0, next-s.dropped):], s.raw[raw:], s.cut > cut
		next, raw = s.dropped+len(s.messages), len(s.raw)
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		for _, m := range fresh {
			if m.Topic == topic {
				say(m)
			}
		}
		for _, text := range lines {
			_, _ = w.Write(text)
		}
		if ended || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-changed:
		case <-tick.C:
			say(line{ID: "keep", Time: time.Now().Unix(), Event: "keepalive", Topic: topic})
		case <-r.Context().Done():
			return
		}
	}
}
