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
