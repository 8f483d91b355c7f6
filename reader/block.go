package reader

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"feedex/archive"
)

// errBlock is for what does not name an archive document.
var errBlock = errors.New("want the number of a block")

// parseBlock reads what blockName writes; "" is none.
func parseBlock(s string) (ref archive.BlockRef, err error) {
	if s == "" {
		return ref, nil
	}
	page, last, open := strings.Cut(s, "-")
	if ref.Block, err = strconv.ParseInt(page, 10, 64); err == nil && open {
		ref.Filled, err = strconv.ParseInt(last, 10, 64)
	}
	if err != nil || blockName(ref) != s || ref.Block < 1 || open != (ref.Filled > 0) {
		return archive.BlockRef{}, errBlock
	}
	return ref, nil
}

// blockName is the reference as it stands in addresses: "3", or "3-4711".
func blockName(ref archive.BlockRef) string {
	s := strconv.FormatInt(ref.Block, 10)
	if ref.Filled != 0 {
		s += "-" + strconv.FormatInt(ref.Filled, 10)
	}
	return s
}

// blockURL is where an archive document of a feed is, "" for none.
func (h *handler) blockURL(r *http.Request, c *archive.Channel, ref archive.BlockRef, f format) string {
	if ref.Block == 0 {
		return ""
	}
	return origin(r) + channelPath(c) + "/" + blockName(ref) + "." + f.name
}

// serveBlock serves an archive document.
func (h *handler) serveBlock(w http.ResponseWriter, r *http.Request, f format, c *archive.Channel,
	ref archive.BlockRef) {
	page, err := h.Source.Block(r.Context(), c.Number, ref)
	switch {
	case err != nil:
		h.fail(w, "read feed", err)
		return
	case page.Block == 0:
		say(w, http.StatusNotFound, "This feed has no such archive document.")
		return
	case len(page.Seqs) == 0:
		say(w, http.StatusGone, "The entries of this archive document were purged.")
		return
	}
	d := h.document(r, c, channelPath(c)+"/"+blockName(ref)+"."+f.name)
	d.archived, d.updated = true, page.Updated
	d.current = origin(r) + channelPath(c) + "." + f.name
	d.prev, d.next = h.blockURL(r, c, page.Prev, f), h.blockURL(r, c, page.Next, f)
	if h.unchanged(w, r, `"`+d.hash([]string{page.Digest, timestamp(d.updated), d.prev, d.next})+`"`, c.Version.At) {
		return
	}
	h.send(w, r, f, d, false, h.Source.Records(r.Context(), page.Seqs))
}
