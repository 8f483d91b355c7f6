package fetch

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"

	"feedex/feed"
	"feedex/node"
)

func TestConditionalGet(t *testing.T) {
	for _, test := range []struct{ name, etag, modified string }{
		{"both", `"abc"`, "Sat, 07 Mar 2026 12:00:00 GMT"},
		{"weak tag", `W/"abc-gzip"`, ""},
		{"tag without quotes", `abc`, ""},
		{"tag with blanks and commas", `"a b, c"`, ""},
		{"tag in Latin-1", "\"\xe9\"", ""},
		{"date alone", "", "Sat, 07 Mar 2026 12:00:00 GMT"},
		{"date in a form of their own", "", "2026-03-07 12:00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if test.etag != "" {
					w.Header()["Etag"] = []string{test.etag}
				}
				if test.modified != "" {
					w.Header()["Last-Modified"] = []string{test.modified}
				}
				if r.Header.Get("If-None-Match") == test.etag && r.Header.Get("If-Modified-Since") == test.modified {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				serveRSS(w, r)
			})
			first := local(t, server)
			wantEntry(t, first)
			if first.ETag != test.etag || first.LastModified != test.modified {
				t.Fatalf("validators %q, %q, want them to the byte: %q, %q", first.ETag, first.LastModified, test.etag,
					test.modified)
			}
			again := fetchWith(t, Config{AllowLocal: true},
				node.Fetch{Feed: first.Feed, ETag: first.ETag, LastModified: first.LastModified})
			if again.Err != nil || again.Document != nil || again.ETag != test.etag ||
				again.LastModified != test.modified {
				t.Errorf("second fetch gives %+v, want nothing new and the same validators", again)
			}
		})
	}
}

func TestValidators(t *testing.T) {
	sent := node.Fetch{ETag: `"old"`, LastModified: "old date"}
	for _, test := range []struct {
		name           string
		code           int
		etag, modified string
		body           string
		wantETag       string
		wantModified   string
		ok             bool
	}{
		{"new document", 200, `"new"`, "new date", rss, `"new"`, "new date", true},
		{"new document without", 200, "", "", rss, "", "", true},
		{"not modified", 304, "", "", "", `"old"`, "old date", true},
		{"not modified, one is new", 304, `"new"`, "", "", `"new"`, "old date", true},
		{"document that cannot be read", 200, `"new"`, "new date", "<rss><channel>", `"new"`, "new date", false},
		{"document that is too large", 200, `"new"`, "", strings.Repeat(" ", maxBytes+1), `"new"`, "", false},
		{"failure", 500, `"new"`, "new date", "", `"old"`, "old date", false},
		{"huge", 200, `"` + strings.Repeat("x", 5000) + `"`, "", rss, "", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range map[string]string{"Etag": test.etag, "Last-Modified": test.modified} {
					if value != "" {
						w.Header()[name] = []string{value}
					}
				}
				w.WriteHeader(test.code)
				io.WriteString(w, test.body)
			})
			f := sent
			f.Feed = feed.URL(server)
			got := fetchWith(t, Config{AllowLocal: true}, f)
			if (got.Err == nil) != test.ok {
				t.Errorf("error %v", got.Err)
			}
			if got.ETag != test.wantETag || got.LastModified != test.wantModified {
				t.Errorf("validators %q, %q, want %q, %q", got.ETag, got.LastModified, test.wantETag, test.wantModified)
			}
		})
	}
	if sendable("a\x01b") || sendable("a\r\nX: y") || sendable("\x7f") || !sendable("a\tb") {
		t.Error("validators that cannot be sent back are kept")
	}
}

// What is changed in the second in which it was sent has the Last-Modified that it had, and is no longer what was sent.
func TestADateThatTellsNothingApart(t *testing.T) {
	const second, before = "Sun, 01 Mar 2026 12:00:00 GMT", "Sun, 01 Mar 2026 11:59:59 GMT"
	for _, test := range []struct{ name, etag, modified, answered, want string }{
		{"within the second", "", second, second, ""},
		{"a second later", "", before, second, before},
		{"of a clock that is ahead", "", second, before, second},
		{"beside a tag", `"v1"`, second, second, second},
	} {
		server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Etag"] = slices.DeleteFunc([]string{test.etag}, func(s string) bool { return s == "" })
			w.Header().Set("Last-Modified", test.modified)
			w.Header().Set("Date", test.answered)
			io.WriteString(w, rss)
		})
		got := local(t, server)
		wantEntry(t, got)
		if got.LastModified != test.want || got.ETag != test.etag || got.Body != sha1.Sum([]byte(rss)) {
			t.Errorf("%s: asks by %q and %q next, want %q", test.name, got.ETag, got.LastModified, test.want)
		}
		if kept := got.Requests[0].Got; kept.LastModified != test.want {
			t.Errorf("%s: the log says %+v", test.name, kept)
		}
	}

	version := rss
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", second)
		http.ServeContent(w, r, "feed.xml", time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), strings.NewReader(version))
	})
	first := local(t, server)
	version = strings.Replace(rss, "</item>", "</item><item><guid>2</guid><title>Within the second</title></item>", 1)
	again := fetchWith(t, Config{AllowLocal: true}, node.Fetch{Feed: first.Feed, ETag: first.ETag,
		LastModified: first.LastModified, Body: first.Body})
	if again.Err != nil || again.Document == nil || len(again.Document.Entries) != 2 {
		t.Errorf("%+v, want what came out within the second", again)
	}
}

func TestRequestHeaders(t *testing.T) {
	var got []http.Header
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Clone())
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/feed", http.StatusFound)
			return
		}
		serveRSS(w, r)
	})
	c := New(Config{AllowLocal: true, UserAgent: "feedex/1.2"})
	defer c.CloseIdle()
	for range 2 {
		wantEntry(t, c.Fetch(t.Context(), node.Fetch{Feed: feed.URL(server + "/")}))
	}
	if len(got) != 4 {
		t.Fatalf("%d requests, want 4", len(got))
	}
	for _, h := range got {
		if h.Get("User-Agent") != "feedex/1.2" || h.Get("Accept-Encoding") != "gzip, br" ||
			!strings.HasPrefix(h.Get("Accept"), "application/atom+xml") {
			t.Errorf("headers %v", h)
		}
		for name := range h {
			switch name {
			case "User-Agent", "Accept", "Accept-Encoding":
			default:
				t.Errorf("header %s: %q was sent", name, h.Get(name))
			}
		}
	}
}

func TestCredentialsStayAtTheirHost(t *testing.T) {
	var there []string
	other, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		there = append(there, r.Header.Get("Authorization"))
		serveRSS(w, r)
	})
	var here []string
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		here = append(here, r.Header.Get("Authorization"))
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/away", http.StatusFound)
			return
		}
		http.Redirect(w, r, other, http.StatusFound)
	})
	wantEntry(t, local(t, strings.Replace(server, "http://", "http://ada:secret@", 1)+"/"))
	const basic = "Basic YWRhOnNlY3JldA=="
	if fmt.Sprint(here) != fmt.Sprint([]string{basic, basic}) || fmt.Sprint(there) != "[]" {
		t.Errorf("the feed's host got %q, another %q", here, there)
	}
}

func TestStatuses(t *testing.T) {
	for code, words := range map[int]string{
		204: "204", 206: "206", 226: "226", 300: "300", 304: "304", 401: "name:password@", 403: "refuses",
		404: "no feed", 410: "no more", 418: "418", 429: "fewer",
		451: "refuses", 500: "trouble", 503: "trouble", 599: "599",
	} {
		server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		got := local(t, server)
		var status *StatusError
		if !errors.As(got.Err, &status) || status.Code != code || !strings.Contains(got.Err.Error(), words) {
			t.Errorf("status %d: %v, want a StatusError with %q", code, got.Err, words)
		}
	}
}

func TestRedirects(t *testing.T) {
	for n := range maxRedirects + 3 {
		server, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if len(r.URL.Path) > n {
				serveRSS(w, r)
				return
			}
			http.Redirect(w, r, r.URL.Path+"x", []int{301, 302, 303, 307, 308}[n%5])
		})
		got := local(t, server+"/")
		if n <= maxRedirects {
			wantEntry(t, got)
			if int(requests.Load()) != n+1 {
				t.Errorf("%d redirects took %d requests", n, requests.Load())
			}
		} else if !errors.Is(got.Err, ErrTooManyRedirects) || requests.Load() != maxRedirects+1 {
			t.Errorf("%d redirects: %v after %d requests, want ErrTooManyRedirects after %d", n, got.Err,
				requests.Load(), maxRedirects+1)
		}
	}
}

// Addresses that are relative in a document of an archive are so to where that was read in the end; the feed's own
// document keeps to the feed's URL, by which entries are known.
func TestArchivesLeadOnFromWhereTheyAre(t *testing.T) {
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/archive/2025/2.xml" {
			http.Redirect(w, r, "/archive/2025/2.xml", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w,
			`<feed xmlns="http://www.w3.org/2005/Atom"><link rel="prev-archive" href="1.xml"/><entry><id>1</id><link `+
				`href="posts/1"/></entry></feed>`)
	})
	own := feed.URL(server + "/feed")
	for f, want := range map[node.Fetch]string{
		{Feed: own}: "/", {Feed: own, Address: own + "2"}: "/", {Feed: own, Page: own + "-2025"}: "/archive/2025/",
	} {
		got := fetchWith(t, Config{AllowLocal: true}, f)
		if d := got.Document; got.Err != nil || string(d.PrevArchive) != server+want+"1.xml" ||
			d.Entries[0].Link != server+want+"posts/1" || d.Feed != own {
			t.Errorf("%+v: %+v, %v, want links below %s", f, d, got.Err, want)
		}
	}
}

// Addresses that publishers write without care reach them as a browser would send them.
func TestQueriesAreEscaped(t *testing.T) {
	for query, want := range map[string]string{
		"a=b+c%20d": "a=b+c%20d", "a=b c": "a=b%20c", `a="b"<c>`: "a=%22b%22%3Cc%3E", "q=żółw": "q=%C5%BC%C3%B3%C5%82w",
	} {
		server, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/feed":
				w.Header().Set("Location", "/there?"+query)
				w.WriteHeader(http.StatusFound)
			case strings.TrimPrefix(r.RequestURI, "/there?") != want:
				t.Errorf("%q was asked for, want %q", r.RequestURI, want)
			default:
				serveRSS(w, r)
			}
		})
		wantEntry(t, local(t, server+"/feed"))
		wantEntry(t, local(t, server+"/there?"+query))
		if requests.Load() != 3 {
			t.Errorf("%q took %d requests, want 3", query, requests.Load())
		}
	}
}

// A proxy on the way may have changed the document, which is one all the same (RFC 9110 §15.3.4).
func TestNonAuthoritativeDocument(t *testing.T) {
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNonAuthoritativeInfo)
		serveRSS(w, r)
	})
	wantEntry(t, local(t, server))
}

func TestRedirectLoopEnds(t *testing.T) {
	for path, want := range map[string]int32{"/": 1, "/a": 2, "/b": 2} {
		server, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, map[string]string{"/": "/", "/a": "/b", "/b": "/a"}[r.URL.Path],
				http.StatusMovedPermanently)
		})
		if got := local(t, server+path); !errors.Is(got.Err, ErrLoop) || requests.Load() != want {
			t.Errorf("%s: %v after %d requests, want ErrLoop after %d", path, got.Err, requests.Load(), want)
		}
	}
}

func TestContentCodings(t *testing.T) {
	zip := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, text)
		z.Close()
		return b.Bytes()
	}
	zipped, brotlied := zip(rss), func() []byte {
		var b bytes.Buffer
		z := brotli.NewWriter(&b)
		io.WriteString(z, rss)
		z.Close()
		return b.Bytes()
	}()
	for _, test := range []struct {
		coding string
		body   []byte
		err    error
	}{
		{"", []byte(rss), nil},
		{"identity", []byte(rss), nil},
		{"gzip", zipped, nil},
		{"GZIP", zipped, nil},
		{"x-gzip", zipped, nil},
		{"br", brotlied, nil},
		{"br", []byte(rss), nil}, // it is none
		{"gzip", []byte(rss), nil},
		{"none", []byte(rss), nil},
		{"UTF-8", []byte("\n" + rss), nil},
		{"", zipped, nil}, // a file that was compressed once and for all
		{"binary", zipped, nil},
		{"gzip", slices.Concat(zipped, []byte("\r\n\x00")), nil},
		{"gzip", slices.Concat(zip(rss[:99]), zip(rss[99:])), nil},
		{"gzip", slices.Concat(zip(rss[:99]), zip(rss[99:])[:20]), io.ErrUnexpectedEOF},
		{"deflate", zipped, ErrEncoding},
		{"zstd", zipped, ErrEncoding},
		{"gzip, gzip", zipped, ErrEncoding},
		{"gzip", []byte("nor is this"), gzip.ErrHeader},
		{"gzip", zipped[:len(zipped)-9], io.ErrUnexpectedEOF},
		{"gzip", nil, io.EOF},
		{"br", brotlied[:len(brotlied)-9], io.ErrUnexpectedEOF},
		{"br", []byte{0x11, 0}, ErrEncoding},
		{"br", []byte{0x0d, 0}, ErrEncoding},
		{"br", []byte{0x0f, 0}, ErrEncoding},
		{"br", nil, io.EOF},
	} {
		server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/rss+xml")
			if test.coding != "" {
				w.Header().Set("Content-Encoding", test.coding)
			}
			w.Write(test.body)
		})
		got := local(t, server)
		if test.err == nil {
			wantEntry(t, got)
		} else if !errors.Is(got.Err, test.err) {
			t.Errorf("%q of %d bytes: %v, want %v", test.coding, len(test.body), got.Err, test.err)
		} else if cut := strings.Contains(got.Err.Error(), "broke off"); cut != (test.err == io.ErrUnexpectedEOF) {
			t.Errorf("%q of %d bytes: in words %q", test.coding, len(test.body), got.Err)
		}
	}
}

func TestNotAFeed(t *testing.T) {
	for body, want := range map[string]error{
		"<!DOCTYPE html><html><title>x</title></html>":                 ErrNotFeed,
		" \n<!-- x --><HTML lang=en><body>Log in</body></HTML>":        ErrNotFeed,
		"\ufeff<?xml version='1.0'?><!DOCTYPE html><html>hello</html>": ErrNotFeed,
		"<!DOCTYPE html><html>never ends":                              ErrNotFeed,
		"":                                                             feed.ErrFormat,
		"Not found":                                                    feed.ErrFormat,
		"<opml version='2.0'><body/></opml>":                           feed.ErrFormat,
		"{}":                                                           feed.ErrFormat,
		"<rss version='2.0'><channel><item><title>cut":                 feed.ErrFormat,
		"<rss version='2.0'><channel>" + strings.Repeat("<a>", 1000000): feed.ErrLimit,
	} {
		server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, body)
		})
		if got := local(t, server); !errors.Is(got.Err, want) {
			t.Errorf("%.60q: %v, want %v", body, got.Err, want)
		}
	}
	server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html") // many servers say so of their feeds
		io.WriteString(w, rss)
	})
	wantEntry(t, local(t, server))
}

func TestOptOutReachesTheNode(t *testing.T) {
	for _, test := range []struct {
		name, value string
		private     bool
	}{
		{"X-Robots-Tag", "noarchive", true},
		{"Cache-Control", "no-store", true},
		{"Cache-Control", "public, max-age=60", false},
	} {
		server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(test.name, test.value)
			serveRSS(w, r)
		})
		got := local(t, server)
		wantEntry(t, got)
		if got.Private != test.private {
			t.Errorf("%s: %s: Private is %v", test.name, test.value, got.Private)
		}
	}
}

// An address that redirects to one with a key in it is as secret as that.
func TestARedirectToASecretIsOne(t *testing.T) {
	for query, want := range map[string]bool{"?page=1": false, "?token=abc": true} {
		server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/short" {
				http.Redirect(w, r, "/feed"+query, http.StatusFound)
				return
			}
			serveRSS(w, r)
		})
		got := local(t, server+"/short")
		wantEntry(t, got)
		if got.Secret != want {
			t.Errorf("redirected to /feed%s: secret is %v", query, got.Secret)
		}
		alias := fetchWith(t, Config{AllowLocal: true},
			node.Fetch{Feed: feed.URL(server + "/short"), Address: feed.URL(server + "/feed" + query)})
		if alias.Secret != want {
			t.Errorf("asked for at /feed%s: secret is %v", query, alias.Secret)
		}
	}
}

func TestRetryAfterReachesTheNode(t *testing.T) {
	for _, code := range []int{429, 503} {
		server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(code)
		})
		if got := local(t, server); got.RetryAfter != 2*time.Minute || got.Err == nil {
			t.Errorf("%d: RetryAfter %v, error %v", code, got.RetryAfter, got.Err)
		}
	}
}

func TestHugeHeaderIsRefused(t *testing.T) {
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Padding", strings.Repeat("x", 2*maxHeaderBytes))
		serveRSS(w, r)
	})
	if got := local(t, server); got.Err == nil {
		t.Error("no error")
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(serveRSS))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it would tell of the client that does not trust it
	s.StartTLS()
	defer s.Close()
	c := New(Config{AllowLocal: true})
	defer c.CloseIdle()
	if got := c.Fetch(t.Context(), node.Fetch{Feed: feed.URL(s.URL)}); got.Err == nil ||
		!strings.Contains(got.Err.Error(), "certificate") {
		t.Errorf("certificate of nobody: %v, want an error", got.Err)
	}
	trusting := New(Config{AllowLocal: true})
	defer trusting.CloseIdle()
	trusting.guarded.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	wantEntry(t, trusting.Fetch(t.Context(), node.Fetch{Feed: feed.URL(s.URL)}))
}

func TestNoURL(t *testing.T) {
	for _, u := range []feed.URL{"", "http://", "://", "\x00", "feed.xml"} {
		if got := fetchWith(t, Config{}, node.Fetch{Feed: u}); got.Err == nil {
			t.Errorf("%q: no error", u)
		}
	}
}

func TestParserPanicIsAnError(t *testing.T) {
	doc, err := contain(func() (*feed.Document, error) { panic("index out of range") })
	if doc != nil || !errors.Is(err, feed.ErrFormat) || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("%v, %v, want ErrFormat", doc, err)
	}
}
