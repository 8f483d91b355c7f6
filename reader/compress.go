package reader

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// jitter is by how many bytes at most a compressed answer is longer for nothing, so that its length tells less of what
// is in it to somebody who listens and can choose a part (https://www.breachattack.com).
const jitter = 64

// compressed are the media types of answers in words. Events are none of them: each is to be there at once.
var compressed = []string{
	"text/html", "text/css", "text/javascript", "text/plain", "text/xml", "text/x-opml", "image/svg+xml",
	"application/json", "application/feed+json", "application/manifest+json", "application/atom+xml",
	"application/rss+xml", "application/opensearchdescription+xml",
}

// compress has answers of h travel as gzip to who takes that, from a kilobyte on.
func compress(h http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.ContentTypes(compressed), gzhttp.EnableZstd(false),
		gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.RandomJitter(jitter, 0, false))
	if err != nil {
		panic(err) // the options are always the same
	}
	coded := wrap(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		coded.ServeHTTP(weakening{w}, r)
	})
}

// A weakening writer marks the entity tag of an answer that is compressed as weak: the bytes are not those that the
// same tag has elsewhere (RFC 9110 §8.8.1).
type weakening struct{ http.ResponseWriter }

func (w weakening) WriteHeader(code int) {
	w.weaken()
	w.ResponseWriter.WriteHeader(code)
}

// Write is where the header of an answer goes out that has said no code.
func (w weakening) Write(p []byte) (int, error) {
	w.weaken()
	return w.ResponseWriter.Write(p)
}

func (w weakening) weaken() {
	h := w.Header()
	if tag := h.Get("ETag"); strings.HasPrefix(tag, `"`) && h.Get("Content-Encoding") != "" {
		h.Set("ETag", "W/"+tag)
	}
}

func (w weakening) Unwrap() http.ResponseWriter { return w.ResponseWriter }
