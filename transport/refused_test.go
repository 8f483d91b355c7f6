package transport

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"feedex/protocol"
	"feedex/xmlrpc"
)

// TestRefused posts every message of testdata/wire/refused. The first part of a file's name says what
// the answer is: the name of a fault, with hyphens for spaces, or an HTTP status.
func TestRefused(t *testing.T) {
	paths, err := filepath.Glob("../testdata/wire/refused/*.xml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no messages: %v", err)
	}
	codes := make(map[string]protocol.Code)
	for _, c := range []protocol.Code{protocol.ParseError, protocol.UnknownMethod, protocol.InvalidParams,
		protocol.TooLong} {
		codes[strings.ReplaceAll(c.String(), " ", "-")] = c
	}
	h := newHandler(unserved(t))
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".xml")
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want, _, _ := strings.Cut(name, "_")
			w := post(h, string(body))
			if status, err := strconv.Atoi(want); err == nil {
				if w.Code != status {
					t.Errorf("HTTP status %d, want %d", w.Code, status)
				}
				return
			}
			code, known := codes[want]
			if !known {
				t.Fatalf("no fault is called %q", want)
			}
			if w.Code != http.StatusOK {
				t.Fatalf("HTTP status %d, want a fault", w.Code)
			}
			checkFault(t, w.Body.Bytes(), code)
		})
	}
}

// checkFault checks that body is a fault with that code and with words for a person.
func checkFault(t *testing.T, body []byte, code protocol.Code) {
	t.Helper()
	v, err := xmlrpc.DecodeResponse(body, xmlrpc.MessageLimits{Bytes: 4 << 10})
	fault, ok := err.(*xmlrpc.Fault)
	switch {
	case !ok:
		t.Errorf("got %v, %v, want a fault", v, err)
	case protocol.Code(fault.Code) != code:
		t.Errorf("got %v, want fault %d, %s", fault, code, code)
	case len(fault.String) < len(code.String())+5:
		t.Errorf("%v says too little", fault)
	}
}
