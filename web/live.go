package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// maxStreams is how many streams of events a session has at a time.
	maxStreams = 8
	// liveEvery is how often it is looked whether something changed, and aliveEvery after what time of silence a
	// browser hears that the connection stands.
	liveEvery  = 2 * time.Second
	aliveEvery = 25 * time.Second
	// sendTime is how long a browser may take to read an event.
	sendTime = 10 * time.Second
)

// streams counts the streams of each session. The zero value is ready.
type streams struct {
	mu   sync.Mutex
	open map[string]int
}

// enter reports whether a session may have one more.
func (s *streams) enter(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[string]int)
	}
	if s.open[session] >= maxStreams {
		return false
	}
	s.open[session]++
	return true
}

func (s *streams) leave(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[session]--; s.open[session] == 0 {
		delete(s.open, session)
	}
}

// A stream sends server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
type stream struct {
	w     http.ResponseWriter
	close func()
}

// stream begins an answer that consists of events, unless the session has too many already. The context is that of the
// request, and ends also when the server does.
func (h *kit) stream(w http.ResponseWriter, r *http.Request) (*stream, context.Context, error) {
	session := visitOf(r)
	if loggedIn(r.Context()) {
		session = cookieOf(r, sessionCookie)
	}
	if !h.streams.enter(session) {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "Too many pages are open.", http.StatusServiceUnavailable)
		return nil, nil, fmt.Errorf("%d streams are open", maxStreams)
	}
	ctx, cancel := context.WithCancel(r.Context())
	go func() {
		select {
		case <-h.Ending:
			cancel()
		case <-ctx.Done():
		}
	}()
	s := &stream{w: w, close: func() {
		cancel()
		h.streams.leave(session)
	}}
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	if err := s.write(": feedex\n\n"); err != nil {
		s.close()
		return nil, nil, err
	}
	return s, ctx, nil
}

// send sends one event.
func (s *stream) send(name, text string) error {
	return s.write("event: " + name + "\ndata: " + strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\n",
		"\ndata: ") + "\n\n")
}

func (s *stream) write(text string) error {
	c := http.NewResponseController(s.w)
	_ = c.SetWriteDeadline(time.Now().Add(sendTime)) // where that cannot be set, the server's own holds
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return c.Flush()
}

// serveLive tells an open page of ours when something changed, until its session ends.
func (h *desk) serveLive(w http.ResponseWriter, r *http.Request) {
	if err := h.own(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	s, ctx, err := h.stream(w, r)
	if err != nil {
		return
	}
	defer s.close()
	ticks := time.NewTicker(liveEvery)
	defer ticks.Stop()
	seen, said := h.Shelf.Version(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			version := h.Shelf.Version()
			if version == seen && now.Sub(said) <= aliveEvery {
				continue
			}
			if !h.goesOn(r) {
				return
			}
			if version != seen {
				err = s.send("changed", "")
			} else {
				err = s.write(": still here\n\n")
			}
			if err != nil {
				return
			}
			seen, said = version, now
		}
	}
}
