package transport

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"feedex/protocol"
)

// gzipped is body as any program would code it.
func gzipped(body string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write([]byte(body))
	z.Close()
	return out.String()
}

// manyDIDs asks about n of them.
func manyDIDs(n int) (c protocol.CheckDIDs) {
	for i := range n {
		c.DIDs = append(c.DIDs, sha1.Sum([]byte{byte(i)}))
	}
	return c
}

// TestCallsAreCoded calls a peer whose program takes gzip, then one that does not, in one way or another, then one that
// does again: each call is answered, two at a time as well, and coded once an answer said that it may be.
func TestCallsAreCoded(t *testing.T) {
	noise := make([]byte, 1<<10) // of which gzip takes off a quarter at most
	rand.NewChaCha8([32]byte{}).Read(noise)
	for name, old := range map[string]http.HandlerFunc{
		"refused":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnsupportedMediaType) },
		"unknown":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) },
		"not noticed": func(w http.ResponseWriter, r *http.Request) { newHandler(nil).ServeHTTP(w, plainly(r)) },
	} {
		t.Run(name, func(t *testing.T) {
			call := manyDIDs(protocol.MaxDIDs)
			reply := make(protocol.SeenList, protocol.MaxDIDs)
			for i := range reply {
				reply[i] = noise[i]&1 == 0
			}
			inner := newHandler(func(_ context.Context, r Request) Response {
				if !sameCall(r.Call, call) {
					t.Errorf("served %+v", r.Call)
				}
				return Response{Reply: reply}
			})
			var takes atomic.Bool
			var codings, plain atomic.Int32
			both := make(chan struct{}) // are there: neither is answered before the other was sent
			addr := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				select {
				case both <- struct{}{}:
				case <-both:
				case <-r.Context().Done():
				}
				switch coded := codingOf(r.Header) != ""; {
				case coded && !takes.Load():
					codings.Add(1)
					old(w, r)
					return
				case coded:
					codings.Add(1)
				default:
					plain.Add(1)
				}
				if !takes.Load() {
					w = &silentCoding{w}
				}
				inner.ServeHTTP(w, r)
			}), ServerConfig{})
			meter := new(Meter)
			client := NewClient(ClientConfig{Port: 7790, AllowLocal: true, Meter: meter})
			defer client.CloseIdle()
			twice := func(wantCoded, wantPlain int32) (bytes int64) {
				t.Helper()
				before := meter.Read().Bytes
				codings.Store(0)
				plain.Store(0)
				var calls sync.WaitGroup
				for range 2 {
					calls.Go(func() {
						result, err := client.Call(deadline(t), addr, "token", call)
						if err != nil || !reflect.DeepEqual(result.Reply, reply) {
							t.Errorf("%v, %v", result.Reply, err)
						}
					})
				}
				calls.Wait()
				if codings.Load() != wantCoded || plain.Load() != wantPlain {
					t.Errorf("%d coded and %d others, want %d and %d", codings.Load(), plain.Load(), wantCoded,
						wantPlain)
				}
				return meter.Read().Bytes - before
			}
			takes.Store(true)
			asItIs := twice(0, 2)
			coded := twice(2, 0)
			if coded*3 > asItIs*2 {
				t.Errorf("%d bytes coded, %d before that is known", coded, asItIs)
			}
			takes.Store(false)
			twice(2, 2)
			twice(0, 2)
			takes.Store(true)
			twice(0, 2)
			twice(2, 0)
		})
	}
}

// plainly is a request as a program takes it that has never heard of codings.
func plainly(r *http.Request) *http.Request {
	r.Header.Del("Content-Encoding")
	return r
}

// A silentCoding does not say that calls may be coded.
type silentCoding struct{ http.ResponseWriter }

func (w *silentCoding) Write(p []byte) (int, error) {
	w.Header().Del("Accept-Encoding")
	return w.ResponseWriter.Write(p)
}

// TestCodedBodies posts bodies as gzip. None may become more than sixteen times as long as it came, nor longer than
// its method takes.
func TestCodedBodies(t *testing.T) {
	check := string(protocol.EncodeCall(nil, 7790, protocol.CheckDID{Feed: exampleFeed}))
	spaces := func(n int) string { // that become nearly nothing
		return "<methodCall><methodName>put_entries</methodName><params>" + strings.Repeat(" ", n)
	}
	noise := make([]byte, 4<<10) // of which gzip takes off little
	random := rand.New(rand.NewPCG(1, 1))
	for i := range noise {
		noise[i] = 'a' + byte(random.IntN(26))
	}
	longer := gzipped(spaces(0) + string(noise))
	for _, c := range []struct {
		name, body string
		unstated   bool // its length
		want       int
		text       string // within the answer
	}{
		{"a call", gzipped(check), false, 200, "seen"},
		{"in two members", gzipped(check[:50]) + gzipped(check[50:]), false, 200, "seen"},
		{"of no stated length", gzipped(check), true, 200, "seen"},
		{"no gzip", check, false, 400, ""},
		{"nothing", "", false, 400, ""},
		{"cut off", gzipped(check)[:60], false, 400, ""},
		{"without its checksum", gzipped(check)[:len(gzipped(check))-8], false, 400, ""},
		{"with another checksum", gzipped(check)[:len(gzipped(check))-8] + "12345678", false, 400, ""},
		{"with another checksum, longer than its first packet", longer[:len(longer)-8] + "12345678", false, 400, ""},
		{"with something behind it", gzipped(check) + "x", false, 400, ""},
		{"with nothing behind it, more than its method takes", gzipped(check) + strings.Repeat(gzipped(""), 400), false,
			413, ""},
		{"that begins with nothing", strings.Repeat(gzipped(""), 100) + longer, false, 413, ""},
		{"within sixteen times", gzipped(spaces(20<<10) + string(noise)), false, 200, "-32700"},
		{"beyond sixteen times", gzipped(spaces(60<<10) + string(noise)), false, 413, ""},
		{"a bomb", gzipped(spaces(4<<20 - 100)), false, 413, ""},
		{"a bomb in a bomb", gzipped(gzipped(spaces(4<<20 - 100))), false, 413, ""},
		{"longer than its method takes", gzipped(strings.Replace(check, "<params>", "<params>"+string(noise), 1)),
			false, 413, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHandler(func(context.Context, Request) Response { return Response{Reply: protocol.Seen(true)} })
			w := post(h, c.body, func(r *http.Request) {
				r.Header.Set("Content-Encoding", "gzip")
				if c.unstated {
					r.ContentLength = -1
				}
			})
			if w.Code != c.want || !strings.Contains(w.Body.String(), c.text) {
				t.Errorf("HTTP status %d, want %d: %s", w.Code, c.want, w.Body)
			}
		})
	}
}

// TestWhoIsAnsweredInGzip asks as clients do: an answer is coded for who says so, where it is long enough.
func TestWhoIsAnsweredInGzip(t *testing.T) {
	for _, c := range []struct {
		accept string
		dids   int
		want   string
	}{
		{"", 64, ""},
		{"identity", 64, ""},
		{"gzip", 64, "gzip"},
		{"br, GZIP;q=0.5", 64, "gzip"},
		{"gzip; q=0", 64, ""},
		{"gzip;q=0.000, *", 64, ""},
		{"gzip", 1, ""},
	} {
		h := newHandler(func(context.Context, Request) Response {
			reply := make(protocol.SeenList, c.dids)
			for i := range reply {
				reply[i] = i%3 == 0
			}
			return Response{Reply: reply}
		})
		w := post(h, string(protocol.EncodeCall(nil, 7790, manyDIDs(c.dids))), func(r *http.Request) {
			r.Header.Set("Accept-Encoding", c.accept)
		})
		if got := w.Header().Get("Content-Encoding"); w.Code != 200 || got != c.want {
			t.Errorf("Accept-Encoding %q, %d: HTTP status %d, Content-Encoding %q, want %q", c.accept, c.dids, w.Code,
				got, c.want)
		}
	}
}

// An answer of which gzip takes off nothing goes as it is.
func TestNoGzipForNothing(t *testing.T) {
	for n, want := range map[int]bool{codedFrom - 1: false, codedFrom: true} {
		if _, ok := AppendCodedAnswer(nil, bytes.Repeat([]byte("a"), n)); ok != want {
			t.Errorf("%d bytes are coded: %v, want %v", n, ok, want)
		}
	}
	noise := make([]byte, 4<<10)
	rand.NewChaCha8([32]byte{}).Read(noise)
	if to, ok := AppendCodedAnswer([]byte("x"), noise); ok || string(to) != "x" {
		t.Errorf("noise is coded: %v, %d bytes", ok, len(to))
	}
	if _, ok := AppendCodedCall(nil, make([]byte, 64<<10)); ok {
		t.Error("a call is coded that nobody would read")
	}
}

// Calls that announce much, bring little and become much hold no more memory than what they brought lets them.
func TestAnnouncedIsNotInflated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln, h := newMemListener(), newHandler(unserved(t))
		stop := run(t.Context(), ln, h, ServerConfig{Log: quiet})
		body := "<methodCall><methodName>put_entries</methodName><params>"
		bomb := gzipped(body + strings.Repeat(" ", 4<<20-len(body)))
		c := ln.dial(t, "12.1.1.1:1024")
		fmt.Fprintf(c, "POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Encoding: gzip\r\n"+
			"Content-Length: %d\r\n\r\n%s", 256<<10, bomb)
		synctest.Wait()
		if n := h.memory.pool.Len(); n != 0 {
			t.Errorf("%d messages hold memory", n)
		}
		c.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// A coded call that is long takes room for what came and for what it becomes.
func TestBothBuffersTakeRoom(t *testing.T) {
	letters := make([]byte, 512<<10) // of which gzip takes off half
	rand.NewChaCha8([32]byte{}).Read(letters)
	for i := range letters {
		letters[i] = "0123456789abcdef"[letters[i]&15]
	}
	var pool buffers
	raw, body := pool.take(), pool.take()
	claim := budget{of: &newHandler(nil).memory, from: netip.MustParseAddr("12.1.1.1"), abort: func() {}}
	defer claim.release()
	err := raw.readAll(strings.NewReader(gzipped(string(letters))), -1, 1<<20, &claim)
	if err == nil {
		err = body.inflate(raw, 1<<20, &claim)
	}
	if err != nil || !bytes.Equal(body.data, letters) {
		t.Fatalf("%v, %d bytes", err, len(body.data))
	}
	if both := cap(raw.data) + cap(body.data); claim.units*keptBytes < both {
		t.Errorf("%d bytes are claimed for buffers of %d and %d", claim.units*keptBytes, cap(raw.data), cap(body.data))
	}
}

// TestTakersAreBounded notes more peers than there is room for.
func TestTakersAreBounded(t *testing.T) {
	var peers takers
	for i := range 3 * maxTakers {
		addr := string(rune(0x10000 + i))
		if peers.note(addr, true); !peers.has(addr) || len(peers.known) > maxTakers {
			t.Fatalf("after %d of them %d are known", i+1, len(peers.known))
		}
	}
}
