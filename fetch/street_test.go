package fetch

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/feed"
	"feedex/grade"
)

// A street is a number of publishers, who write down their visitors and what these were told.
type street struct {
	t          *testing.T
	begun      time.Time
	publishers map[string]*publisher // by host

	mu    sync.Mutex
	log   []grade.Request
	asked map[string][]time.Time // by host and path
}

// A publisher serves feeds in its own way.
type publisher struct {
	feeds int                                                           // so many, /0 and so on
	every time.Duration                                                 // between entries
	serve func(s *street, v *visitor) (fresh, retryAfter time.Duration) // answers, and says what it asked for by that

	stays  time.Duration // what the document says
	sleeps bool          // it wants nobody to come from midnight to six
	wrong  string        // what is wrong with it at the end of the week
	may    string        // what may be, for a moment
	ends   bool
	alias  feed.URL // where it is by then
}

// A visitor is a request, and the way to answer it.
type visitor struct {
	http.ResponseWriter
	r   *http.Request
	p   *publisher
	url feed.URL
	now time.Duration // since the week began
}

func newStreet(t *testing.T) *street {
	s := &street{t: t, begun: time.Now(), asked: make(map[string][]time.Time)}
	const hour, day = time.Hour, 24 * time.Hour
	s.publishers = map[string]*publisher{
		"plain.example.com":  {feeds: 1, every: 3 * hour, serve: plainly},
		"silent.example.com": {feeds: 1, every: 60 * day, serve: plainly},
		"odd.example.com":    {feeds: 1, every: 4 * hour, serve: oddly},
		"static.example.com": {feeds: 1, every: 9 * hour, serve: withoutValidators},
		"cached.example.com": {feeds: 1, every: 3 * hour, serve: fresh("max-age=5400", 90*time.Minute)},
		"months.example.com": {feeds: 1, every: 5 * hour, serve: fresh("public, max-age=31536000", 365*day)},
		"stated.example.com": {feeds: 1, every: 3 * hour, serve: expires(3 * hour)},
		"ttl.example.com":    {feeds: 1, every: 3 * hour, serve: plainly, stays: 5 * hour},
		"asleep.example.com": {feeds: 1, every: 3 * hour, serve: plainly, sleeps: true},
		"delta.example.com":  {feeds: 1, every: 3 * hour, serve: deltas},
		"strict.example.com": {feeds: 12, every: 4 * hour, serve: strictly(20 * time.Second), may: "HTTP 429"},
		"busy.example.com":   {feeds: 3, every: 4 * hour, serve: refusing(503, 30*hour, 36*hour, time.Hour)},
		"full.example.com":   {feeds: 2, every: 4 * hour, serve: refusing(429, 2*day, 3*day, 2*hour)},
		"walled.example.com": {feeds: 3, every: 4 * hour, serve: refusing(403, 4*day, 4*day+8*hour, 0)},
		"closed.example.com": {feeds: 1, every: 4 * hour, serve: refusing(403, 0, 60*day, 0), wrong: "HTTP 403"},
		"gone.example.com": {feeds: 1, every: 4 * hour, serve: refusing(410, 3*day, 60*day, 0),
			wrong: "HTTP 410", ends: true},
		"old.example.com":   {feeds: 1, every: 4 * hour, serve: moved, alias: "http://new.example.org/0"},
		"new.example.org":   {every: 4 * hour, serve: plainly},
		"page.example.com":  {feeds: 1, every: 4 * hour, serve: webPage(0, 60*day), wrong: "web page"},
		"login.example.com": {feeds: 1, every: 4 * hour, serve: webPage(2*day, 3*day)},
		"loop.example.com":  {feeds: 1, every: 4 * hour, serve: loop, wrong: "circle"},
	}
	return s
}

// feeds are those that are worth following.
func (s *street) feeds() (list []feed.URL) {
	for _, host := range slices.Sorted(maps.Keys(s.publishers)) {
		for i := range s.publishers[host].feeds {
			list = append(list, feed.URL(fmt.Sprintf("http://%s/%d", host, i)))
		}
	}
	return list
}

// serve answers the visitor at a connection.
func (s *street) serve(addr string, conn net.Conn) {
	host, _, _ := net.SplitHostPort(addr)
	server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		s.answer(host, w, r)
	})}
	done := make(chan struct{})
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(done)
		}
	}
	if err := server.Serve(&oneConn{conn: conn, done: done}); !errors.Is(err, io.EOF) {
		s.t.Errorf("serve %s: %v", addr, err)
	}
}

// oneConn is a listener to which one connection comes.
type oneConn struct {
	conn net.Conn
	done chan struct{}
}

func (l *oneConn) Accept() (conn net.Conn, err error) {
	if conn, l.conn = l.conn, nil; conn != nil {
		return conn, nil
	}
	<-l.done
	return nil, io.EOF
}
func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// answer has the host's publisher answer a request, and writes down both.
func (s *street) answer(host string, w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, now := s.publishers[host], time.Now()
	if p == nil || r.Host != host {
		s.t.Errorf("%s was asked for %s", host, r.Host)
		return
	}
	for _, name := range []string{"Cookie", "Referer", "Cache-Control", "Pragma"} {
		if r.Header.Get(name) != "" {
			s.t.Errorf("%s: a request has a %s", host, name)
		}
	}
	one := grade.Request{
		At: now, URL: "http://" + host + r.URL.Path, First: len(s.asked[host+r.URL.Path]) == 0,
		Sent: grade.Validators{ETag: r.Header.Get("If-None-Match"), LastModified: r.Header.Get("If-Modified-Since")},
	}
	if host == "new.example.org" { // what it serves is known by another name
		one.Feed, one.First = "http://old.example.com"+r.URL.Path, false
	}
	rec := httptest.NewRecorder()
	v := &visitor{rec, r, p, feed.URL(one.URL), now.Sub(s.begun)}
	one.Fresh, one.RetryAfter = p.serve(s, v)
	maps.Copy(w.Header(), rec.Header())
	w.WriteHeader(rec.Code)
	w.Write(rec.Body.Bytes())
	one.Status = rec.Code
	if rec.Code == 200 || rec.Code == 226 || rec.Code == 304 {
		one.Got = grade.Validators{ETag: rec.Header().Get("ETag"), LastModified: rec.Header().Get("Last-Modified")}
	}
	s.log = append(s.log, one)
	s.asked[host+r.URL.Path] = append(s.asked[host+r.URL.Path], now)
}

// entries are when entries came out until then, oldest first; the first ten are older than the week.
func (s *street) entries(p *publisher, until time.Time) (at []time.Time) {
	for t := s.begun.Add(-10 * p.every); !t.After(until); t = t.Add(p.every) {
		at = append(at, t)
	}
	return at
}

// document is a feed with its entries from number first on, fifteen at most, and when the last came out.
func (s *street) document(v *visitor, first int) (doc []byte, last time.Time) {
	entries := s.entries(v.p, s.begun.Add(v.now))
	name := v.url
	if v.r.Host == "new.example.org" {
		name = "http://old.example.com/0"
	}
	var b bytes.Buffer
	b.WriteString(`<rss version="2.0"><channel><title>T</title><link>http://example.com/</link>`)
	if v.p.stays > 0 {
		fmt.Fprintf(&b, "<ttl>%d</ttl>", v.p.stays/time.Minute)
	}
	if v.p.sleeps {
		b.WriteString("<skipHours><hour>0</hour><hour>1</hour><hour>2</hour><hour>3</hour><hour>4</hour><hour>" +
			"5</hour></skipHours>")
	}
	for i := len(entries) - 1; i >= max(first, len(entries)-15); i-- {
		fmt.Fprintf(&b, `<item><guid isPermaLink="false">%s#%d</guid><title>Entry %d</title><pubDate>%s</pubDate>`+
			`</item>`,
			name, i, i, entries[i].UTC().Format(time.RFC1123Z))
	}
	b.WriteString("</channel></rss>")
	return b.Bytes(), entries[len(entries)-1]
}

// plainly sends a document with both validators, or 304.
func plainly(s *street, v *visitor) (fresh, retryAfter time.Duration) {
	doc, last := s.document(v, 0)
	etag, modified := fmt.Sprintf(`"%d"`, last.Unix()), last.UTC().Format(http.TimeFormat)
	v.Header().Set("ETag", etag)
	v.Header().Set("Last-Modified", modified)
	if v.r.Header.Get("If-None-Match") == etag && v.r.Header.Get("If-Modified-Since") == modified {
		v.WriteHeader(http.StatusNotModified)
		return 0, 0
	}
	v.Write(doc)
	return 0, 0
}

// oddly has validators of its own making, and compresses.
func oddly(s *street, v *visitor) (fresh, retryAfter time.Duration) {
	doc, last := s.document(v, 0)
	etag, modified := fmt.Sprintf("W/\"v %d,-gzip", last.Unix()), "the "+last.UTC().Format("2. Jan 06, 15:04")
	v.Header()["Etag"], v.Header()["Last-Modified"] = []string{etag}, []string{modified}
	if v.r.Header.Get("If-None-Match") == etag && v.r.Header.Get("If-Modified-Since") == modified {
		v.WriteHeader(http.StatusNotModified)
		return 0, 0
	}
	v.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(v)
	z.Write(doc)
	z.Close()
	return 0, 0
}

func withoutValidators(s *street, v *visitor) (fresh, retryAfter time.Duration) {
	doc, _ := s.document(v, 0)
	v.Write(doc)
	return 0, 0
}

// fresh says for how long an answer is, in a 304 as well.
func fresh(cacheControl string, d time.Duration) func(*street, *visitor) (time.Duration, time.Duration) {
	return func(s *street, v *visitor) (time.Duration, time.Duration) {
		v.Header().Set("Cache-Control", cacheControl)
		plainly(s, v)
		return d, 0
	}
}

// expires says it by a date.
func expires(d time.Duration) func(*street, *visitor) (time.Duration, time.Duration) {
	return func(s *street, v *visitor) (time.Duration, time.Duration) {
		v.Header().Set("Expires", time.Now().Add(d).UTC().Format(http.TimeFormat))
		plainly(s, v)
		return d - time.Second, 0 // dates have no fractions
	}
}

// deltas sends what is new to visitors that ask for that (RFC 3229).
func deltas(s *street, v *visitor) (fresh, retryAfter time.Duration) {
	entries := s.entries(v.p, s.begun.Add(v.now))
	v.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(entries)))
	var known int
	fmt.Sscanf(v.r.Header.Get("If-None-Match"), `"%d"`, &known)
	switch {
	case known == len(entries):
		v.WriteHeader(http.StatusNotModified)
	case known > 0 && v.r.Header.Get("A-IM") == "feed":
		v.Header().Set("IM", "feed")
		v.WriteHeader(http.StatusIMUsed)
		fallthrough
	default:
		doc, _ := s.document(v, known)
		v.Write(doc)
	}
	return 0, 0
}

// strictly allows one request in so long, at the whole host.
func strictly(gap time.Duration) func(*street, *visitor) (time.Duration, time.Duration) {
	last := -gap
	return func(s *street, v *visitor) (time.Duration, time.Duration) {
		if v.now-last < gap {
			v.Header().Set("Retry-After", "60")
			v.WriteHeader(http.StatusTooManyRequests)
			return 0, time.Minute
		}
		last = v.now
		return plainly(s, v)
	}
}

// refusing answers so from one time of the week to another, and says for how long, by a date, where that is not 0.
func refusing(code int, from, to, retryAfter time.Duration) func(*street, *visitor) (time.Duration, time.Duration) {
	return func(s *street, v *visitor) (time.Duration, time.Duration) {
		if v.now < from || v.now >= to {
			return plainly(s, v)
		}
		told := retryAfter
		if retryAfter > 0 {
			v.Header().Set("Retry-After", time.Now().Add(retryAfter).UTC().Format(http.TimeFormat))
			told -= time.Second // dates have no fractions
		}
		v.WriteHeader(code)
		return 0, told
	}
}

func moved(_ *street, v *visitor) (fresh, retryAfter time.Duration) {
	http.Redirect(v, v.r, "http://new.example.org"+v.r.URL.Path, http.StatusMovedPermanently)
	return 0, 0
}

func loop(_ *street, v *visitor) (fresh, retryAfter time.Duration) {
	http.Redirect(v, v.r, "/round"+strings.Repeat("a", len(v.r.URL.Path)%2), http.StatusFound)
	return 0, 0
}

// webPage serves one in place of the feed from one time of the week to another.
func webPage(from, to time.Duration) func(*street, *visitor) (time.Duration, time.Duration) {
	return func(s *street, v *visitor) (time.Duration, time.Duration) {
		if v.now < from || v.now >= to {
			return plainly(s, v)
		}
		v.Header().Set("ETag", `"page"`)
		if v.r.Header.Get("If-None-Match") == `"page"` {
			v.WriteHeader(http.StatusNotModified)
		} else {
			io.WriteString(v, "<!DOCTYPE html><html><title>Log in</title></html>")
		}
		return 0, 0
	}
}
