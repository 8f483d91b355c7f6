package readertest

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false,
	"write the answers in testdata/readers anew; read the difference before committing it")

// Lines that begin what a program says and what it is answered.
const (
	askedMark    = ">>> "
	answeredMark = "<<<"
)

// Converse holds the conversations in the files that match a pattern with what handler makes for each of them a handler
// of an Example, and checks every answer to the byte. A conversation is a series of
//
//	>>> what the program is doing
//	POST /path?query
//	Name: value
//
//	body
//	<<<
//	200
//	Name: value
//
//	body
//
// Text in front of the first is a comment. A request's last line is no part of its body. "[phone]" in a header stands
// for the user name and password of Basic authentication. Requests are followed in order, and each changes the library.
func Converse(t *testing.T, pattern string, handler func(*Library) http.Handler) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no conversation, %v", pattern, err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := held(t, string(text), handler(Example(t)))
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			compare(t, got, string(text))
		})
	}
}

// held is the conversation as it is when its requests are answered by h.
func held(t *testing.T, text string, h http.Handler) string {
	t.Helper()
	comment, rest, _ := strings.Cut("\n"+text, "\n"+askedMark)
	var out strings.Builder
	out.WriteString(strings.TrimPrefix(comment, "\n"))
	for _, part := range strings.Split(rest, "\n"+askedMark) {
		asked, _, _ := strings.Cut(part, "\n"+answeredMark+"\n")
		asked = strings.TrimSuffix(asked, "\n")
		fmt.Fprintf(&out, "\n%s%s\n%s\n", askedMark, asked, answeredMark)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(t, asked))
		fmt.Fprintf(&out, "%d\n", w.Code)
		header := w.Result().Header
		for _, name := range slices.Sorted(maps.Keys(header)) {
			for _, value := range header[name] {
				fmt.Fprintf(&out, "%s: %s\n", name, value)
			}
		}
		if w.Body.Len() > 0 {
			fmt.Fprintf(&out, "\n%s", w.Body)
			if !strings.HasSuffix(w.Body.String(), "\n") {
				out.WriteString("\n")
			}
		}
	}
	return strings.TrimPrefix(out.String(), "\n")
}

// request is the request behind a line of comment.
func request(t *testing.T, asked string) *http.Request {
	t.Helper()
	what, asked, _ := strings.Cut(asked, "\n")
	head, body, _ := strings.Cut(asked, "\n\n")
	lines := bufio.NewScanner(strings.NewReader(head))
	lines.Scan()
	method, target, found := strings.Cut(lines.Text(), " ")
	if !found {
		t.Fatalf("%s: %q is no request", what, lines.Text())
	}
	r := httptest.NewRequest(method, "http://127.0.0.1:7791"+target, io.NopCloser(strings.NewReader(body)))
	r.RequestURI = target
	for lines.Scan() {
		name, value, found := strings.Cut(lines.Text(), ": ")
		if !found {
			t.Fatalf("%s: %q is no header", what, lines.Text())
		}
		if value == "Basic ["+Name+"]" {
			r.SetBasicAuth(Name, Secret)
			continue
		}
		r.Header.Add(name, value)
	}
	if body != "" {
		r.ContentLength = int64(len(body))
	}
	return r
}

// compare tells the first line in which a conversation went otherwise.
func compare(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := 0; i < len(g) || i < len(w); i++ {
		a, b := "nothing more", "nothing more"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Errorf("line %d is\n%s\nwant\n%s", i+1, a, b)
			return
		}
	}
}
