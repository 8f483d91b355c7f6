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
	what := asked.value("mark")
	id, ok := asked.number("id")
	before, dated := asked.number("before")
	switch {
	case !known || !ok:
		return nil
	case what == "item":
		return h.Library.Mark(ctx, []reading.ItemID{reading.ItemID(id)}, m)
	case m.Read != reading.Yes || what != "feed" && what != "group":
		return nil // only one item at a time can be anything but read
	case !dated && asked.value("before") != "":
		return nil // without it the mark would be of everything
	}
	streams, err := h.streams(ctx, what == "group", id)
	if err != nil {
		return err
	}
	for _, s := range streams {
		// An item that arrived in that very second may be one that the reader was not shown yet.
		s.Until = reading.Moment(before)
		if err := h.Library.MarkStream(ctx, s, m); err != nil {
			return err
		}
	}
	return nil
}

// streams are the streams that the id of a feed or of a group stands for: group 0 is everything, and feed 0 nothing.
// Group -1 are the sparks, which are feeds that nobody has to have read: there is nothing in it, like in any other that
// there is not.
func (h *handler) streams(ctx context.Context, group bool, id int64) ([]reading.Stream, error) {
	switch {
	case id == 0 && group:
		return []reading.Stream{{}}, nil
	case id == 0:
		return nil, nil // a stream of feed 0 would be everything
	case !group:
		return []reading.Stream{{Feed: reading.FeedID(id)}}, nil
	case reading.FolderID(id) != unfiled:
		return []reading.Stream{{Folder: reading.FolderID(id)}}, nil
	}
	return syncapi.Streams(ctx, h.Library, reading.Stream{},
		func(f *reading.FollowedFeed) bool { return len(f.Folders) == 0 })
}
