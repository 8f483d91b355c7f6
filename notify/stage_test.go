package notify_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"feedex/feed"
	"feedex/notify"
	"feedex/notify/webpush"
	"feedex/reading"
)

// A stage is a Teller with its store, and receivers that it reaches through pipes, by "host:port".
type stage struct {
	t      *testing.T
	teller *notify.Teller
	sender webpush.Sender
	store  *queue
	end    func()

	mu    sync.Mutex
	hosts map[string]func(net.Conn)
	took  []request
}

// A request is what a receiver took.
type request struct {
	at     time.Time
	url    string
	header http.Header
	body   []byte
}

var errUnknownHost = errors.New("there is no such host")

// play begins a stage, in a bubble of synctest.
func play(t *testing.T) *stage {
	t.Helper()
	sender, err := webpush.NewSender([]byte("a secret of tests"))
	if err != nil {
		t.Fatal(err)
	}
	_, roots := certificateOfTests(t)
	s := &stage{t: t, sender: sender, store: &queue{}, hosts: make(map[string]func(net.Conn))}
	s.teller = notify.New(notify.Config{
		Store: s.store, Dial: s.dialer(false), DialLocal: s.dialer(true), Sender: sender, Roots: roots, Do: s.store.do,
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.teller.Run(ctx)
	}()
	s.end = func() {
		cancel()
		<-done
		s.teller.CloseIdle()
		synctest.Wait()
	}
	return s
}

// dialer connects to hosts of the stage; a local one also to those whose name begins with "home".
func (s *stage) dialer(local bool) func(context.Context, string, string) (net.Conn, error) {
	return func(_ context.Context, _, address string) (net.Conn, error) {
		s.mu.Lock()
		serve := s.hosts[address]
		s.mu.Unlock()
		if serve == nil || !local && address[:4] == "home" {
			return nil, errUnknownHost
		}
		here, there := net.Pipe()
		go serve(there)
		return here, nil
	}
}

// serves has a host answer requests of HTTP by f, and keeps what came.
func (s *stage) serves(host string, secure bool, f http.HandlerFunc) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // it was broken off
		}
		s.mu.Lock()
		s.took = append(s.took, request{time.Now(), r.URL.String(), r.Header, body})
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		f(w, r)
	})
	certificate, _ := certificateOfTests(s.t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[host] = func(conn net.Conn) {
		if secure {
			conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}})
		}
		server := http.Server{Handler: handler}
		_ = server.Serve(&oneConn{conn: conn, done: make(chan struct{})}) // which ends with its connection
	}
}

// requests are those that came since the last call.
func (s *stage) requests() []request {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	took := s.took
	s.took = nil
	return took
}

// keep stores a receiver.
func (s *stage) keep(r reading.Receiver) {
	if r.Hours.Most == 0 {
		r.Hours.Most = reading.DefaultMost
	}
	s.store.mu.Lock()
	s.store.receivers = append(s.store.receivers, r)
	s.store.mu.Unlock()
	s.teller.Wake()
	synctest.Wait()
}

// hit has entries of these titles wait for a receiver.
func (s *stage) hit(id reading.ReceiverID, titles ...string) {
	s.store.mu.Lock()
	for _, title := range titles {
		s.store.last++
		m := reading.Message{
			ID: s.store.last, Filter: "storm", Arrived: time.Now(), Entry: feed.EntryID{byte(s.store.last)},
			Feed: "The News", Title: title, Link: "https://news.example/" + title, Time: time.Now().Add(-time.Minute),
		}
		s.store.waiting = append(s.store.waiting, queued{id, m})
	}
	s.store.mu.Unlock()
	s.teller.Wake()
}

// queue is a Store in memory.
type queue struct {
	mu        sync.Mutex
	last      reading.MessageID
	receivers []reading.Receiver
	waiting   []queued
	told      []told
	err       error // of what is stored

	orders
}

type queued struct {
	to reading.ReceiverID
	reading.Message
}

type told struct {
	to reading.ReceiverID
	at time.Time
}

func (q *queue) Receivers(context.Context) ([]reading.Receiver, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.receivers), nil
}

func (q *queue) Waiting(_ context.Context, id reading.ReceiverID, limit int) (list []reading.Message, more int,
	err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.waiting {
		if m.to == id && len(list) < limit {
			list = append(list, m.Message)
		}
	}
	return list, 0, nil
}

func (q *queue) CountWaiting(context.Context, reading.ReceiverID) (int, error) {
	return len(q.waiting), nil
}

func (q *queue) ToldSince(_ context.Context, id reading.ReceiverID, since time.Time) (times []time.Time, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, x := range q.told {
		if x.to == id && !x.at.Before(since) {
			times = append(times, x.at)
		}
	}
	return times, nil
}

func (q *queue) Told(_ context.Context, to reading.Receiver, at time.Time, messages []reading.MessageID, _ int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	id := to.ID
	if q.err != nil {
		return q.err
	}
	q.told = append(q.told, told{id, at})
	q.waiting = slices.DeleteFunc(q.waiting, func(m queued) bool {
		return m.to == id && slices.Contains(messages, m.ID)
	})
	q.change(id, "", time.Time{}, false)
	return nil
}

func (q *queue) NotTold(_ context.Context, to reading.Receiver, problem string, next time.Time, ended bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.change(to.ID, problem, next, ended)
	}
	return q.err
}

func (q *queue) change(id reading.ReceiverID, problem string, next time.Time, ended bool) {
	for i := range q.receivers {
		if r := &q.receivers[i]; r.ID == id {
			r.Problem, r.Next, r.Ended = problem, next, ended
			if r.Failures++; problem == "" {
				r.Failures = 0
			}
		}
	}
}

func (q *queue) receiver(id reading.ReceiverID) reading.Receiver {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.receivers {
		if r.ID == id {
			return r
		}
	}
	return reading.Receiver{}
}

// oneConn is a listener for one connection.
type oneConn struct {
	conn net.Conn
	done chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if l.conn != nil {
		conn := &closing{Conn: l.conn, done: l.done}
		l.conn = nil
		return conn, nil
	}
	<-l.done
	return nil, http.ErrServerClosed
}

func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return &net.UnixAddr{} }

// closing tells its listener when it is closed.
type closing struct {
	net.Conn
	done chan struct{}
	once sync.Once
}

func (c *closing) Close() error {
	c.once.Do(func() { close(c.done) })
	return c.Conn.Close()
}

// certificateOfTests is that of the standard library's test servers, for example.com, and who vouches for it.
func certificateOfTests(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server.TLS.Certificates[0], roots
}

func titles(rs []request) (list []string) {
	for _, r := range rs {
		_, rest, _ := bytes.Cut(r.body, []byte(`"title":"`))
		title, _, _ := bytes.Cut(rest, []byte(`"`))
		list = append(list, string(title))
	}
	return list
}
