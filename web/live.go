package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// maxLive is how many pages are kept up to date at a time.
	maxLive = 32
	// liveEvery is how often it is looked whether something changed, and aliveEvery after what time of silence a browser
	// hears that the connection stands.
	liveEvery  = 2 * time.Second
	aliveEvery = 25 * time.Second
	// sendTime is how long a browser may take to read an event.
	sendTime = 10 * time.Second
)

// A stream sends server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
type stream struct {
	w     http.ResponseWriter
	h     *Handler
	until func(context.Context) context.Context // ends when the server does
	close func()
}

// stream begins an answer that consists of events, unless there are too many already.
func (h *Handler) stream(w http.ResponseWriter) (*stream, error) {
	select {
	case h.live <- struct{}{}:
	default:
		w.Header().Set("Retry-After", "60")
		http.Error(w, "Too many pages are open.", http.StatusServiceUnavailable)
		return nil, fmt.Errorf("%d streams are open", maxLive)
	}
	s := &stream{w: w, h: h}
	var stops []func()
	s.until = func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		stops = append(stops, cancel)
		if h.Ending != nil {
			go func() {
				select {
				case <-h.Ending:
					cancel()
				case <-ctx.Done():
				}
			}()
		}
		return ctx
	}
	s.close = func() {
		for _, stop := range stops {
			stop()
		}
		<-h.live
	}
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	if err := s.write(": feedex\n\n"); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// send sends one event.
func (s *stream) send(name, text string) error {
	return s.write("event: " + name + "\ndata: " + strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\n", "\ndata: ") + "\n\n")
}

func (s *stream) write(text string) error {
	c := http.NewResponseController(s.w)
	_ = c.SetWriteDeadline(time.Now().Add(sendTime)) // where that cannot be set, the server's own holds
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return c.Flush()
}

// serveLive tells an open page when something changed.
func (h *Handler) serveLive(w http.ResponseWriter, r *http.Request) {
	s, err := h.stream(w)
	if err != nil {
		return
	}
	defer s.close()
	ctx := s.until(r.Context())
	ticks := time.NewTicker(liveEvery)
	defer ticks.Stop()
	seen, said := h.Source.Version(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			switch version := h.Source.Version(); {
			case version != seen:
				seen, said, err = version, now, s.send("changed", "")
			case now.Sub(said) > aliveEvery:
				said, err = now, s.write(": still here\n\n")
			}
			if err != nil {
				return
			}
		}
	}
}
