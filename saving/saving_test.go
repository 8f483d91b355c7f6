package saving_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"feedex/saving"
)

var client = saving.NewClient(new(net.Dialer))

// secrets are what lets the owner in, at each service.
var secrets = []string{"the-token", "the-id", "the-secret", "ann", "the-password", "granted"}

var bookmark = saving.Bookmark{Link: "https://example.com/1?a=1&b=2", Title: `A "title" & more`}

// A receiver is a service as its documents have it: it lets nobody in who does not show what its user was given, and
// keeps what it is told to.
type receiver struct {
	*httptest.Server
	kept []saving.Bookmark
}

// newReceiver has both services at once, each below a path of its own.
func newReceiver(t *testing.T) *receiver {
	r := new(receiver)
	mux := http.NewServeMux()
	keep := func(w http.ResponseWriter, req *http.Request, code int) {
		var b struct{ URL, Title string }
		err := json.NewDecoder(req.Body).Decode(&b)
		if err != nil || req.Header.Get("Content-Type") != "application/json" {
			http.Error(w, `{"detail": "no JSON"}`, http.StatusBadRequest)
			return
		}
		if !strings.HasPrefix(b.URL, "http") {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"url": ["Enter a valid URL."]}`)
			return
		}
		r.kept = append(r.kept, saving.Bookmark{Link: b.URL, Title: b.Title})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"id": %d, "url": %q}`, len(r.kept), b.URL)
	}
	links := func(do http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, req *http.Request) {
			if req.Header.Get("Authorization") != "Token the-token" {
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprint(w, `{"detail": "Invalid token."}`)
				return
			}
			do(w, req)
		}
	}
	mux.HandleFunc("GET /links/api/bookmarks/check/", links(func(w http.ResponseWriter, req *http.Request) {
		bookmark := "null"
		for _, b := range r.kept {
			if b.Link == req.FormValue("url") {
				bookmark = `{"id": 7, "url": "x", "title": "x", "notes": "the owner's"}`
			}
		}
		fmt.Fprintf(w, `{"bookmark": %s, "metadata": {"title": "x"}, "auto_tags": []}`, bookmark)
	}))
	mux.HandleFunc("POST /links/api/bookmarks/", links(func(w http.ResponseWriter, req *http.Request) {
		keep(w, req, http.StatusCreated)
	}))
	mux.HandleFunc("POST /oauth/v2/token", func(w http.ResponseWriter, req *http.Request) {
		if req.PostFormValue("grant_type") != "password" || req.PostFormValue("client_id") != "the-id" ||
			req.PostFormValue("client_secret") != "the-secret" || req.PostFormValue("username") != "ann" ||
			req.PostFormValue("password") != "the-password" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error": "invalid_grant", `+
				`"error_description": "Invalid username and password combination"}`)
			return
		}
		fmt.Fprint(w, `{"access_token": "granted", "expires_in": 3600, "token_type": "bearer", "scope": null}`)
	})
	mux.HandleFunc("POST /api/entries.json", func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "Bearer granted" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error": "invalid_grant", "error_description": "The access token provided is invalid."}`)
			return
		}
		keep(w, req, http.StatusOK)
	})
	r.Server = httptest.NewServer(mux)
	t.Cleanup(r.Close)
	return r
}

func wallabag(address string) saving.Service {
	return saving.Service{Kind: saving.Wallabag, Address: address, ClientID: "the-id", ClientSecret: "the-secret",
		User: "ann", Password: "the-password"}
}

func linkding(address string) saving.Service {
	return saving.Service{Kind: saving.Linkding, Address: address, Token: "the-token"}
}

func TestSave(t *testing.T) {
	r := newReceiver(t)
	for _, typed := range []saving.Service{wallabag(r.URL + "/"), linkding(" " + r.URL + "/links//")} {
		s, err := saving.NewService(typed)
		if err != nil {
			t.Fatal(err)
		}
		r.kept = nil
		err = client.Save(t.Context(), s, bookmark)
		if err != nil || len(r.kept) != 1 || r.kept[0] != bookmark {
			t.Errorf("%s keeps %+v, %v", s, r.kept, err)
		}
	}

	// linkding writes over a bookmark that is there, with its title, notes and tags: it is left alone.
	r.kept = []saving.Bookmark{{Link: bookmark.Link, Title: "The owner's"}}
	err := client.Save(t.Context(), linkding(r.URL+"/links"), bookmark)
	if err != nil || len(r.kept) != 1 || r.kept[0].Title != "The owner's" {
		t.Errorf("it had the bookmark, and keeps %+v, %v", r.kept, err)
	}
}

// Whatever goes wrong, the owner hears it in words, and nothing that lets anybody in is among them.
func TestSaveFails(t *testing.T) {
	r := newReceiver(t)
	stranger := linkding(r.URL + "/links")
	stranger.Token = "another"
	guest := wallabag(r.URL)
	guest.Password = "another"
	gone := httptest.NewServer(nil)
	gone.Close()
	answers := func(code int, text string) saving.Service {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			fmt.Fprint(w, text)
		}))
		t.Cleanup(s.Close)
		return linkding(s.URL)
	}
	for name, tt := range map[string]struct {
		service saving.Service
		want    string
	}{
		"another token":      {stranger, "does not take what the settings say to be let in: Invalid token."},
		"another password":   {guest, "with status 400: Invalid username and password combination"},
		"linkding's address": {wallabag(r.URL + "/links"), "does not answer as Wallabag does"},
		"Wallabag's address": {linkding(r.URL), "does not answer as linkding does"},
		"nobody there":       {linkding(gone.URL), "did not answer"},
		"a page":             {answers(200, "<html>Log in</html>"), "does not answer as linkding does"},
		"another object":     {answers(200, `{"ok": true}`), "does not answer as linkding does"},
		"another answer":     {answers(200, `{"id": 1, "bookmark": "x"}`), "does not answer as linkding does"},
		"out of order":       {answers(503, "<h1>Sorry</h1>"), "with status 503"},
		"words without end": {answers(400, `{"detail": "`+strings.Repeat("x", 1000)+`"}`),
			strings.Repeat("x", 200)},
		"words that act": {answers(400, `{"detail": "a\u001b[2J\u202eb"}`), "status 400: a[2Jb"},
		"an answer without end": {answers(200, `{"id": 1, "x": "`+strings.Repeat("x", 2<<20)),
			"does not answer as linkding"},
	} {
		t.Run(name, func(t *testing.T) {
			err := client.Save(t.Context(), tt.service, bookmark)
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 500 {
				t.Fatalf("%v, want %q", err, tt.want)
			}
			for _, secret := range secrets {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%q has %s in it", err, secret)
				}
			}
		})
	}
	if len(r.kept) > 0 {
		t.Errorf("kept are %+v", r.kept)
	}
	if err := client.Save(t.Context(), linkding(r.URL+"/links"), saving.Bookmark{Link: "x"}); err == nil ||
		!strings.Contains(err.Error(), "Enter a valid URL.") {
		t.Errorf("no address: %v", err)
	}
}

// Nothing is sent to where a redirect leads, at the same host as little as at another.
func TestRedirectsAreNotFollowed(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(other.Close)
	for _, code := range []int{301, 302, 303, 307, 308} {
		var s *httptest.Server
		s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if strings.HasPrefix(req.URL.Path, "/elsewhere") {
				asked++
			}
			to := map[bool]string{true: s.URL + "/elsewhere", false: other.URL}[req.URL.Path == "/api/bookmarks/check/"]
			http.Redirect(w, req, to, code)
		}))
		for _, service := range []saving.Service{linkding(s.URL), wallabag(s.URL)} {
			err := client.Save(t.Context(), service, bookmark)
			if err == nil || !strings.Contains(err.Error(), "where nothing was sent") {
				t.Errorf("%d: %v", code, err)
			}
		}
		s.Close()
	}
	if asked > 0 {
		t.Errorf("%d requests went elsewhere", asked)
	}
}

// Who gives up ends the request, at a service that never answers.
func TestAServiceThatHangs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		if _, err := io.Copy(io.Discard, req.Body); err != nil { // only then does a server see that its client has gone
			t.Error(err)
		}
		cancel()
		<-req.Context().Done()
	}))
	t.Cleanup(s.Close)
	if err := client.Save(ctx, linkding(s.URL), bookmark); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestNewService(t *testing.T) {
	for name, s := range map[string]saving.Service{
		"no kind":          {Address: "https://example.com"},
		"another kind":     {Kind: "pocket", Address: "https://example.com", Token: "x"},
		"no token":         {Kind: saving.Linkding, Address: "https://example.com"},
		"a token of lines": {Kind: saving.Linkding, Address: "https://example.com", Token: "x\r\nHost: y"},
		"no password": {Kind: saving.Wallabag, Address: "https://example.com", ClientID: "x", ClientSecret: "x",
			User: "x"},
		"no address":         linkding(""),
		"another scheme":     linkding("file:///etc/passwd"),
		"no host":            linkding("https:///x"),
		"a name in it":       linkding("https://ann:secret@example.com"),
		"a query":            linkding("https://example.com/?next=x"),
		"longer than it may": linkding("https://example.com/" + strings.Repeat("x", 1000)),
	} {
		if got, err := saving.NewService(s); !errors.Is(err, saving.ErrService) || got != (saving.Service{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	s, err := saving.NewService(wallabag("http://192.168.1.5:8080/bag/"))
	if err != nil || s.Address != "http://192.168.1.5:8080/bag" || fmt.Sprint(s) != "Wallabag at 192.168.1.5:8080" ||
		fmt.Sprintf("%v %s", s.Shown(), s.Shown().Password+s.Shown().ClientSecret) != "Wallabag at 192.168.1.5:8080 " {
		t.Errorf("%v, %v", s, err)
	}
}
