package greader

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"feedex/reading"
	"feedex/syncapi"
)

// longID is the name of an item in contents; readers send it back in this or another form.
const longID = "tag:google.com,2005:reader/item/"

// parseID reads the name of an item: the long form, its 16 hexadecimal digits, or the number in decimal digits.
func parseID(s string) (reading.ItemID, bool) {
	s = strings.TrimSpace(s)
	base := 10
	if hex, ok := strings.CutPrefix(s, longID); ok {
		s, base = hex, 16
	} else if len(s) == 16 && (s[0] == '0' ||
		strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' }) >= 0) {
		base = 16
	}
	n, err := strconv.ParseInt(s, base, 64)
	return reading.ItemID(n), err == nil && n > 0
}

// ids are the items that a request names. Names that are none do not matter: readers keep those of other times.
func (r *request) ids() (ids []reading.ItemID) {
	for _, s := range r.params.Values["i"] {
		if id, ok := parseID(s); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// itemIDs lists the numbers of a stream's items.
func (h *handler) itemIDs(w http.ResponseWriter, r *request) error {
	ids, next, err := h.streamPage(r, r.params.get("s"), reading.MaxPage-1)
	if err != nil {
		return err
	}
	out := make([]byte, 0, 20*len(ids)+64)
	out = append(out, `{"itemRefs":[`...)
	for i, id := range ids {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"id":"`...)
		out = strconv.AppendInt(out, int64(id), 10)
		out = append(out, `"}`...)
	}
	out = append(out, ']')
	if next != "" {
		out = append(out, `,"continuation":"`+next+`"`...)
	}
	w.Header().Set("Content-Type", jsonType)
	_, _ = w.Write(append(out, "}\n"...))
	return nil
}

// streamPage is the page of a stream that a request asks for, and the continuation.
func (h *handler) streamPage(r *request, name string, most int) ([]reading.ItemID, string, error) {
	p, err := r.params.page(most)
	if err != nil {
		return nil, "", err
	}
	s, ok, err := h.stream(r.Context(), name)
	if err != nil || !ok {
		return nil, "", err
	}
	ids, err := h.Library.IDs(r.Context(), r.params.narrowed(s), p)
	if err != nil {
		return nil, "", err
	}
	ids, next := cut(ids, p)
	return ids, next, nil
}

// itemContents sends the items that a request names. Of those that are not there is no word: Read You takes an error
// for the end.
func (h *handler) itemContents(w http.ResponseWriter, r *request) error {
	return h.writeItems(w, r, statePath+everything, r.ids(), "")
}

// contentsPath is the path in front of a stream's name.
const contentsPath = "stream/contents/"

// streamContents sends the items of a stream.
func (h *handler) streamContents(w http.ResponseWriter, r *request) error {
	name := r.params.get("s")
	if _, rest, ok := strings.Cut(r.path, apiPath+contentsPath); ok && rest != "" {
		name = strings.TrimRight(rest, "/")
	}
	name = cmp.Or(name, statePath+everything)
	ids, next, err := h.streamPage(r, name, maxContents)
	if err != nil {
		return err
	}
	return h.writeItems(w, r, name, ids, next)
}

// writeItems sends items as they come out of the archive.
func (h *handler) writeItems(w http.ResponseWriter, r *request, stream string, ids []reading.ItemID,
	next string) error {
	c, err := h.catalogOf(r.Context(), ids)
	if err != nil {
		return err
	}
	head, err := json.Marshal(stream)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", jsonType)
	out := bufio.NewWriterSize(w, 1<<16)
	begin := fmt.Sprintf(`{"direction":"ltr","id":%s,"updated":%d,"items":[`, head, h.Now().Unix())
	end := "]}\n"
	if next != "" {
		end = fmt.Sprintf(`],"continuation":%q}`+"\n", next)
	}
	show := func(i *reading.Item) any { return h.entry(c, i) }
	begun, err := syncapi.List(out, begin, h.Library.Items(r.Context(), ids), show, end)
	err = syncapi.Whole(r.Context(), h.Log, begun, err)
	_ = out.Flush()
	return err
}
