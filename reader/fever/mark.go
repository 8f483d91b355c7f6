package fever

import (
	"context"

	"feedex/reading"
	"feedex/syncapi"
)

// mark marks an item, or all of a feed or group that arrived before a moment. A mark that it does not understand it
// leaves.
func (h *handler) mark(ctx context.Context, asked values) error {
	m, known := map[string]reading.Mark{
		"read":    {Read: reading.Yes},
		"unread":  {Read: reading.No},
		"saved":   {Starred: reading.Yes},
		"unsaved": {Starred: reading.No},
	}[asked.value("as")]
	id, what := asked.number("id"), asked.value("mark")
	switch {
	case !known || asked.value("id") == "":
		return nil
	case what == "item":
		return h.Library.Mark(ctx, []reading.ItemID{reading.ItemID(id)}, m)
	case m.Read != reading.Yes || what != "feed" && what != "group":
		return nil // only one item at a time can be anything but read
	}
	streams, err := h.streams(ctx, what == "group", id)
	if err != nil {
		return err
	}
	for _, s := range streams {
		// An item that arrived in that very second may be one that the reader was not shown yet.
		s.Until = asked.moment("before")
		if err := h.Library.MarkStream(ctx, s, m); err != nil {
			return err
		}
	}
	return nil
}

// streams are the streams that the id of a feed or of a group stands for: 0 is everything. Group -1 are the sparks,
// which are feeds that nobody has to have read: there is nothing in it, like in any other that there is not.
func (h *handler) streams(ctx context.Context, group bool, id int64) ([]reading.Stream, error) {
	switch {
	case id == 0:
		return []reading.Stream{{}}, nil
	case !group:
		return []reading.Stream{{Feed: reading.FeedID(id)}}, nil
	case reading.FolderID(id) != unfiled:
		return []reading.Stream{{Folder: reading.FolderID(id)}}, nil
	}
	return syncapi.Streams(ctx, h.Library, reading.Stream{},
		func(f *reading.FollowedFeed) bool { return len(f.Folders) == 0 })
}
