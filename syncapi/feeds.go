package syncapi

import (
	"context"
	"slices"

	"feedex/reading"
)

// Feed is the feed of that number among those that are followed. The error is missing where there is none.
func Feed(ctx context.Context, l reading.Library, id reading.FeedID, missing error) (*reading.FollowedFeed, error) {
	feeds, err := l.Subscriptions(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(feeds, func(s reading.FollowedFeed) bool { return s.ID == id })
	if i < 0 {
		return nil, missing
	}
	return &feeds[i], nil
}

// Streams are streams like s, each of a feed that is followed and wanted. They have no item in common.
func Streams(ctx context.Context, l reading.Library, s reading.Stream,
	wanted func(*reading.FollowedFeed) bool) (all []reading.Stream, err error) {
	feeds, err := l.Subscriptions(ctx)
	for i := range feeds {
		if wanted(&feeds[i]) {
			s.Feed = feeds[i].ID
			all = append(all, s)
		}
	}
	return all, err
}

// IDs are the items of such streams in the order of a page: the first of each stream, as many as the page may have.
func IDs(ctx context.Context, l reading.Library, streams []reading.Stream,
	p reading.Page) (ids []reading.ItemID, err error) {
	for _, s := range streams {
		more, err := l.IDs(ctx, s, p)
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	slices.Sort(ids)
	if !p.Oldest {
		slices.Reverse(ids)
	}
	return ids, nil
}

// RenameFolder gives a folder another name, and refuses that of another folder with a status: one of the numbers that a
// program knows would be no more, and what was in which could not be told afterwards.
func RenameFolder(ctx context.Context, l reading.Library, id reading.FolderID, raw string, taken int) error {
	name, err := reading.FolderName(raw)
	if err != nil {
		return err
	}
	list, err := l.Folders(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(f reading.Folder) bool { return f.Name == name && f.ID != id }) {
		return Refuse(taken, "There is a folder %q already.", name)
	}
	return l.RenameFolder(ctx, id, name)
}
