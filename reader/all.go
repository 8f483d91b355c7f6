package reader

import (
	"net/http"

	"feedex/archive"
)

// allPath is the path, up to the format, of a document with the latest entries of all feeds that the node follows.
const allPath = "/all."

// serveAll serves that document. It has no feed whose URL is a secret, and no archive documents: each feed has its own.
func (h *handler) serveAll(w http.ResponseWriter, r *http.Request, extension string) {
	f, ok := formatOf(extension)
	if !ok {
		say(w, http.StatusNotFound,
			"There is nothing here. All feeds together are at %satom, %[1]srss or %[1]sjson.", allPath)
		return
	}
	all, err := h.Source.Following(r.Context(), false)
	if err != nil {
		h.fail(w, "list feeds", err)
		return
	}
	d := &document{
		id: origin(r) + allPath + "atom", name: "All feeds that feedex follows", site: origin(r) + "/",
		self: origin(r) + allPath + extension,
		hub:  h.hub(r), updated: changedAt(all.Version), generator: h.Version, titles: all.Titles, safe: h.safe,
	}
	etag := d.etag(all.Version, all.Digest)
	if h.unchanged(w, r, etag, all.Version.At) {
		return
	}
	seqs, err := h.Source.NewestOfAll(r.Context(), false, 0, Window)
	if err != nil {
		h.fail(w, "list entries", err)
		return
	}
	// The numbers of changes are added up, and do not tell what changed: then there is no delta.
	delta := false
	version := func(tag string) (archive.FeedVersion, bool) { return d.baseOf(tag, all.Digest) }
	if base, tag, ok := deltaBase(r, version); ok && base.Changed == all.Version.Changed {
		n := 0
		for n < len(seqs) && seqs[n] > base.Arrived {
			n++
		}
		if delta = n < len(seqs); delta {
			seqs = seqs[:n]
			markDelta(w.Header(), tag)
		}
	}
	h.send(w, r, f, d, delta, h.Source.Records(r.Context(), seqs))
}
