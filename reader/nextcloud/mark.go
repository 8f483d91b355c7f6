package nextcloud

import (
	"context"
	"encoding/json"
	"math"
	"net/http"

	"feedex/reading"
	"feedex/syncapi"
)

// marks are the changes to items, by the words that readers use.
func marks(state string) (m reading.Mark, known bool) {
	m, known = map[string]reading.Mark{
		"read":      {Read: reading.Yes},
		"unread":    {Read: reading.No},
		"star":      {Starred: reading.Yes},
		"starred":   {Starred: reading.Yes},
		"unstar":    {Starred: reading.No},
		"unstarred": {Starred: reading.No},
	}[state]
	return m, known
}

// markItem marks an item by its number. newsboat, where there is nothing to be done, sends a feed and a guid: nothing
// is.
func (h *handler) markItem(w http.ResponseWriter, r *request) error {
	m, known := marks(r.PathValue("state"))
	if !known {
		return done(w, nil)
	}
	id, err := r.number("id")
	if err == nil {
		err = h.Library.Mark(r.Context(), []reading.ItemID{reading.ItemID(id)}, m)
	}
	return done(w, err)
}

// markGUID marks an item by its feed and its guid, or the MD5 of that.
func (h *handler) markGUID(w http.ResponseWriter, r *request) error {
	m, known := marks(r.PathValue("state"))
	if !known {
		return errMissing
	}
	f, err := r.number("feed")
	if err != nil {
		return err
	}
	return h.markFound(w, r, map[reading.FeedID]map[string]bool{reading.FeedID(f): {r.PathValue("guid"): true}}, m)
}

// markItems marks items that are given by their numbers, or each by its feed and the MD5 of its guid.
func (h *handler) markItems(w http.ResponseWriter, r *request) error {
	m, known := marks(r.PathValue("state"))
	if !known {
		return errMissing
	}
	var ids []reading.ItemID
	hashes := make(map[reading.FeedID]map[string]bool)
	for _, name := range []string{"items", "itemIds"} {
		var list []json.RawMessage
		if raw := r.args[name]; len(raw) > 0 && json.Unmarshal(raw, &list) != nil {
			return syncapi.Refuse(http.StatusBadRequest, "%s is not a list", name)
		}
		for _, raw := range list {
			of := arguments{"id": raw}
			if n := of.number("id", 0); n > 0 {
				ids = append(ids, reading.ItemID(n))
			} else if json.Unmarshal(raw, &of) == nil {
				f := reading.FeedID(of.number("feedId", 0))
				if hashes[f] == nil {
					hashes[f] = make(map[string]bool)
				}
				hashes[f][of.text("guidHash")] = true
			}
		}
	}
	if err := h.Library.Mark(r.Context(), ids, m); err != nil {
		return err
	}
	return h.markFound(w, r, hashes, m)
}

// markFound marks the items of feeds that have those guids, or those MD5s of them.
func (h *handler) markFound(w http.ResponseWriter, r *request, hashes map[reading.FeedID]map[string]bool,
	m reading.Mark) error {
	for f, wanted := range hashes {
		if f <= 0 {
			continue
		}
		all, err := h.Library.IDs(r.Context(), reading.Stream{Feed: f, Unlisted: true},
			reading.Page{Limit: reading.MaxPage})
		if err != nil {
			return err
		}
		var ids []reading.ItemID
		for _, id := range all {
			if guid := guidOf(id); wanted[guid] || wanted[hashOf(guid)] {
				ids = append(ids, id)
			}
			if len(ids) == len(wanted) {
				break
			}
		}
		if err := h.Library.Mark(r.Context(), ids, m); err != nil {
			return err
		}
	}
	return done(w, nil)
}

func (h *handler) readFeed(w http.ResponseWriter, r *request) error {
	s, err := h.asked(r)
	if err == nil {
		err = h.read(r.Context(), r.newest(), reading.Stream{Feed: s.ID})
	}
	return done(w, err)
}

func (h *handler) readFolder(w http.ResponseWriter, r *request) error {
	id, err := r.number("id")
	if err != nil {
		return err
	}
	streams, err := h.inFolder(r.Context(), reading.FolderID(id), reading.Stream{})
	if err == nil {
		err = h.read(r.Context(), r.newest(), streams...)
	}
	return done(w, err)
}

func (h *handler) readAll(w http.ResponseWriter, r *request) error {
	return done(w, h.read(r.Context(), r.newest(), reading.Stream{}))
}

// newest is the last item that the reader knows of, 0 where it does not say: it may have meant a single item, whose
// number it left out of the path.
func (r *request) newest() reading.ItemID { return reading.ItemID(r.args.number("newestItemId", 0)) }

// read marks the items of streams read, up to one of them: those that came later the reader may not have shown.
func (h *handler) read(ctx context.Context, newest reading.ItemID, streams ...reading.Stream) error {
	for _, s := range streams {
		s.Read = reading.No
		if newest == math.MaxInt64 { // newsboat has it so
			if err := h.Library.MarkStream(ctx, s, reading.Mark{Read: reading.Yes}); err != nil {
				return err
			}
			continue
		}
		ids, err := h.Library.IDs(ctx, s, reading.Page{After: max(newest, 0) + 1, Limit: reading.MaxPage})
		if err != nil {
			return err
		}
		if err := h.Library.Mark(ctx, ids, reading.Mark{Read: reading.Yes}); err != nil {
			return err
		}
	}
	return nil
}
