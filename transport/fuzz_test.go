package transport

import (
	"context"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"feedex/protocol"
	"feedex/xmlrpc"
)

// FuzzHandler posts any body with any headers from behind a proxy: the answer is an HTTP status of
// refusal, or a message that reads as XML-RPC, the same if the body comes as gzip, and what gets through can be written
// again.
func FuzzHandler(f *testing.F) {
	paths, err := filepath.Glob("../testdata/wire/*.xml")
	if err != nil {
		f.Fatal(err)
	}
	refused, err := filepath.Glob("../testdata/wire/refused/*.xml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range append(paths, refused...) {
		body, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body), "text/xml", "", "12.1.1.1", "")
	}
	f.Add("", "text/xml; charset=utf-8", `for="[2a00::1]:4711";proto=http, for=10.0.0.2`, "", "token")
	f.Fuzz(func(t *testing.T, body, contentType, forwarded, xForwarded, token string) {
		h := NewHandler(HandlerConfig{
			Methods:        protocol.NodeMethods(),
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
			Log:            quiet,
			Serve: func(_ context.Context, r Request) Response {
				if !r.From.Addr().IsValid() || r.From.Port() < protocol.LowestPort ||
					len(r.Session) > protocol.MaxSessionBytes {
					t.Errorf("served %+v", r)
				}
				protocol.EncodeCall(nil, r.From.Port(), r.Call)
				return Response{Fault: protocol.Faultf(protocol.Busy, "later")}
			},
		})
		edit := func(r *http.Request) {
			r.RemoteAddr = "10.0.0.1:1024"
			r.Header.Set("Content-Type", contentType)
			r.Header.Set(SessionHeader, token)
			for name, value := range map[string]string{"Forwarded": forwarded, "X-Forwarded-For": xForwarded} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
		}
		w := post(h, body, edit)
		asGzip := func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }
		post(h, body, edit, asGzip)
		coded := post(h, gzipped(body), edit, asGzip)
		if fits := len(body) <= maxInflation*len(gzipped(body)); fits && coded.Code != w.Code ||
			coded.Code == 200 && coded.Body.String() != w.Body.String() {
			t.Errorf("as gzip HTTP status %d, else %d: %s and %s", coded.Code, w.Code, coded.Body, w.Body)
		}
		if w.Code >= 400 && w.Code < 500 {
			return
		}
		_, err := xmlrpc.DecodeResponse(w.Body.Bytes(), xmlrpc.MessageLimits{})
		if _, isFault := err.(*xmlrpc.Fault); w.Code != 200 || err != nil && !isFault {
			t.Errorf("HTTP status %d, %v: %s", w.Code, err, w.Body)
		}
	})
}
