package reader

import (
	"net/http"
	"strings"

	"feedex/archive"
)

// deltaBase is the version that the reader has, and the entity tag it is known by, where only what is new since is
// asked for: "A-IM: feed" with an If-None-Match (RFC 3229, and the instance manipulation "feed" that is registered for
// it). Of several versions it is the latest.
func deltaBase(r *http.Request, version func(etag string) (archive.FeedVersion, bool)) (base archive.FeedVersion,
	etag string, ok bool) {
	if r.Method != http.MethodGet || !acceptsDelta(r.Header.Values("A-IM")) {
		return archive.FeedVersion{}, "", false
	}
	for tag := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if v, known := version(tag); known && (!ok || before(base, v)) {
			base, etag, ok = v, tag, true
		}
	}
	return base, etag, ok
}

// acceptsDelta reports whether the list of instance manipulations has "feed", not with the quality 0.
func acceptsDelta(lines []string) bool {
	for item := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		name, parameters, _ := strings.Cut(item, ";")
		if strings.EqualFold(strings.TrimSpace(name), "feed") {
			q, ok := strings.CutPrefix(strings.ReplaceAll(parameters, " ", ""), "q=")
			return !ok || strings.Trim(q, "0.") != ""
		}
	}
	return false
}

// markDelta says that the answer is what is new since the version of that entity tag. Caches that do not know of such
// answers must not keep them (RFC 3229 §10.8.1).
func markDelta(h http.Header, base string) {
	h.Set("IM", "feed")
	h.Set("Delta-Base", base)
	h.Set("Cache-Control", "private, no-store, im")
	h.Add("Vary", "If-None-Match")
}
