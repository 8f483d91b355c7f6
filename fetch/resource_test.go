package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"feedex/feed"
	"feedex/guard"
)

// getLocal gets what is at a URL with loopback allowed.
func getLocal(t *testing.T, w Want) Resource {
	t.Helper()
	c := New(Config{AllowLocal: true, UserAgent: "feedex/1"})
	defer c.CloseIdle()
	return c.Get(t.Context(), w)
}

// What belongs to a feed comes as it is, and its request tells nothing of whoever reads the feed.
func TestGet(t *testing.T) {
	var asked http.Header
	server, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
			http.Redirect(w, r, "/new", http.StatusFound)
			return
		}
		asked = r.Header
		w.Header().Set("Content-Type", "image/png")
		io.WriteString(w, "\x89PNG\r\n\x1a\n")
	})
	ours := strings.Replace(server, "://", "://ann:secret@", 1)
	got := getLocal(t, Want{URL: feed.URL(ours + "/old"), For: feed.URL(ours + "/feed"), Accept: "image/*"})
	if got.Answer.Err != nil || string(got.Body) != "\x89PNG\r\n\x1a\n" || got.Type != "image/png" ||
		got.URL != feed.URL(server+"/new") {
		t.Fatalf("%+v", got)
	}
	for _, name := range []string{"Cookie", "Referer", "Authorization", "If-None-Match", "A-Im"} {
		if asked.Get(name) != "" {
			t.Errorf("%s: %q is sent", name, asked.Get(name))
		}
	}
	if asked.Get("Accept") != "image/*" || asked.Get("User-Agent") != "feedex/1" {
		t.Errorf("asked by %v", asked)
	}
	if list := got.Answer.Requests; len(list) != 2 || list[0].Feed != "" || requests.Load() != 2 {
		t.Errorf("%d requests, in the log %+v", requests.Load(), list)
	}
	got = getLocal(t, Want{URL: feed.URL(server + "/new"), For: feed.URL(server), Unlogged: true})
	if len(got.Answer.Requests) != 0 || len(got.Body) == 0 {
		t.Errorf("logged all the same: %+v", got.Answer.Requests)
	}
}

// Whoever serves it, no more is read than is wanted, and nothing that is none.
func TestGetIsBounded(t *testing.T) {
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/huge":
			w.Header().Set("Content-Length", strconv.Itoa(1<<30))
			w.Write(make([]byte, 1000))
		case "/endless":
			for {
				if _, err := w.Write(make([]byte, 32<<10)); err != nil {
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzipWriter(w)
			z.Write(make([]byte, 4<<20))
			z.Close()
		case "/missing":
			http.Error(w, "not here", http.StatusNotFound)
		case "/unchanged":
			w.WriteHeader(http.StatusNotModified)
		case "/partly":
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, "GIF89a")
		}
	})
	for path, want := range map[string]error{"/huge": ErrTooLarge, "/endless": ErrTooLarge, "/bomb": ErrTooLarge,
		"/missing": nil, "/unchanged": nil, "/partly": nil} {
		got := getLocal(t, Want{URL: feed.URL(server + path), For: feed.URL(server), MaxBytes: 3 << 20})
		if got.Answer.Err == nil || want != nil && !errors.Is(got.Answer.Err, want) || len(got.Body) > 0 {
			t.Errorf("%s: %d bytes, %v", path, len(got.Body), got.Answer.Err)
		}
		if status := (*StatusError)(nil); want == nil && !errors.As(got.Answer.Err, &status) {
			t.Errorf("%s: %v", path, got.Answer.Err)
		}
	}
	if got := getLocal(t, Want{URL: "javascript:alert(1)"}); got.Answer.Err == nil {
		t.Error("an address that is none")
	}
}

// Neither an address that an entry holds, nor a redirect, nor a name server leads to what is not public.
func TestGetReachesNoPrivateAddresses(t *testing.T) {
	l := listen(t)
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://"+strings.TrimPrefix(r.URL.Path, "/")+":"+l.port()+"/")
		w.WriteHeader(http.StatusFound)
	})
	_, port, _ := strings.Cut(strings.TrimPrefix(server, "http://"), ":")
	c := New(Config{Resolver: nameServer(t, func(name string, n int) netip.Addr {
		if name == "rebind.example.com" && n == 0 {
			return netip.MustParseAddr("8.8.8.8")
		}
		return inetAton(name, n)
	}), PrivateHosts: []string{"nas.example"}})
	defer c.CloseIdle()
	for _, host := range []string{"127.0.0.1", "0x7f.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1",
		"169.254.169.254", "metadata.example"} {
		for from, of := range map[string]feed.URL{
			"http://" + host + ":" + l.port() + "/":   "https://blog.example/feed",
			"http://nas.example:" + port + "/" + host: "http://nas.example/feed", // which may be asked itself
		} {
			got := c.Get(t.Context(), Want{URL: feed.URL(from), For: of})
			dns := (*net.DNSError)(nil)
			if !errors.Is(got.Answer.Err, guard.ErrForbidden) && !errors.As(got.Answer.Err, &dns) {
				t.Errorf("%s: %v", from, got.Answer.Err)
			}
		}
	}
	// The owner's leave is for the feed of that host, and not for what others say is there.
	nas := feed.URL("http://nas.example:" + port + "/x")
	got := c.Get(t.Context(), Want{URL: nas, For: "https://blog.example/feed"})
	if !errors.Is(got.Answer.Err, guard.ErrForbidden) {
		t.Errorf("a stranger's entry led to the private host: %v", got.Answer.Err)
	}
	// So is the leave for all private networks.
	lan := New(Config{AllowLocal: true})
	defer lan.CloseIdle()
	far := feed.URL("http://127.0.0.1:" + l.port() + "/")
	for _, of := range []feed.URL{"https://blog.example/feed", "http://192.168.1.7/feed"} {
		got := lan.Get(t.Context(), Want{URL: far, For: of})
		if !errors.Is(got.Answer.Err, guard.ErrForbidden) {
			t.Errorf("something of %s led to another private host: %v", of, got.Answer.Err)
		}
	}
	if n := l.close(t); n > 0 {
		t.Errorf("%d connections left", n)
	}
}

func TestGetStaysAtTheSite(t *testing.T) {
	other, requests := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "GIF89a") })
	site, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(other, "127.0.0.1", "localhost", 1), http.StatusFound)
	})
	got := getLocal(t, Want{URL: feed.URL(site), For: feed.URL(site), SameSite: true})
	if !errors.Is(got.Answer.Err, ErrElsewhere) || requests.Load() != 0 {
		t.Errorf("%v, %d requests", got.Answer.Err, requests.Load())
	}
}

func TestGetEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, func(_ string, conn net.Conn) {
			answer(conn, "HTTP/1.1 200 OK\r\nContent-Type: image/gif\r\n\r\nGIF89a")
			for {
				if _, err := fmt.Fprint(conn, "."); err != nil {
					return
				}
				<-time.After(time.Second)
			}
		})
		start := time.Now()
		got := c.Get(t.Context(), Want{URL: "http://example.com/a.gif", For: "http://example.com/feed"})
		if took := time.Since(start); took != timeout || !errors.Is(got.Answer.Err, context.DeadlineExceeded) {
			t.Errorf("%v after %v", got.Answer.Err, took)
		}
	})
}
